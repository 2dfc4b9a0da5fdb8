"""/keys: the API keys of the signed-in account."""

from __future__ import annotations

from typing import Any

from flask import Response, flash, request

from app.domain.callers import Scope
from app.domain.errors import ValidationFailed
from app.domain.permissions import MAY, Permission
from app.engine.ledger import key_limits
from app.infra.database import database_clock
from app.web.accounts import key_changes, limit_changes
from app.web.languages.texts import gettext, translate
from app.web.pages import forms
from app.web.pages.access import signed_in, viewer
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.key_schemas import NewKeySchema
from app.web.schemas.limit_schemas import PERIODS, KeyLimitsSchema
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("keys_page", __name__)

_CHOICES = ("scopes", "permissions")


@blueprint.get("/keys")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """List the keys, with the form for a new one."""
    return _page()


@blueprint.post("/keys")
@signed_in
@limited(Policy.WRITE)
def create() -> Response:
    """Create a key, and show its secret this once."""
    expires = forms.text("expires_at")
    body = _limits({name: request.form.getlist(name) for name in _CHOICES} | {"name": forms.text("name")})
    try:
        new = forms.load(NewKeySchema(), body | ({"expires_at": f"{expires}T00:00:00Z"} if expires else {}))
        _, secret = key_changes.create(new)
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    except ValidationFailed as problem:
        return _page(422, errors=forms.messages(problem.errors))
    return _page(201, secret=secret or "")


@blueprint.post("/keys/<key_id>/limits")
@signed_in
@limited(Policy.WRITE)
def put_limits(key_id: str) -> Response:
    """Set the limits of a key; an empty field removes one."""
    try:
        new = forms.load(KeyLimitsSchema(), _limits(dict.fromkeys(PERIODS)))
    except InvalidForm as invalid:
        errors = " ".join(map(translate, invalid.messages.values()))
        flash(gettext("The limits were not changed. {errors}", errors=errors), "failure")
        return go_to("keys_page.index")
    limit_changes.change(key_id, "key", {PERIODS[name]: credits_ for name, credits_ in new.items()})
    flash("The limits of the key are changed. They apply from now on.", "success")
    return go_to("keys_page.index")


@blueprint.post("/keys/<key_id>/revoke")
@signed_in
@limited(Policy.WRITE)
def revoke(key_id: str) -> Response:
    """Revoke a key; it stops working at once."""
    key_changes.revoke(key_id)
    flash("The key is revoked. It no longer works.", "success")
    return go_to("keys_page.index")


def _limits(body: dict[str, Any]) -> dict[str, Any]:
    """Return the body with the limits in the form, as numbers where they are."""
    texts = forms.texts(*PERIODS)
    return body | {name: forms.number(text) for name, text in texts.items()}


def _page(status: int = 200, *, errors: dict[str, str] | None = None, secret: str = "") -> Response:
    with services().database.reading() as session:
        keys = key_limits.of_account(session, caller().account_id, now=database_clock.now())
    scopes = request.form.getlist("scopes") if errors else list(Scope)
    return page(
        "keys.html",
        status,
        keys=keys,
        errors=errors or {},
        secret=secret,
        name=request.form.get("name", "") if errors else "",
        scopes=list(Scope),
        chosen=scopes,
        permissions=[(one.value, MAY[one]) for one in Permission if viewer().may(one)],
        permitted=request.form.getlist("permissions") if errors else list(Permission),
        limits={name: request.form.get(name, "") if errors else "" for name in PERIODS},
    )
