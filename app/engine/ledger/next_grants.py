"""The schedules of monthly grants, and when a workspace gets credits next."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ColumnElement, Index, Select, bindparam, case, func, select
from sqlalchemy.orm import Mapped, aliased, mapped_column

from app.domain.credit_schedules import NextGrant
from app.engine.accounts.accounts import Account
from app.engine.accounts.workspaces import foreign_key
from app.infra.database.db import Base
from app.infra.database.session import Session
from app.infra.database.statements import Statement


class CreditSchedule(Base):
    """The monthly grant of a workspace.

    It is of `credits`, for each enabled account if it is `per_seat`, at midnight (UTC) of a `day` of the
    month. Of the unspent ones, `carried` are kept at the next grant; None keeps all. `left` are the granted
    credits that were unspent after the last turn, when the workspace had spent `spent_before`; the grant of
    that turn was due at `last_at`. Since `paused_at`, nothing is granted and nothing expires.
    """

    __tablename__ = "credit_schedules"
    __table_args__ = (Index("ix_credit_schedules_next_at", "next_at"),)

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    credits: Mapped[int] = mapped_column(BigInteger)
    per_seat: Mapped[bool]
    day: Mapped[int]
    carried: Mapped[int | None] = mapped_column(BigInteger)
    left: Mapped[int] = mapped_column(BigInteger)
    spent_before: Mapped[int] = mapped_column(BigInteger)
    next_at: Mapped[datetime]
    last_at: Mapped[datetime | None]
    paused_at: Mapped[datetime | None]
    created_at: Mapped[datetime]


def granted() -> ColumnElement[int]:
    """Return the credits that a schedule grants next."""
    seat = aliased(Account)
    is_seat = (seat.workspace_id == CreditSchedule.workspace_id, seat.disabled_at.is_(None))
    seats = select(func.count()).select_from(seat).where(*is_seat).scalar_subquery()
    return CreditSchedule.credits * case((CreditSchedule.per_seat, seats), else_=1)


def _next(_dialect: str) -> Select[datetime, int]:
    return select(CreditSchedule.next_at.label("at"), granted().label("credits")).where(
        CreditSchedule.workspace_id == bindparam("workspace_id"), CreditSchedule.paused_at.is_(None)
    )


_NEXT = Statement(NextGrant, _next)


def of_workspace(session: Session, workspace_id: str) -> NextGrant | None:
    """Return what the workspace is granted next; None if it has no schedule, or a paused one."""
    return next(iter(_NEXT.all(session, {"workspace_id": workspace_id})), None)
