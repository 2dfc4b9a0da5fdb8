"""/admin/workspaces: all workspaces of the deployment, for operators."""

from __future__ import annotations

from typing import Any

from flask import Response, flash
from marshmallow import fields, validate

from app.api.http import admission
from app.api.http.auth import caller
from app.api.http.rate_limits import Policy, limited
from app.api.http.services import services
from app.api.schemas.fields import AsciiInteger, NonBlankString, StrictSchema
from app.core.accounts import workspaces
from app.core.accounts.workspaces import Workspace
from app.core.ledger import credits
from app.domain.errors import NotFound
from app.infra import database_clock
from app.infra.log import log
from app.pages.http import forms
from app.pages.http.access import operator_only
from app.pages.http.blueprint import PageBlueprint
from app.pages.http.forms import InvalidForm
from app.pages.http.rendering import go_to, page

blueprint = PageBlueprint("admin_workspaces", __name__)
MAX_GRANT = 1_000_000_000


class NewWorkspaceSchema(StrictSchema):
    """The workspace to create."""

    workspace_name = NonBlankString(200, required=True)


class GrantSchema(StrictSchema):
    """Credits for a workspace, with the reason that the ledger shows."""

    workspace = fields.String(required=True)
    amount = AsciiInteger(required=True, validate=validate.Range(min=1, max=MAX_GRANT))
    reason = NonBlankString(200, required=True)


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
    """Create a workspace without credits."""
    try:
        new: dict[str, str] = forms.load(NewWorkspaceSchema(), forms.texts("workspace_name"))
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    with admission.transaction() as session:
        created = workspaces.create(session, name=new["workspace_name"], now=database_clock.value(session))
    log.info("workspace created", workspace=created.id, by=caller().account_id)
    flash(f"The workspace {created.id} is created. It has no credits and no accounts yet.", "success")
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
    flash(f"Granted {new['amount']} credits; the workspace now has {balance.available}.", "success")
    return go_to("admin_workspaces.index")


def _page(status: int = 200, *, errors: dict[str, str] | None = None) -> Response:
    with services().database.reading() as session:
        rows = workspaces.list_all(session)
    names = ("workspace_name", "workspace", "amount", "reason")
    typed = {name: forms.text(name) if errors else "" for name in names}
    return page("admin/workspaces.html", status, workspaces=rows, errors=errors or {}, typed=typed)
