"""/admin/workspaces: all workspaces of the deployment, for operators."""

from __future__ import annotations

from typing import Any

from flask import Response, flash, request
from marshmallow import fields, validate

from app.domain.errors import NotFound, credits_of
from app.engine.accounts import accounts, workspaces
from app.engine.accounts.accounts import EmailTaken, Role
from app.engine.accounts.workspaces import Workspace
from app.engine.ledger import credits
from app.infra.crypto import passwords
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.pages.admin.accounts import EMAIL_TAKEN, NewAccountSchema
from app.web import admission
from app.web.languages.texts import gettext
from app.web.pages import forms
from app.web.pages.access import operator_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import AsciiInteger, SingleLineString, StrictSchema
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_workspaces", __name__)
MAX_GRANT = 1_000_000_000


class NewWorkspaceSchema(StrictSchema):
    """The workspace to create."""

    workspace_name = SingleLineString(200, required=True)


class GrantSchema(StrictSchema):
    """Credits for a workspace, with the reason that the ledger shows."""

    workspace = fields.String(required=True)
    amount = AsciiInteger(required=True, validate=validate.Range(min=1, max=MAX_GRANT))
    reason = SingleLineString(200, required=True)


@blueprint.get("/admin/workspaces")
@operator_only
@limited(Policy.READ)
def index() -> Response:
    """List all workspaces with their credits."""
    return _page()


@blueprint.post("/admin/workspaces")
@operator_only
@limited(Policy.WRITE)
def create() -> Response:
    """Create a workspace without credits, and its first admin."""
    admin = forms.texts("name", "email") | {"password": request.form.get("password", "")}
    try:
        new: dict[str, str] = forms.load(NewWorkspaceSchema(), forms.texts("workspace_name"))
        first = forms.load(NewAccountSchema(), {**admin, "role": Role.ADMIN.value, "api_access": True})
        created_id = _create(new["workspace_name"], first)
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    except EmailTaken:
        return _page(422, errors={"email": EMAIL_TAKEN})
    log.info("workspace created", workspace=created_id, by=caller().account_id)
    flash("The workspace is created. It has no credits yet. Give the password to its admin.", "success")
    return go_to("admin_workspaces.index")


@blueprint.post("/admin/workspaces/credits")
@operator_only
@limited(Policy.WRITE)
def grant() -> Response:
    """Grant credits to a workspace."""
    try:
        new: dict[str, Any] = forms.load(GrantSchema(), forms.texts("workspace", "amount", "reason"))
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    with admission.transaction() as session:
        if session.get(Workspace, new["workspace"]) is None:
            raise NotFound
        balance = credits.grant(
            session, new["workspace"], new["amount"], reason=new["reason"], now=database_clock.now()
        )
    log.info("credits granted", workspace=new["workspace"], amount=new["amount"], by=caller().account_id)
    flash(
        gettext(
            "Granted {amount}; the workspace now has {balance}.",
            amount=credits_of(new["amount"]),
            balance=credits_of(balance.available),
        ),
        "success",
    )
    return go_to("admin_workspaces.index")


def _create(name: str, admin: dict[str, Any]) -> str:
    """Insert the workspace and its admin; the password is hashed first, because that takes long."""
    password_hash = passwords.hash_password(admin["password"])
    with admission.transaction() as session:
        now = database_clock.value(session)
        created = workspaces.create(session, name=name, now=now)
        accounts.create(
            session,
            created.id,
            email=admin["email"],
            name=admin["name"],
            password_hash=password_hash,
            role=Role.ADMIN,
            api_access=True,
            now=now,
        )
        return created.id


def _page(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    with services().database.reading() as session:
        rows = workspaces.list_all(session)
    names = ("workspace_name", "name", "email", "workspace", "amount", "reason")
    typed = {name: forms.text(name) if errors else "" for name in names}
    return page(
        "admin/workspaces.html",
        status,
        workspaces=rows,
        choices=workspaces.choices(rows),
        errors=errors or {},
        typed=typed,
        min_length=passwords.MIN_LENGTH,
    )
