"""/admin/permissions: a table of the seats of the workspace and of what each may do."""

from __future__ import annotations

from flask import Response, flash, request

from app.domain.messages import Message
from app.domain.permissions import MAY, Permission
from app.engine.accounts.accounts import Role
from app.features.permissions import seats
from app.infra.telemetry.log import log
from app.web.languages.texts import gettext
from app.web.pages.access import admin_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_permissions", __name__, template_folder="templates")

TITLES = {
    Permission.EXPORT: Message("Export"),
    Permission.REVEAL_PHONES: Message("Reveal phones"),
    Permission.PUSH: Message("Push to CRM"),
    Permission.SEE_COSTS: Message("See costs"),
    Permission.START_UPLOADS: Message("Upload lists"),
}
_CHOICES = {"yes": True, "no": False, "default": None}


@blueprint.get("/admin/permissions")
@admin_only
@limited(Policy.READ)
def index() -> Response:
    """Show the seats, with a form for each."""
    with services().database.reading() as session:
        found = seats.read(session, caller().workspace_id)
    return page(
        "permissions.html",
        seats=found,
        permissions=list(Permission),
        titles=TITLES,
        acts=MAY,
        admin=Role.ADMIN,
    )


@blueprint.post("/admin/permissions/members")
@admin_only
@limited(Policy.WRITE)
def put_members() -> Response:
    """Store what members may do by default: what is ticked."""
    ticked = set(request.form.getlist("allowed"))
    workspace_id = caller().workspace_id
    seats.change_members(workspace_id, {one: one.value in ticked for one in Permission})
    log.info("permissions of members changed", workspace=workspace_id, by=caller().account_id)
    flash("Saved. It applies to the next request of each member.", "success")
    return go_to("admin_permissions.index")


@blueprint.post("/admin/permissions/<account_id>")
@admin_only
@limited(Policy.WRITE)
def put_account(account_id: str) -> Response:
    """Store what an account may do."""
    chosen = {one: request.form.get(one.value, "") for one in Permission}
    changes = {one: _CHOICES[choice] for one, choice in chosen.items() if choice in _CHOICES}
    account = seats.change_account(caller().workspace_id, account_id, changes)
    log.info("permissions of account changed", account=account_id, by=caller().account_id)
    flash(gettext("Saved for {name}. It applies to the next request.", name=account.name), "success")
    return go_to("admin_permissions.index")
