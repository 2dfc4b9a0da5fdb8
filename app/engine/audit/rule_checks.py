"""Checks the invariants one by one in one database snapshot."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, String, TextClause, column, func, select

from app.engine.accounts.workspaces import Workspace
from app.engine.audit.coverage import EVERYTHING, Coverage, Parameters
from app.engine.audit.invariants import RULES
from app.engine.audit.job_rules import STUCK_BEFORE
from app.engine.audit.ledger_rules import BALANCE_RULE
from app.engine.audit.rule import Rule
from app.engine.jobs.jobs import Job
from app.engine.ledger.credits import LedgerEntry
from app.infra import clock
from app.infra.database.db import Base, UtcDateTime
from app.infra.database.session import Session
from app.settings import Settings

MAX_VIOLATIONS = 100
"""Violations listed per rule; if there are more, these show what is wrong."""
SWEEPS = 10
CLOCKS = timedelta(minutes=1)
_FAULT = ("id", "workspace_id", "expected", "found")


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
        yield RuleResult(
            rule, tuple(Violation(rule.name, *row) for row in rows), clock.milliseconds_since(started)
        )


def _violations(query: TextClause, workspace_id: str | None) -> Select[str, str | None, str, str]:
    """Return the query of the first violations.

    PostgreSQL must not expect many violations: it would read a whole table in the order of ids to find some.
    """
    rows = query.columns(*(column(name, String) for name in _FAULT))
    found = rows.subquery() if workspace_id else rows.cte().prefix_with("MATERIALIZED")
    first = select(*(found.c[name] for name in _FAULT)).order_by(found.c.id).limit(MAX_VIOLATIONS)
    return first if workspace_id is None else first.where(found.c.workspace_id == workspace_id)
