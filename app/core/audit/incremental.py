"""Incremental audits: what changed since the last one, and a slice of everything else.

A slice has a fixed size, so the time of an audit does not grow with the tables. The slices follow the order
of ids; after the last one the first is checked again. Ids contain the time of their creation by the clock of
a process. A wrong clock, or a commit later than SETTLING after that time, only costs time: sums that do not
match are compared with the whole ledger before they are reported.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import ARRAY, BigInteger, ForeignKey, String, func, select, text
from sqlalchemy.orm import InstrumentedAttribute, Mapped, Session, mapped_column

from app.core.accounts.workspaces import Workspace
from app.core.audit.coverage import Coverage
from app.core.jobs.jobs import LIVE, Job
from app.core.ledger.credits import LedgerEntry
from app.domain.ids import first_id, time_of
from app.infra.db import Base, UtcDateTime, insert

SLICE = 5_000
"""Jobs in a slice; a slice of the ledger has twice as many entries."""
SETTLING = timedelta(minutes=10)
"""The age at which an entry is counted: transactions that write entries end much sooner."""

Amounts: TypeAlias = tuple[int, int, int]
"""Available, held and spent credits."""
_ZERO: Amounts = (0, 0, 0)
_IN_RANGE = "? > :{0}_after AND ? <= :{0}_upto OR ? > :{0}_since"
_EPOCH = datetime.fromtimestamp(0, UTC)


class AuditPosition(Base):
    """The id up to which something was audited.

    `settled` is the end of the known sums, `entries` and `jobs` are the ends of the last slices.
    """

    __tablename__ = "audit_positions"

    name: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[str]


class LedgerSum(Base):
    """The sums of a workspace's ledger entries up to `settled`, and those counted again up to `entries`."""

    __tablename__ = "ledger_sums"

    workspace_id: Mapped[str] = mapped_column(
        ForeignKey("workspaces.id", ondelete="CASCADE"), primary_key=True
    )
    available: Mapped[int] = mapped_column(BigInteger)
    held: Mapped[int] = mapped_column(BigInteger)
    spent: Mapped[int] = mapped_column(BigInteger)
    counted_available: Mapped[int] = mapped_column(BigInteger)
    counted_held: Mapped[int] = mapped_column(BigInteger)
    counted_spent: Mapped[int] = mapped_column(BigInteger)


_SUMS = LedgerSum.__table__.c
_COLUMNS = ("available", "held", "spent", "counted_available", "counted_held", "counted_spent")


@dataclass(frozen=True, slots=True)
class Increment:
    """What an audit covers, and what is stored when it has finished."""

    coverage: Coverage
    positions: Mapping[str, str]
    sums: Sequence[tuple[str, Amounts, Amounts]]


@dataclass(frozen=True, slots=True)
class _Slice:
    """The ids after one and up to another; `is_last` if none follow."""

    after: str
    upto: str
    is_last: bool

    @property
    def position(self) -> str:
        """Return the id after which the next slice begins."""
        return "" if self.is_last else self.upto


def plan(session: Session, *, now: datetime) -> Increment:
    """Return what to audit next; the first increment covers everything."""
    plan_for_slices(session)
    positions = {row.name: row.position for row in session.scalars(select(AuditPosition))}
    since = positions.get("settled", "")
    settled = max(since, first_id("led", now - SETTLING))
    entries = _slice(session, LedgerEntry.id, positions.get("entries", ""), settled, 2 * SLICE)
    jobs = _slice(session, Job.id, positions.get("jobs", ""), _job(settled), SLICE)
    suspects, sums = _compare_sums(session, since, settled, entries)
    ranges = {"entry": (entries, since), "job": (jobs, _job(since))}
    parameters: dict[str, tuple[Any, Any]] = {
        f"{name}_{bound}": (value, String())
        for name, (part, recent) in ranges.items()
        for bound, value in (("after", part.after), ("upto", part.upto), ("since", recent))
    }
    parameters["key_since"] = (_EPOCH if jobs.is_last or not since else time_of(since), UtcDateTime())
    is_older, parameters["older_jobs"] = older_jobs(session, since)
    coverage = Coverage(
        job=f"({_IN_RANGE.format('job')} OR {is_older})",
        entry=f"({_IN_RANGE.format('entry')})",
        key="? >= :key_since",
        parameters=parameters,
        workspaces=suspects,
    )
    after = {"settled": settled, "entries": entries.position, "jobs": jobs.position}
    return Increment(coverage, after, sums)


