"""Who may see a page: members, admins of the workspace, or operators of the deployment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Literal, ParamSpec

from flask import Response, g

from app.domain.errors import (
    AdminRequired,
    InsufficientScope,
    MissingToken,
    OperatorRequired,
    TotpRequiredForAdmins,
)
from app.domain.permissions import Permission
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.workspaces import Workspace
from app.web import costs
from app.web.services import services
from app.web.sign_in import admins, second_factor, session_cookie
from app.web.sign_in.auth import authenticate, caller

P = ParamSpec("P")
View = Callable[P, Response]
Needs = Literal["member", "admin", "operator"]


@dataclass(frozen=True, slots=True)
class ShownBalance:
    """The credits of the workspace; None for viewers who may not see costs."""

    available: int | None = None
    held: int | None = None


@dataclass(frozen=True, slots=True)
class Viewer:
    """The signed-in account and its workspace, as the header of a page shows them.

    What only admins may see or do depends on `acts_as_admin`. It is false for an admin who
    `lacks_second_factor`: the operator requires two-factor sign-in of admins and operators.
    """

    account_id: str
    name: str
    email: str
    role: Role
    api_access: bool
    workspace_id: str
    workspace_name: str
    balance: ShownBalance
    permissions: frozenset[Permission]
    is_operator: bool
    acts_as_admin: bool
    lacks_second_factor: bool

    def may(self, permission: str) -> bool:
        """Return whether the viewer has the permission of this name."""
        return permission in self.permissions

    def has_link_to(self, needs: Needs) -> bool:
        """Return whether the navigation has the pages that need this, even without the second factor."""
        return needs == "member" or (self.role is Role.ADMIN if needs == "admin" else self.is_operator)


def signed_in(view: View[P]) -> View[P]:
    """Require the session of an account; place it below the route and above `limited`."""
    return _require("member", view)


def admin_only(view: View[P]) -> View[P]:
    """Require the session of an admin, who sees only their own workspace."""
    return _require("admin", view)


def operator_only(view: View[P]) -> View[P]:
    """Require the session of an operator, who sees the whole deployment."""
    return _require("operator", view)


def viewer() -> Viewer:
    """Return the viewer of this page, read once per request."""
    if "viewer" not in g:
        g.viewer = _read_viewer()
    found: Viewer = g.viewer
    return found


def is_signed_in() -> bool:
    """Return whether this request has been authenticated."""
    return "flask_httpauth_user" in g


def _require(needs: Needs, view: View[P]) -> View[P]:
    @wraps(view)
    def checked_view(*args: P.args, **kwargs: P.kwargs) -> Response:
        token = session_cookie.token()
        if token is None:
            raise MissingToken
        if authenticate(token).kind != "session":
            raise InsufficientScope
        if not viewer().has_link_to(needs):
            raise AdminRequired if needs == "admin" else OperatorRequired
        if needs != "member" and viewer().lacks_second_factor:
            raise TotpRequiredForAdmins
        return view(*args, **kwargs)

    checked_view.needs = needs  # type: ignore[attr-defined]  # functions accept attributes
    return checked_view


def _read_viewer() -> Viewer:
    current = caller()
    with services().database.reading() as session:
        account = session.get_one(Account, current.account_id)
        workspace = session.get_one(Workspace, current.workspace_id)
        is_operator = services().settings.is_operator(account.email)
        acts_as_admin = admins.acts_as_admin(session, current)
        has_rights = is_operator or account.role == Role.ADMIN
        lacks_second_factor = has_rights and not second_factor.suffices(session, current)
    return Viewer(
        account_id=account.id,
        name=account.name,
        email=account.email,
        role=Role(account.role),
        api_access=account.api_access,
        workspace_id=workspace.id,
        workspace_name=workspace.name,
        balance=ShownBalance() if costs.are_hidden() else ShownBalance(workspace.available, workspace.held),
        permissions=current.permissions,
        is_operator=is_operator,
        acts_as_admin=acts_as_admin,
        lacks_second_factor=lacks_second_factor,
    )
