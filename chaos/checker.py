"""The evidence: what the database itself says of the jobs that were accepted, in SQL of this module's own.

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
CLOSING = frozenset({"settle", "release"})
JOBS = """
    SELECT id, workspace_id, kind, status, held, charged, result, error FROM jobs WHERE workspace_id IN :them
"""
LEDGER = "SELECT workspace_id, job_id, kind, available, held, spent FROM ledger WHERE workspace_id IN :them"
WORKSPACES = "SELECT id, available, held, spent FROM workspaces WHERE id IN :them"
KEYS = "SELECT workspace_id, key, reference FROM idempotency_keys WHERE workspace_id IN :them"
REPEATED_CALLS = """SELECT count(*) FROM (
    SELECT 1 FROM provider_calls c JOIN jobs j ON j.id = c.job_id WHERE j.workspace_id IN :them
    GROUP BY c.job_id, c.item, c.field, c.provider, c.subject HAVING count(*) > 1
) again"""


@dataclass(frozen=True, slots=True)
class Findings:
    """What broke, a sentence each; and figures that are no faults."""

    lost: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    charged_twice: list[str] = field(default_factory=list)
    mismatches: list[str] = field(default_factory=list)
    unexpected_failures: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    repeated_calls: int = 0

    @property
    def violations(self) -> list[str]:
        """Give everything that breaks a promise."""
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
    innocent: Collection[str] = (),
) -> Findings:
    """Hold the database against the accepted jobs: (workspace, idempotency key) to job id."""
    jobs = {row.id: row for row in _rows(connection, JOBS, workspaces)}
    ledger = list(_rows(connection, LEDGER, workspaces))
    entries: defaultdict[str | None, list[Row[Any]]] = defaultdict(list)
    for entry in ledger:
        entries[entry.job_id].append(entry)
    return Findings(
        lost=list(_lost(connection, workspaces, accepted, jobs)),
        unfinished=[f"{one} is still {jobs[one].status}" for one in _unfinished(jobs, accepted.values())],
        charged_twice=[*_closed_twice(entries), *_paid_twice(jobs)],
        mismatches=[
            *_balance_mismatches(connection, workspaces, ledger, jobs),
            *_job_mismatches(entries, jobs),
        ],
        unexpected_failures=[
            f"{one} {jobs[one].status}: {_error_code(jobs[one])}"
            for one in sorted(innocent)
            if one in jobs and jobs[one].status in FINAL - {"succeeded"}
        ],
        statuses=Counter(jobs[one].status for one in set(accepted.values()) if one in jobs),
        repeated_calls=int(connection.scalar(_query(REPEATED_CALLS), {"them": list(workspaces)}) or 0),
    )


def count_open_jobs(connection: Connection, workspaces: Collection[str]) -> int:
    """Count the jobs that are not over."""
    query = "SELECT count(*) FROM jobs WHERE workspace_id IN :them AND status IN ('queued', 'running')"
    return int(connection.scalar(_query(query), {"them": list(workspaces)}) or 0)


def _lost(
    connection: Connection,
    workspaces: Collection[str],
    accepted: dict[tuple[str, str], str],
    jobs: dict[str, Row[Any]],
) -> Iterator[str]:
    """Find accepted jobs without a row, and keys that stand for another job than was answered."""
    known = {(row.workspace_id, row.key): row.reference for row in _rows(connection, KEYS, workspaces)}
    for (workspace, key), job_id in accepted.items():
        if job_id not in jobs:
            yield f"{job_id} was accepted and has no row"
        elif jobs[job_id].workspace_id != workspace:
            yield f"{job_id} was answered to another workspace than its own"
        elif known.get((workspace, key)) != job_id:
            yield f"key {key} was answered with {job_id} and stands for {known.get((workspace, key))}"


def _unfinished(jobs: dict[str, Row[Any]], accepted: Collection[str]) -> list[str]:
    return sorted(one for one in set(accepted) if one in jobs and jobs[one].status not in FINAL)


def _closed_twice(entries: dict[str | None, list[Row[Any]]]) -> Iterator[str]:
    for job_id, rows in entries.items():
        if job_id is not None and sum(row.kind in CLOSING for row in rows) > 1:
            yield f"{job_id} was closed more than once"


def _paid_twice(jobs: dict[str, Row[Any]]) -> Iterator[str]:
    """Find what a workspace was charged for by two jobs: the same field of the same contact."""
    paid: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for job in jobs.values():
        if job.charged and job.result is not None:
            result = json.loads(job.result) if isinstance(job.result, str) else job.result
            paid[job.workspace_id, job.kind, str(result.get("contact_id"))].append(job.id)
    for (_workspace, kind, contact), them in paid.items():
        if len(them) > 1:
            yield f"{kind} of {contact} was charged by {' and '.join(sorted(them))}"


def _balance_mismatches(
    connection: Connection, workspaces: Collection[str], ledger: list[Row[Any]], jobs: dict[str, Row[Any]]
) -> Iterator[str]:
    """Compare each workspace's three figures with its ledger, and what it holds with its open jobs."""
    for row in _rows(connection, WORKSPACES, workspaces):
        own = [entry for entry in ledger if entry.workspace_id == row.id]
        for name in ("available", "held", "spent"):
            summed, shown = sum(getattr(entry, name) for entry in own), getattr(row, name)
            if summed != shown:
                yield f"{row.id} shows {name} {shown}, its ledger says {summed}"
        promised = sum(
            job.held for job in jobs.values() if job.workspace_id == row.id and job.status not in FINAL
        )
        if promised != row.held:
            yield f"{row.id} holds {row.held}, its open jobs {promised}"


def _job_mismatches(entries: dict[str | None, list[Row[Any]]], jobs: dict[str, Row[Any]]) -> Iterator[str]:
    """Compare each job with its rows in the ledger: one hold, and once it is over one close."""
    for job_id in entries.keys() - jobs.keys() - {None}:
        yield f"the ledger speaks of {job_id}, which is no job"
    for job in jobs.values():
        rows = entries.get(job.id, [])
        holds = [row for row in rows if row.kind == "hold"]
        closes = [row for row in rows if row.kind in CLOSING]
        if sum(row.held for row in holds) != job.held or len(holds) > 1:
            yield f"{job.id} holds {job.held}, the ledger says {sum(row.held for row in holds)}"
        if len(closes) != int(job.status in FINAL and job.held > 0) and len(closes) < 2:  # noqa: PLR2004 - two are charged twice
            yield f"{job.id} is {job.status} and has {len(closes)} closes"
        if closes and (closes[0].spent, closes[0].held) != (job.charged, -job.held):
            yield f"{job.id} was charged {job.charged}, the ledger says {closes[0].spent}"


def _error_code(job: Row[Any]) -> str:
    error = json.loads(job.error) if isinstance(job.error, str) else job.error
    return str((error or {}).get("code"))


def _rows(connection: Connection, query: str, workspaces: Collection[str]) -> Iterator[Row[Any]]:
    return iter(connection.execute(_query(query), {"them": list(workspaces)}))


def _query(query: str) -> Any:  # noqa: ANN401 - SQLAlchemy's own type says no more
    return text(query).bindparams(bindparam("them", expanding=True))
