"""Audits: check the invariants one by one in one database snapshot, and store the result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, String, TextClause, column, delete, func, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.accounts.workspaces import Workspace
from app.core.audit.coverage import EVERYTHING, Coverage, Parameters
from app.core.audit.invariants import BALANCE_RULE, RULES, STUCK_BEFORE, Rule
from app.core.jobs.jobs import Job
from app.core.ledger.credits import LedgerEntry
from app.domain.ids import new_id
from app.infra.database_clock import Moment, value
from app.infra.db import Base, UtcDateTime
from app.settings import Settings

MAX_VIOLATIONS = 100
"""Violations listed per rule; if there are more, these show what is wrong."""
RETENTION = timedelta(days=90)
COOLDOWN_FACTOR = 20
"""The pause after an audit, as a multiple of its duration."""
ABANDONED_AFTER = timedelta(hours=1)
"""An audit that has not finished after this time never will: its process is gone."""
SWEEPS = 10
CLOCKS = timedelta(minutes=1)
_LOCK = 0x6175_6469  # any key that no other advisory lock of this database uses
_FAULT = ("id", "workspace_id", "expected", "found")


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


_LATEST = select(Audit).order_by(Audit.at.desc(), Audit.id.desc()).limit(1)


@dataclass(frozen=True, slots=True)
class Violation:
    """A row that violates a rule: its id, its workspace, the expected and the found value."""

    rule: str
    id: str
    workspace_id: str | None
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A checked rule, its violations, and the duration of the check."""

    rule: Rule
    faults: tuple[Violation, ...]
    milliseconds: int


@dataclass(frozen=True, slots=True)
class AuditScope:
    """The number of rows that an audit covers."""

    workspaces: int
    jobs: int
    entries: int


def stuck_after(settings: Settings) -> timedelta:
    """Return how long a job may stay open past its deadline: its lease, some sweeps, and clock skew."""
    return timedelta(seconds=settings.lease_seconds + SWEEPS * settings.sweep_seconds) + CLOCKS


def use_repeatable_read(session: Session) -> None:
    """Start a REPEATABLE READ snapshot; call it first, in a session that only reads.

    Every SQLite transaction already reads one snapshot.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})


def scope(session: Session, workspace_id: str | None = None, coverage: Coverage = EVERYTHING) -> AuditScope:
    """Count the rows to audit, of one workspace or of all."""

    def count(table: type[Base], condition: str, column_name: str = "workspace_id") -> int:
        query = select(func.count()).select_from(table).where(coverage.bind(condition, {}))
        if workspace_id is not None:
            query = query.where(column(column_name) == workspace_id)
        return session.scalars(query).one()

    return AuditScope(
        count(Workspace, "1 = 1", "id"), count(Job, "{job:id}"), count(LedgerEntry, "{entry:id}")
    )


def check(
    session: Session,
    *,
    stuck_after: timedelta,
    now: datetime,
    workspace_id: str | None = None,
    coverage: Coverage = EVERYTHING,
) -> Iterator[RuleResult]:
    """Check each rule in turn; `stuck_after` is how long an open job may be past its deadline."""
    stuck_before: Parameters = {STUCK_BEFORE: (now - stuck_after, UtcDateTime())}
    for rule in RULES:
        started = time.monotonic()
        query = _violations(coverage.bind(rule.query, stuck_before), workspace_id)
        if rule.name == BALANCE_RULE and coverage.workspaces is not None:
            query = query.where(column("workspace_id").in_(coverage.workspaces))
        is_checked = rule.name != BALANCE_RULE or coverage.workspaces != frozenset()
        rows = session.execute(query) if is_checked else ()
        yield RuleResult(rule, tuple(Violation(rule.name, *row) for row in rows), _since(started))


def begin(session: Session, *, every: timedelta, now: Moment) -> str | None:
    """Insert an audit if one is due; return its id, or None.

    A slow audit runs less often, so that auditing does not occupy the database all the time.
    """
    if not _try_lock(session) or not is_due(session, every=every, now=now):
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
    latest = session.scalar(_LATEST)
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


def last(session: Session) -> Audit | None:
    """Return the latest finished audit, or None."""
    return session.scalar(_LATEST.where(Audit.milliseconds.is_not(None)))


def _violations(query: TextClause, workspace_id: str | None) -> Select[str, str | None, str, str]:
    """Return the query of the first violations.

    PostgreSQL must not expect many violations: it would read a whole table in the order of ids to find some.
    """
    rows = query.columns(*(column(name, String) for name in _FAULT))
    found = rows.subquery() if workspace_id else rows.cte().prefix_with("MATERIALIZED")
    first = select(*(found.c[name] for name in _FAULT)).order_by(found.c.id).limit(MAX_VIOLATIONS)
    return first if workspace_id is None else first.where(found.c.workspace_id == workspace_id)


def _try_lock(session: Session) -> bool:
    """Return whether this transaction got the lock that serialises the start of audits."""
    if session.get_bind().dialect.name == "sqlite":
        return True
    return bool(session.scalar(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": _LOCK}))


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