def plan_for_slices(session: Session) -> None:
    """Have PostgreSQL search for the rows of a slice until the transaction ends.

    They are near to each other, so that this costs less than it expects. Starting parallel processes would
    take longer than reading a slice.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SET LOCAL max_parallel_workers_per_gather = 0"))
        session.execute(text("SET LOCAL random_page_cost = 1.1"))


def store(session: Session, increment: Increment) -> None:
    """Store the positions and sums, so that the next increment follows this one."""
    for name, position in increment.positions.items():
        session.merge(AuditPosition(name=name, position=position))
    for workspace_id, known, counted in increment.sums:
        values = dict(zip(_COLUMNS, (*known, *counted), strict=True))
        upsert = insert(session, LedgerSum).values(workspace_id=workspace_id, **values)
        session.execute(upsert.on_conflict_do_update(index_elements=["workspace_id"], set_=values))


def _slice(session: Session, column: InstrumentedAttribute[str], after: str, end: str, size: int) -> _Slice:
    """Return the next `size` ids after one, up to `end`."""
    query = select(column).where(column > after, column <= end).order_by(column).offset(size - 1).limit(2)
    ids = session.scalars(query).all()
    is_last = len(ids) < 2  # noqa: PLR2004 -- the last of the slice, and the next
    return _Slice(after, end if is_last else ids[0], is_last)


def _compare_sums(
    session: Session, since: str, settled: str, entries: _Slice
) -> tuple[frozenset[str], Sequence[tuple[str, Amounts, Amounts]]]:
    """Compare each balance with the known sums and the entries since; return the workspaces that differ.

    At the end of the ledger the sums of all slices are compared as well. Also return the new sums that differ
    from the stored ones.
    """
    recent, unsettled = _sum(session, since), _sum(session, settled)
    counted = _sum(session, entries.after, entries.upto)
    stored = {row.workspace_id: row for row in session.execute(select(*_SUMS))}
    suspects, sums = [], []
    balances = select(Workspace.id, Workspace.available, Workspace.held, Workspace.spent)
    for workspace_id, *amounts in session.execute(balances):
        row = stored.get(workspace_id, (workspace_id, *_ZERO, *_ZERO))
        balance, known, before = _amounts(amounts), _amounts(row[1:4]), _amounts(row[4:7])
        expected = _subtract(balance, unsettled.get(workspace_id, _ZERO))
        total = _add(before, counted.get(workspace_id, _ZERO))
        is_wrong = _add(known, recent.get(workspace_id, _ZERO)) != balance
        if is_wrong or (entries.is_last and total != expected):
            suspects.append(workspace_id)
        following = _ZERO if entries.is_last else total
        if (known, before) != (expected, following):
            sums.append((workspace_id, expected, following))
    return frozenset(suspects), sums


def _sum(session: Session, after: str, upto: str | None = None) -> dict[str, Amounts]:
    """Return the sums of the entries with ids after one and up to another, by workspace."""
    columns = (LedgerEntry.available, LedgerEntry.held, LedgerEntry.spent)
    query = select(LedgerEntry.workspace_id, *map(func.sum, columns)).where(LedgerEntry.id > after)
    if upto is not None:
        query = query.where(LedgerEntry.id <= upto)
    rows = session.execute(query.group_by(LedgerEntry.workspace_id))
    return {workspace_id: _amounts(sums) for workspace_id, *sums in rows}


def _amounts(numbers: Iterable[int]) -> Amounts:
    available, held, spent = numbers
    return int(available), int(held), int(spent)  # PostgreSQL's sums are decimals


def _add(left: Amounts, right: Amounts) -> Amounts:
    return _amounts(map(operator.add, left, right))


def _subtract(left: Amounts, right: Amounts) -> Amounts:
    return _amounts(map(operator.sub, left, right))


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
