"""Workspaces, which pay for lookups, and their credit balances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Select, bindparam, false, func, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.audit_actions import Action
from app.domain.ids import new_id
from app.engine.audit_log import entries as audit_log
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of


class Workspace(Base):
    """A paying team. Its three credit columns cache the sums of the corresponding ledger columns.

    `is_limited` means that an account or API key of the workspace has a spending limit. `denied_to_members`
    are the permissions that its members lack by default.
    """

    __tablename__ = "workspaces"
    __table_args__ = (
        CheckConstraint("available >= 0", name="available_not_negative"),
        CheckConstraint("held >= 0", name="held_not_negative"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    available: Mapped[int] = mapped_column(BigInteger, default=0)
    held: Mapped[int] = mapped_column(BigInteger, default=0)
    spent: Mapped[int] = mapped_column(BigInteger, default=0)
    is_limited: Mapped[bool] = mapped_column(default=False, server_default=false())
    denied_to_members: Mapped[list[Any] | None]
    created_at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class Balance:
    """Credits of a workspace: available to spend, and held by open jobs."""

    available: int
    held: int


def create(session: Session, *, name: str, now: Moment) -> Workspace:
    """Insert a workspace without credits."""
    workspace = Workspace(id=new_id("wks"), name=name, available=0, held=0, spent=0, created_at=now)
    session.add(workspace)
    session.flush()
    audit_log.record(session, Action.WORKSPACE_CREATE, object_id=workspace.id, workspace_id=workspace.id)
    return workspace


def list_all(session: Session) -> Sequence[Workspace]:
    """Return all workspaces, oldest first."""
    return session.scalars(select(Workspace).order_by(Workspace.id)).all()


def choices(workspaces: Sequence[Workspace]) -> list[tuple[str, str]]:
    """Return the id and the name of each workspace; of two with one name, the id is in the name."""
    names = Counter(workspace.name for workspace in workspaces)
    return [(row.id, f"{row.name} ({row.id})" if names[row.name] > 1 else row.name) for row in workspaces]


_BALANCE = select(Workspace.available, Workspace.held).where(Workspace.id == bindparam("workspace_id"))


def are_several(session: Session) -> bool:
    """Return whether the deployment has more than one workspace."""
    return len(session.scalars(select(Workspace.id).limit(2)).all()) > 1


def balance(session: Session, workspace_id: str) -> Balance:
    """Return the current balance of the workspace."""
    row = session.execute(_BALANCE, {"workspace_id": workspace_id}).one()
    return Balance(row.available, row.held)


def credit_totals(session: Session) -> dict[str, int]:
    """Return the sums of the available, held and spent credits of all workspaces."""
    columns = (Workspace.available, Workspace.held, Workspace.spent)
    row = session.execute(select(*(func.coalesce(func.sum(column), 0) for column in columns))).one()
    return {column.key: int(total) for column, total in zip(columns, row, strict=True)}


def _locked(dialect: str) -> Select[Any]:
    found = select(Workspace.id).where(any_of(dialect, Workspace.__table__.c.id, "workspace_ids"))
    return found.order_by(Workspace.id).with_for_update(key_share=True)


_LOCK = Statement(tuple, _locked)


def lock(session: Session, workspace_ids: Collection[str]) -> None:
    """Lock the workspaces' rows until the transaction ends, always in the same order.

    FOR NO KEY UPDATE: inserts with a foreign key to a workspace take a key-share lock, which it permits.
    """
    _LOCK.all(session, {"workspace_ids": list(workspace_ids)})


def lock_several(session: Session, workspace_ids: Collection[str]) -> None:
    """Lock the rows before a statement updates them in any order; one row needs no order, and is not locked.

    The statement itself must not lock them. If another transaction has replaced a row since it began, it
    would lock the new version and then come back to the old one. PostgreSQL lets a third transaction hold
    the old one while it waits for the new one, and ends the deadlock by an error.
    """
    if len(workspace_ids) > 1:
        lock(session, workspace_ids)


def foreign_key() -> ForeignKey:
    """Return a foreign key to the workspace of a row."""
    return ForeignKey("workspaces.id", ondelete="CASCADE")
