"""/admin/grants: the credits that workspaces are granted every month, for operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Response, flash, request
from marshmallow import fields, validate

from app.domain.errors import NotFound
from app.domain.messages import Message
from app.engine.accounts import workspaces
from app.engine.accounts.workspaces import Workspace
from app.engine.ledger import credit_schedules
from app.engine.ledger.credit_schedules import MAX_CREDITS, Terms
from app.engine.ledger.next_grants import CreditSchedule
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission
from app.web.pages import forms
from app.web.pages.access import operator_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.forms import InvalidForm
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import AsciiInteger, StrictSchema
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_grants", __name__, template_folder="templates")

PER = [("workspace", Message("The workspace")), ("seat", Message("Each enabled account"))]
UNSPENT = [
    ("none", Message("Expire")),
    ("all", Message("Are carried over")),
    ("some", Message("Are carried over up to a number")),
]
NEW = {"workspace": "", "credits": "", "per": "workspace", "day": "1", "unspent": "none", "carried": ""}


class GrantScheduleSchema(StrictSchema):
    """The monthly grant of a workspace."""

    workspace = fields.String(required=True)
    credits = AsciiInteger(required=True, validate=validate.Range(min=1, max=MAX_CREDITS))
    per = fields.String(required=True, validate=validate.OneOf([name for name, _text in PER]))
    day = AsciiInteger(required=True, validate=validate.Range(min=1, max=31))
    unspent = fields.String(required=True, validate=validate.OneOf([name for name, _text in UNSPENT]))
    carried = AsciiInteger(validate=validate.Range(min=1, max=MAX_CREDITS))


@blueprint.get("/admin/grants")
@operator_only
@limited(Policy.READ)
def index() -> Response:
    """List the monthly grants, and the form for one: empty, or filled with that of a workspace."""
    return _page(changed=request.args.get("workspace", ""))


@blueprint.post("/admin/grants")
@operator_only
@limited(Policy.WRITE)
def put() -> Response:
    """Set the monthly grant of a workspace, which replaces an earlier one."""
    try:
        workspace_id, terms = _terms()
    except InvalidForm as invalid:
        return _page(422, errors=invalid.messages)
    with admission.transaction() as session:
        if session.get(Workspace, workspace_id) is None:
            raise NotFound
        credit_schedules.put(session, workspace_id, terms)
    log.info("credit schedule set", workspace=workspace_id, by=caller().account_id)
    flash("The monthly grant is set. It applies from its next day on.", "success")
    return go_to("admin_grants.index")


@blueprint.post("/admin/grants/pause")
@operator_only
@limited(Policy.WRITE)
def pause() -> Response:
    """Grant nothing to a workspace until it is resumed, after what is due."""
    _change(credit_schedules.pause)
    flash(
        "The monthly grant is paused. Until it is resumed, nothing is granted and nothing expires.", "success"
    )
    return go_to("admin_grants.index")


@blueprint.post("/admin/grants/resume")
@operator_only
@limited(Policy.WRITE)
def resume() -> Response:
    """Grant to a workspace again."""
    _change(credit_schedules.resume)
    flash("The monthly grant is resumed. The months of the pause are not made up for.", "success")
    return go_to("admin_grants.index")


@blueprint.post("/admin/grants/remove")
@operator_only
@limited(Policy.WRITE)
def remove() -> Response:
    """Remove the monthly grant of a workspace, after what is due."""
    _change(credit_schedules.remove)
    flash("The monthly grant is removed. What was granted stays, and no longer expires.", "success")
    return go_to("admin_grants.index")


def _change(change: Callable[[Session, str], None]) -> None:
    workspace_id = forms.text("workspace")
    with admission.transaction() as session:
        change(session, workspace_id)
    log.info("credit schedule changed", workspace=workspace_id, by=caller().account_id)


def _terms() -> tuple[str, Terms]:
    """Return the workspace and the terms in the form.

    Raises:
        InvalidForm: a field is missing or invalid.

    """
    given: dict[str, Any] = forms.texts(*NEW)
    if given.get("unspent") != "some":
        given.pop("carried", None)
    elif "carried" not in given:
        raise InvalidForm({"carried": "Enter how many credits are carried over."})
    new = forms.load(GrantScheduleSchema(), given)
    carried = {"none": 0, "all": None}.get(new["unspent"], new.get("carried"))
    return new["workspace"], Terms(
        credits=new["credits"], per_seat=new["per"] == "seat", day=new["day"], carried=carried
    )


def _page(status: int = 200, *, errors: dict[str, str] | None = None, changed: str = "") -> Response:
    with services().database.reading() as session:
        rows = credit_schedules.list_all(session)
        choices = workspaces.choices(workspaces.list_all(session))
    own = [_form(row) for row, _name in rows if row.workspace_id == changed]
    if changed and not own:
        raise NotFound
    form = {name: forms.text(name) for name in NEW} if errors else [*own, NEW][0]
    return page(
        "grants.html",
        status,
        grants=rows,
        workspaces=choices,
        per=PER,
        unspent=UNSPENT,
        max_credits=MAX_CREDITS,
        form=form,
        is_change=bool(changed),
        errors=errors or {},
    )


def _form(row: CreditSchedule) -> dict[str, str]:
    """Return the fields of the form for a grant."""
    return {
        "workspace": row.workspace_id,
        "credits": str(row.credits),
        "per": "seat" if row.per_seat else "workspace",
        "day": str(row.day),
        "unspent": {None: "all", 0: "none"}.get(row.carried, "some"),
        "carried": str(row.carried or ""),
    }
