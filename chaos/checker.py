"""The checker: compares the database with the jobs that clients saw accepted, with SQL of its own.

It shares no code with the service: a rule that is wrong in both places would not be noticed.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, bindparam, text

FINAL = frozenset({"succeeded", "failed", "canceled", "expired"})
CLOSING = frozenset({"settle", "release"})  # kinds of ledger entries that end a hold
JOBS = """
    SELECT id, workspace_id, kind, status, held, charged, result, error
    FROM jobs WHERE workspace_id IN :workspaces
"""
OPEN_JOBS = """
    SELECT count(*) FROM jobs WHERE workspace_id IN :workspaces AND status IN ('queued', 'running')
"""
LEDGER = """
    SELECT workspace_id, job_id, kind, available, held, spent FROM ledger WHERE workspace_id IN :workspaces
"""
WORKSPACES = "SELECT id, available, held, spent FROM workspaces WHERE id IN :workspaces"
KEYS = "SELECT workspace_id, key, reference FROM idempotency_keys WHERE workspace_id IN :workspaces"
REPEATED_CALLS = """SELECT count(*) FROM (
    SELECT 1 FROM provider_calls c JOIN jobs j ON j.id = c.job_id WHERE j.workspace_id IN :workspaces
    GROUP BY c.job_id, c.item, c.field, c.provider, c.subject_digest HAVING count(*) > 1
) repeated"""


@dataclass(frozen=True, slots=True)
class Findings:
    """Violations of each guarantee, as sentences; `statuses` and `repeated_calls` violate none."""

    lost: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    charged_twice: list[str] = field(default_factory=list)
    mismatches: list[str] = field(default_factory=list)
    unexpected_failures: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    repeated_calls: int = 0

    @property
    def violations(self) -> list[str]:
        """All violations."""
        return [
            *self.lost,
            *self.unfinished,
            *self.charged_twice,
            *self.mismatches,
            *self.unexpected_failures,
        ]


def check(
    connection: Connection,
    workspaces: Collection[str],
    accepted: dict[tuple[str, str], str],
    must_succeed: Collection[str] = (),
) -> Findings:
    """Compare the database with the accepted jobs, which are job ids by (workspace, idempotency key)."""
    jobs = {row.id: row for row in _rows(connection, JOBS, workspaces)}
    ledger = list(_rows(connection, LEDGER, workspaces))
    entries: defaultdict[str | None, list[Row[Any]]] = defaultdict(list)
    for entry in ledger:
        entries[entry.job_id].append(entry)
    return Findings(
        lost=list(_lost(connection, workspaces, accepted, jobs)),
        unfinished=[
            f"{job_id} is still {jobs[job_id].status}" for job_id in _unfinished(jobs, accepted.values())
        ],
        charged_twice=[*_closed_twice(entries), *_paid_twice(jobs)],
        mismatches=[
            *_balance_mismatches(connection, workspaces, ledger, jobs),
            *_job_mismatches(entries, jobs),
        ],
        unexpected_failures=[
            f"{job_id} {jobs[job_id].status}: {_error_code(jobs[job_id])}"
            for job_id in sorted(must_succeed)
            if job_id in jobs and jobs[job_id].status in FINAL - {"succeeded"}
        ],
        statuses=Counter(jobs[job_id].status for job_id in set(accepted.values()) if job_id in jobs),
        repeated_calls=_count(connection, REPEATED_CALLS, workspaces),
    )


def count_open_jobs(connection: Connection, workspaces: Collection[str]) -> int:
    """Return how many jobs are queued or running."""
    return _count(connection, OPEN_JOBS, workspaces)


def _lost(
    connection: Connection,
    workspaces: Collection[str],
    accepted: dict[tuple[str, str], str],
    jobs: dict[str, Row[Any]],
) -> Iterator[str]:
    """Yield accepted jobs without a row, and keys whose stored job differs from the accepted one."""
    stored = {(row.workspace_id, row.key): row.reference for row in _rows(connection, KEYS, workspaces)}
    for (workspace, key), job_id in accepted.items():
        if job_id not in jobs:
            yield f"{job_id} was accepted and has no row"
        elif jobs[job_id].workspace_id != workspace:
            yield f"{job_id} was returned to another workspace than its own"
        elif stored.get((workspace, key)) != job_id:
            yield f"key {key} was accepted as {job_id} and is stored with {stored.get((workspace, key))}"


def _unfinished(jobs: dict[str, Row[Any]], accepted: Collection[str]) -> list[str]:
    return sorted(job_id for job_id in set(accepted) if job_id in jobs and jobs[job_id].status not in FINAL)


def _closed_twice(entries: dict[str | None, list[Row[Any]]]) -> Iterator[str]:
    for job_id, rows in entries.items():
        if job_id is not None and sum(row.kind in CLOSING for row in rows) > 1:
            yield f"{job_id} was closed more than once"


def _paid_twice(jobs: dict[str, Row[Any]]) -> Iterator[str]:
    """Yield what two jobs have charged to the same workspace: the same field of the same contact."""
    charges: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for job in jobs.values():
        if job.charged and job.result is not None:
            result = json.loads(job.result) if isinstance(job.result, str) else job.result
            charges[job.workspace_id, job.kind, str(result.get("contact_id"))].append(job.id)
    for (_workspace, kind, contact), job_ids in charges.items():
        if len(job_ids) > 1:
            yield f"{kind} of {contact} was charged by {' and '.join(sorted(job_ids))}"


def _balance_mismatches(
    connection: Connection, workspaces: Collection[str], ledger: list[Row[Any]], jobs: dict[str, Row[Any]]
) -> Iterator[str]:
    """Compare the balance of each workspace with its ledger, and its holds with its open jobs."""
    for row in _rows(connection, WORKSPACES, workspaces):
        entries = [entry for entry in ledger if entry.workspace_id == row.id]
        for name in ("available", "held", "spent"):
            total, stored = sum(getattr(entry, name) for entry in entries), getattr(row, name)
            if total != stored:
                yield f"{row.id} has {name} {stored}, its ledger adds up to {total}"
        held = sum(
            job.held for job in jobs.values() if job.workspace_id == row.id and job.status not in FINAL
        )
        if held != row.held:
            yield f"{row.id} holds {row.held}, its open jobs {held}"


def _job_mismatches(entries: dict[str | None, list[Row[Any]]], jobs: dict[str, Row[Any]]) -> Iterator[str]:
    """Compare each job with its ledger entries: one hold, and one closing entry when it has finished."""
    for job_id in entries.keys() - jobs.keys() - {None}:
        yield f"the ledger has entries of {job_id}, which does not exist"
    for job in jobs.values():
        rows = entries.get(job.id, [])
        holds = [row for row in rows if row.kind == "hold"]
        closes = [row for row in rows if row.kind in CLOSING]
        if sum(row.held for row in holds) != job.held or len(holds) > 1:
            yield f"{job.id} holds {job.held}, the ledger {sum(row.held for row in holds)}"
        if len(closes) != int(job.status in FINAL and job.held > 0) and len(closes) < 2:  # noqa: PLR2004 - two are reported as charged twice
            yield f"{job.id} is {job.status} and has {len(closes)} closing entries"
        if closes and (closes[0].spent, closes[0].held) != (job.charged, -job.held):
            yield f"{job.id} was charged {job.charged}, in the ledger {closes[0].spent}"


def _error_code(job: Row[Any]) -> str:
    error = json.loads(job.error) if isinstance(job.error, str) else job.error
    return str((error or {}).get("code"))


def _rows(connection: Connection, query: str, workspaces: Collection[str]) -> Iterator[Row[Any]]:
    return iter(connection.execute(_statement(query), {"workspaces": list(workspaces)}))


def _count(connection: Connection, query: str, workspaces: Collection[str]) -> int:
    return int(connection.scalar(_statement(query), {"workspaces": list(workspaces)}) or 0)


def _statement(query: str) -> Any:  # noqa: ANN401 - SQLAlchemy's own type is no narrower
    return text(query).bindparams(bindparam("workspaces", expanding=True))
