"""Workspaces: who pays, and what they have left."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, bindparam, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.domain.ids import new_id
from app.infra.database_clock import Moment
from app.infra.db import Base


class Workspace(Base):
    """A paying team. The three figures are the sums of the ledger's columns, kept beside it."""

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
    created_at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class Balance:
    """Credits of a workspace: what it can still spend, and what open jobs hold."""

    available: int
    held: int


def create(session: Session, *, name: str, now: Moment) -> Workspace:
    """Add a workspace with no credits."""
    workspace = Workspace(id=new_id("wks"), name=name, available=0, held=0, spent=0, created_at=now)
    session.add(workspace)
    session.flush()
    return workspace


_BALANCE = select(Workspace.available, Workspace.held).where(Workspace.id == bindparam("workspace_id"))


def balance(session: Session, workspace_id: str) -> Balance:
    """Read what the workspace has now."""
    row = session.execute(_BALANCE, {"workspace_id": workspace_id}).one()
    return Balance(row.available, row.held)


def lock(session: Session, workspace_ids: Collection[str]) -> None:
    """Lock the workspaces' figures until the transaction ends, always in the same order.

    Whoever adds a row that names a workspace shares its key, which this lock permits.
    """
    query = select(Workspace.id).where(Workspace.id.in_(workspace_ids)).order_by(Workspace.id)
    session.execute(query.with_for_update(key_share=True)).all()


def foreign_key() -> ForeignKey:
    """Point a column at its workspace."""
    return ForeignKey("workspaces.id", ondelete="CASCADE")
