"""/admin/provisioning: the address and the token for the identity provider, and what its groups mean."""

from __future__ import annotations

from flask import Response, flash, request

from app.domain.messages import Message
from app.domain.permissions import MAY, Permission
from app.engine.accounts.accounts import Role
from app.features.scim import setup
from app.web.pages import forms, value_words
from app.web.pages.access import admin_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_provisioning", __name__, template_folder="templates")

_ROLES = [("", Message("Not by this group")), *value_words.ROLES.items()]


@blueprint.get("/admin/provisioning")
@admin_only
@limited(Policy.READ)
def index() -> Response:
    """Show the address, the token and the groups."""
    return _page()


@blueprint.post("/admin/provisioning/token")
@admin_only
@limited(Policy.WRITE)
def rotate() -> Response:
    """Make a token, and show it this once."""
    return _page(201, token=setup.rotate())


@blueprint.post("/admin/provisioning/token/revoke")
@admin_only
@limited(Policy.WRITE)
def revoke() -> Response:
    """End the token."""
    setup.revoke()
    flash("The token has ended. Accounts and groups stay as they are.", "success")
    return go_to("admin_provisioning.index")


@blueprint.post("/admin/provisioning/groups/<group_id>")
@admin_only
@limited(Policy.WRITE)
def map_group(group_id: str) -> Response:
    """Set what the members of a group get."""
    role = forms.text("role")
    ticked = set(request.form.getlist("permissions"))
    chosen = [one for one in Permission if one.value in ticked] if "has_seat" in request.form else None
    setup.map_group(group_id, role=Role(role) if role in set(Role) else None, permissions=chosen)
    flash("Saved. It applies to the next request of each member.", "success")
    return go_to("admin_provisioning.index")


def _page(status: int = 200, *, token: str = "") -> Response:
    return page(
        "provisioning.html",
        status,
        provisioning=setup.describe(caller().workspace_id),
        token=token,
        roles=_ROLES,
        acts=[(one.value, MAY[one]) for one in Permission],
    )
