"""An account as its session shows it: with its workspace, the balance, and the credits that come next."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import and_, bindparam, select

from app.domain.credit_schedules import NextGrant
from app.engine.accounts.accounts import Account
from app.engine.accounts.workspaces import Workspace
from app.engine.ledger import next_grants
from app.engine.ledger.next_grants import CreditSchedule
from app.infra.database.session import Session
from app.infra.database.statements import Statement, columns_of


class Profile(NamedTuple):
    """An account, its workspace, and the balance of that; `grant_at` is None if nothing is granted next."""

    id: str
    email: str
    name: str
    role: str
    permissions: dict[str, bool] | None
    api_access: bool
    language: str | None
    workspace_id: str
    workspace_name: str
    denied_to_members: list[str] | None
    available: int
    held: int
    grant_at: datetime | None
    grant_credits: int | None

    @property
    def next_grant(self) -> NextGrant | None:
        """Return what the workspace is granted next."""
        return None if self.grant_at is None else NextGrant(self.grant_at, self.grant_credits or 0)


_PROFILE = Statement(
    Profile,
    lambda _dialect: (
        select(
            *columns_of(Account, ("id", "email", "name", "role", "permissions", "api_access", "language")),
            Workspace.id.label("workspace_id"),
            Workspace.name.label("workspace_name"),
            Workspace.denied_to_members,
            Workspace.available,
            Workspace.held,
            CreditSchedule.next_at.label("grant_at"),
            next_grants.granted().label("grant_credits"),
        )
        .join(Workspace, Workspace.id == Account.workspace_id)
        .outerjoin(
            CreditSchedule,
            and_(CreditSchedule.workspace_id == Workspace.id, CreditSchedule.paused_at.is_(None)),
        )
        .where(Account.id == bindparam("account_id"))
    ),
)


def of_account(session: Session, account_id: str) -> Profile:
    """Return an existing account with its workspace."""
    [row] = _PROFILE.all(session, {"account_id": account_id})
    return row
