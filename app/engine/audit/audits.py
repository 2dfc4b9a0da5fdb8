"""Audits: when they are due, and what they found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, String, delete, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.ids import new_id
from app.engine.audit.rule_checks import AuditScope, RuleResult
from app.infra.database.advisory_locks import AdvisoryLock, try_acquire
from app.infra.database.database_clock import Moment, value
from app.infra.database.db import Base
from app.infra.database.session import Session

RETENTION = timedelta(days=90)
COOLDOWN_FACTOR = 20
"""The pause after an audit, as a multiple of its duration."""
ABANDONED_AFTER = timedelta(hours=1)
"""An audit that has not finished after this time never will: its process is gone."""


class Audit(Base):
    """One audit run: its start, duration and scope, and the violations, by ids only.

    The result columns are null while it runs, and remain null if its process was stopped.
    """

    __tablename__ = "audits"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    at: Mapped[datetime]
    milliseconds: Mapped[int | None]
    workspaces: Mapped[int | None]
    jobs: Mapped[int | None]
    entries: Mapped[int | None]
    faults: Mapped[list[Any] | None]


def begin(session: Session, *, every: timedelta, now: Moment) -> str | None:
    """Insert an audit if one is due; return its id, or None.

    A slow audit runs less often, so that auditing does not occupy the database all the time.
    """
    if not try_acquire(session, AdvisoryLock.AUDIT) or not is_due(session, every=every, now=now):
        return None
    return add(session, now=now)


def add(session: Session, *, now: Moment) -> str:
    """Insert an audit, whether due or not; return its id."""
    audit = Audit(id=new_id("aud"), at=now)
    session.add(audit)
    session.flush()
    return audit.id


def is_due(session: Session, *, every: timedelta, now: Moment) -> bool:
    """Return whether an audit is due: `every` and the pause after the last are over, and none is running."""
    latest = session.scalar(_latest(now))
    if latest is None:
        return True
    current = value(session, now)
    if latest.milliseconds is None:
        return current - latest.at >= max(every, ABANDONED_AFTER)
    return current - latest.at >= max(every, COOLDOWN_FACTOR * timedelta(milliseconds=latest.milliseconds))


def finish(
    session: Session,
    audit_id: str,
    audited: AuditScope,
    checked: Sequence[RuleResult],
    *,
    milliseconds: int,
    now: datetime,
) -> None:
    """Store the result of an audit, and delete audits older than RETENTION."""
    audit = session.get_one(Audit, audit_id)
    audit.milliseconds = milliseconds
    audit.workspaces, audit.jobs, audit.entries = audited.workspaces, audited.jobs, audited.entries
    audit.faults = [asdict(fault) for result in checked for fault in result.faults]
    session.flush()
    session.execute(delete(Audit).where(Audit.at < now - RETENTION))


def last(session: Session, *, now: Moment) -> Audit | None:
    """Return the latest finished audit, or None."""
    return session.scalar(_latest(now).where(Audit.milliseconds.is_not(None)))


def _latest(now: Moment) -> Select[Audit]:
    """Return the query for the latest audit; one in the future was begun by a clock that was ahead."""
    return select(Audit).where(Audit.at <= now).order_by(Audit.at.desc(), Audit.id.desc()).limit(1)
