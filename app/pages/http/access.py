"""Who may see a page: members, admins of the workspace, or operators of the deployment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Literal, ParamSpec

from flask import Response, g

from app.api.http import second_factor, session_cookie
from app.api.http.auth import authenticate, caller
from app.api.http.services import services
from app.core.accounts.accounts import Account, Role
from app.core.accounts.workspaces import Balance, Workspace
from app.domain.errors import (
    AdminRequired,
    InsufficientScope,
    MissingToken,
    OperatorRequired,
    TotpRequiredForAdmins,
)

P = ParamSpec("P")
View = Callable[P, Response]
Needs = Literal["member", "admin", "operator"]


@dataclass(frozen=True, slots=True)
class Viewer:
    """The signed-in account and its workspace, as the header of a page shows them."""

    account_id: str
    name: str
    email: str
    role: Role
    api_access: bool
    workspace_id: str
    workspace_name: str
    balance: Balance
    is_operator: bool

    @property
    def is_admin(self) -> bool:
        """Return whether the account may see the pages of admins."""
        return self.role is Role.ADMIN

    def may_see(self, needs: Needs) -> bool:
        """Return whether the account may see a page that needs this."""
        return needs == "member" or (self.is_admin if needs == "admin" else self.is_operator)


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
        if needs == "admin" and not viewer().is_admin:
            raise AdminRequired
        if needs == "operator" and not viewer().is_operator:
            raise OperatorRequired
        if needs != "member":
            _require_second_factor()
        return view(*args, **kwargs)

    checked_view.needs = needs  # type: ignore[attr-defined]  # functions accept attributes
    return checked_view


def _require_second_factor() -> None:
    with services().database.reading() as session:
        if not second_factor.suffices(session, caller()):
            raise TotpRequiredForAdmins


def _read_viewer() -> Viewer:
    current = caller()
    with services().database.reading() as session:
        account = session.get_one(Account, current.account_id)
        workspace = session.get_one(Workspace, current.workspace_id)
    return Viewer(
        account_id=account.id,
        name=account.name,
        email=account.email,
        role=Role(account.role),
        api_access=account.api_access,
        workspace_id=workspace.id,
        workspace_name=workspace.name,
        balance=Balance(workspace.available, workspace.held),
        is_operator=services().settings.is_operator(account.email),
    )
