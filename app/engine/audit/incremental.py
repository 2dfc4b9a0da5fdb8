"""Incremental audits: what changed since the last one, and a slice of everything else.

A slice has a fixed size, so the time of an audit does not grow with the tables. The slices follow the order
of ids; after the last one the first is checked again. Ids contain the time of their creation by the clock of
a process. A wrong clock, or a commit later than SETTLING after that time, only costs time: sums that do not
match are compared with the whole ledger before they are reported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ARRAY, String, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.ids import first_id, time_of
from app.engine.audit import ledger_sums, slices
from app.engine.audit.coverage import Coverage
from app.engine.audit.ledger_sums import WorkspaceSums
from app.engine.jobs.jobs import LIVE, Job
from app.engine.ledger.credits import LedgerEntry
from app.engine.ledger.spending_limits import SpendingLimit
from app.infra.database.db import Base, UtcDateTime
from app.infra.database.session import Session

SLICE = 5_000
"""Jobs in a slice; a slice of the ledger has twice as many entries."""
LIMITS = 5
"""Spending limits in a slice; the jobs of each in its periods are counted."""
SETTLING = timedelta(minutes=10)
"""The age at which an entry is counted: transactions that write entries end much sooner."""

_IN_RANGE = "? > :{0}_after AND ? <= :{0}_upto OR ? > :{0}_since"
_EPOCH = datetime.fromtimestamp(0, UTC)


class AuditPosition(Base):
    """The id up to which something was audited.

    `settled` is the end of the known sums; `entries`, `jobs` and `limits` are the ends of the last slices.
    """

    __tablename__ = "audit_positions"

    name: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[str]


@dataclass(frozen=True, slots=True)
class Increment:
    """What an audit covers, and what is stored when it has finished."""

    coverage: Coverage
    positions: Mapping[str, str]
    sums: Sequence[WorkspaceSums]


def plan(session: Session, *, now: datetime) -> Increment:
    """Return what to audit next; the first increment covers everything."""
    slices.plan_for_slices(session)
    positions = {row.name: row.position for row in session.scalars(select(AuditPosition))}
    since = positions.get("settled", "")
    settled = max(since, first_id("led", now - SETTLING))
    entries = slices.following(session, LedgerEntry.id, positions.get("entries", ""), settled, 2 * SLICE)
    jobs = slices.following(session, Job.id, positions.get("jobs", ""), _job(settled), SLICE)
    limits = slices.following(session, SpendingLimit.id, positions.get("limits", ""), "lim_z", LIMITS)
    suspects, sums = ledger_sums.compare(session, since, settled, entries)
    ranges = {"entry": (entries, since), "job": (jobs, _job(since))}
    parameters: dict[str, tuple[Any, Any]] = {
        f"{name}_{bound}": (value, String())
        for name, (part, recent) in ranges.items()
        for bound, value in (("after", part.after), ("upto", part.upto), ("since", recent))
    }
    parameters["key_since"] = (_EPOCH if jobs.is_last or not since else time_of(since), UtcDateTime())
    parameters |= {"limit_after": (limits.after, String()), "limit_upto": (limits.upto, String())}
    is_older, parameters["older_jobs"] = older_jobs(session, since)
    coverage = Coverage(
        job=f"({_IN_RANGE.format('job')} OR {is_older})",
        entry=f"({_IN_RANGE.format('entry')})",
        key="? >= :key_since",
        limit="? > :limit_after AND ? <= :limit_upto",
        parameters=parameters,
        workspaces=suspects,
    )
    after = {
        "settled": settled,
        "entries": entries.position,
        "jobs": jobs.position,
        "limits": limits.position,
    }
    return Increment(coverage, after, sums)


def store(session: Session, increment: Increment) -> None:
    """Store the positions and sums, so that the next increment follows this one."""
    for name, position in increment.positions.items():
        session.merge(AuditPosition(name=name, position=position))
    ledger_sums.store(session, increment.sums)


def older_jobs(session: Session, since: str) -> tuple[str, tuple[Any, Any]]:
    """Return the condition and parameter of older jobs: those with recent ledger entries, and open ones."""
    before = _job(since)
    changed = select(LedgerEntry.job_id).where(LedgerEntry.id > since, LedgerEntry.job_id <= before)
    still_open = select(Job.id).where(LIVE, Job.id <= before)
    job_ids = list(session.scalars(changed.union(still_open)))
    if session.get_bind().dialect.name == "sqlite":
        return "? IN (SELECT value FROM json_each(:older_jobs))", (json.dumps(job_ids), String())
    return "? = ANY(:older_jobs)", (job_ids, ARRAY(String))


def _job(entry_id: str) -> str:
    """Return the id of a job of the same time as the entry."""
    return entry_id.replace("led_", "job_", 1)
