"""/keys: the API keys of the signed-in account."""

from __future__ import annotations

from typing import Any

from flask import Response, flash, request

from app.api import keys as keys_api
from app.api.limits import PERIODS, KeyLimitsSchema
from app.domain.callers import Scope
from app.domain.errors import ValidationFailed
from app.engine.accounts import api_keys
from app.engine.ledger import key_limits
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission, limit_changes
from app.web.pages import forms
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("keys_page", __name__)


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
    body = _limits({"name": forms.text("name"), "scopes": request.form.getlist("scopes")})
    try:
        new = forms.load(
            keys_api.NewKeySchema(), body | ({"expires_at": f"{expires}T00:00:00Z"} if expires else {})
        )
        with admission.transaction() as session:
            now = database_clock.value(session)
            keys_api.require_future(new["expires_at"], now)
            keys_api.require_api_access(session)
            created, secret = key_limits.create(
                session, caller().workspace_id, caller().account_id, **new, now=now
            )
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    except ValidationFailed as problem:
        return _page(422, errors=forms.messages(problem.errors))
    log.info("API key created", account=caller().account_id, key=created.key.id)
    return _page(201, secret=secret)


@blueprint.post("/keys/<key_id>/limits")
@signed_in
@limited(Policy.WRITE)
def put_limits(key_id: str) -> Response:
    """Set the limits of a key; an empty field removes one."""
    try:
        new = forms.load(KeyLimitsSchema(), _limits(dict.fromkeys(PERIODS)))
    except InvalidForm as invalid:
        flash(f"The limits were not changed: {' '.join(invalid.messages.values())}", "failure")
        return go_to("keys_page.index")
    limit_changes.change(key_id, "key", {PERIODS[name]: credits_ for name, credits_ in new.items()})
    flash("The limits of the key are changed. They apply from now on.", "success")
    return go_to("keys_page.index")


@blueprint.post("/keys/<key_id>/revoke")
@signed_in
@limited(Policy.WRITE)
def revoke(key_id: str) -> Response:
    """Revoke a key; it stops working at once."""
    with admission.transaction() as session:
        api_keys.revoke(session, caller().account_id, key_id, now=database_clock.now())
    log.info("API key revoked", account=caller().account_id, key=key_id)
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
        limits={name: request.form.get(name, "") if errors else "" for name in PERIODS},
    )
