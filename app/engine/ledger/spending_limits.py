"""Spending limits of accounts and API keys, enforced in the transaction that holds the credits.

A limit counts the holds, charges and refunds of the jobs that were created in its period. A counter changes
only under the lock of the workspace's row, which every entry of the ledger takes. So a limit is never
exceeded, and its counters always equal the ledger. A workspace without limits never reads these tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ColumnElement,
    ForeignKey,
    Row,
    String,
    UniqueConstraint,
    and_,
    column,
    delete,
    exists,
    or_,
    select,
    table,
    update,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.errors import SpendingLimitReached
from app.domain.spending import LimitUsage, Period
from app.engine.accounts.workspaces import foreign_key
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, UtcDateTime
from app.infra.database.session import Session

RETENTION = timedelta(days=100)
"""How long the counter of an ended period is kept: its jobs end, and are refunded, before."""


class SpendingLimit(Base):
    """The most credits that an account or an API key may spend in a period; one per subject and period."""

    __tablename__ = "spending_limits"
    __table_args__ = (
        UniqueConstraint("account_id", "period", name="uq_spending_limits_account"),
        UniqueConstraint("key_id", "period", name="uq_spending_limits_key"),
        CheckConstraint("(account_id IS NULL) <> (key_id IS NULL)", name="one_subject"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    account_id: Mapped[str | None] = mapped_column(String(28), ForeignKey("accounts.id", ondelete="CASCADE"))
    key_id: Mapped[str | None] = mapped_column(String(28), ForeignKey("api_keys.id", ondelete="CASCADE"))
    period: Mapped[str]
    credits: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime]


class SpendingCounter(Base):
    """The held and spent credits that count against a limit in one period, of jobs created in it.

    `alerted` is the highest percentage of the limit that has been reported.
    """

    __tablename__ = "spending_counters"

    limit_id: Mapped[str] = mapped_column(
        String(28), ForeignKey("spending_limits.id", ondelete="CASCADE"), primary_key=True
    )
    starts_at: Mapped[datetime] = mapped_column(primary_key=True)
    ends_at: Mapped[datetime]
    held: Mapped[int] = mapped_column(BigInteger)
    spent: Mapped[int] = mapped_column(BigInteger)
    alerted: Mapped[int] = mapped_column(default=0)


# A partial table definition: the module of jobs imports this package, not the other way round.
JOBS = table(
    "jobs",
    column("id", String),
    column("workspace_id", String),
    column("account_id", String),
    column("key_id", String),
    column("created_at", UtcDateTime),
)
_OF_SUBJECT: ColumnElement[bool] = and_(
    SpendingLimit.workspace_id == JOBS.c.workspace_id,
    or_(SpendingLimit.account_id == JOBS.c.account_id, SpendingLimit.key_id == JOBS.c.key_id),
)


def is_counter_at(at: Moment) -> ColumnElement[bool]:
    """Return the condition for the counter of a limit in the period that contains the time."""
    return and_(
        SpendingCounter.limit_id == SpendingLimit.id,
        SpendingCounter.starts_at <= at,
        SpendingCounter.ends_at > at,
    )


_OF_PERIOD = is_counter_at(JOBS.c.created_at)


def count_hold(session: Session, job_id: str, amount: int, *, balance: int) -> None:
    """Count a hold against the limits of the job's account and key; the workspace's row must be locked."""
    rows = limits_of(session, job_id)
    usage = _tightest(rows)
    if usage is not None and usage.left < amount:
        raise SpendingLimitReached(amount, balance, usage)
    for row in rows:
        if row.SpendingCounter is None:
            starts_at, ends_at = Period(row.SpendingLimit.period).bounds(row.created_at)
            session.add(
                SpendingCounter(
                    limit_id=row.SpendingLimit.id, starts_at=starts_at, ends_at=ends_at, held=0, spent=0
                )
            )
    session.flush()
    if rows:
        adjust_counters(session, job_id, held=amount)


def tightest(session: Session, job_id: str) -> LimitUsage | None:
    """Return the limit that allows the job the least; None if there is none."""
    return _tightest(limits_of(session, job_id))


def adjust_counters(session: Session, job_id: str, *, held: int = 0, spent: int = 0) -> None:
    """Add these amounts to the counters of the job's limits; the workspace's row must be locked.

    A period that has no counter ended before the limit was set, or more than RETENTION ago.
    """
    counted = exists().where(JOBS.c.id == job_id, _OF_SUBJECT, _OF_PERIOD)
    session.execute(
        update(SpendingCounter)
        .where(counted)
        .values(held=SpendingCounter.held + held, spent=SpendingCounter.spent + spent)
        .execution_options(synchronize_session=False)
    )


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete the counters of periods that ended more than RETENTION ago."""
    session.execute(delete(SpendingCounter).where(SpendingCounter.ends_at < now - RETENTION))


def limits_of(session: Session, job_id: str) -> list[Row[Any]]:
    """Return the limits that count the job, each with the counter of the job's period or None."""
    query = (
        select(SpendingLimit, SpendingCounter, JOBS.c.created_at)
        .select_from(JOBS)
        .join(SpendingLimit, _OF_SUBJECT)
        .outerjoin(SpendingCounter, _OF_PERIOD)
        .where(JOBS.c.id == job_id)
        .execution_options(populate_existing=True)
    )
    return [row for row in session.execute(query) if _counts(row)]


def _tightest(rows: Sequence[Row[Any]]) -> LimitUsage | None:
    """Return the use of the limit that allows the least."""
    return min(map(_usage, rows), key=lambda usage: usage.left, default=None)


def _counts(row: Row[Any]) -> bool:
    """Return whether the limit counts the job: its period had not ended when the limit was set."""
    starts_at, _ends_at = Period(row.SpendingLimit.period).bounds(row.SpendingLimit.created_at)
    return bool(row.created_at >= starts_at)


def _usage(row: Row[Any]) -> LimitUsage:
    return usage_of(row.SpendingLimit, row.SpendingCounter, at=row.created_at)


def usage_of(limit: SpendingLimit, counter: SpendingCounter | None, *, at: datetime) -> LimitUsage:
    """Return the use of a limit in the period that contains the time, from its counter."""
    period = Period(limit.period)
    return LimitUsage(
        subject="account" if limit.account_id else "key",
        subject_id=limit.account_id or limit.key_id or "",
        period=period,
        credits=limit.credits,
        held=counter.held if counter else 0,
        spent=counter.spent if counter else 0,
        resets_at=period.bounds(at)[1] if period is Period.MONTH else None,
    )
