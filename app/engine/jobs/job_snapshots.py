"""Jobs as responses show them; those that several requests read at the same time are read together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.errors import JobNotFound
from app.domain.kinds import KINDS
from app.engine.accounts.workspaces import Balance
from app.engine.call_registers import listed_answers
from app.engine.call_registers.listings import Listings
from app.engine.contacts import hidden_values, value_reports
from app.engine.contacts.value_reports import ValueReports
from app.engine.jobs import jobs, provider_calls, traces
from app.engine.jobs.jobs import JobItem
from app.engine.jobs.stored_jobs import StoredJob
from app.infra.database import database_clock
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.infra.grouping import Grouped

MAX_GROUP = 64


@dataclass(frozen=True, slots=True)
class JobSnapshot:
    """A job, its items and the balance of its workspace, read in one transaction.

    `client_reference` is the caller's. `trace` is the receipt so far. `asking` are the providers that
    are being queried. `hidden` are the addresses and numbers in the results that a regional rule hides, and
    `listings` what do-not-call registers say about the numbers. `reports` are the workspace's of the values.
    """

    job: StoredJob
    items: list[JobItem]
    balance: Balance
    client_reference: str | None
    trace: list[dict[str, Any]]
    asking: list[str] = field(default_factory=list)
    hidden: frozenset[str] = frozenset()
    listings: Listings = field(default_factory=dict)
    reports: ValueReports = field(default_factory=dict)


class JobReader:
    """Reads the jobs of workspaces."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._snapshots = Grouped(self._read, name="job", size=MAX_GROUP)

    def read(self, workspace_id: str, job_id: str, *, kinds: Collection[str] = KINDS) -> JobSnapshot:
        """Return the workspace's job of one of these kinds, as it is now.

        Raises:
            JobNotFound: the workspace has no such job.
            Unavailable: the job cannot be read now.

        """
        snapshot = self._snapshots((workspace_id, job_id))
        if snapshot is None or snapshot.job.kind not in kinds:
            raise JobNotFound
        return snapshot

    def _read(self, wanted: Sequence[tuple[str, str]]) -> list[JobSnapshot | None]:
        with self._database.reading() as session:
            found = jobs.all_with_balances(session, wanted)
            return [row and _snapshot(session, *row) for row in found]


def _snapshot(session: Session, job: StoredJob, balance: Balance) -> JobSnapshot:
    items = jobs.items(session, job.id) if KINDS[job.kind].has_items else []
    trace, asking = job.trace, list[str]()
    if job.finished_at is None:
        lines, asking = provider_calls.progress(session, job.id, now=database_clock.now())
        trace = traces.merge(trace, lines)
    answers = [(job.result, job.request), *((item.result, item.request) for item in items)]
    hidden = hidden_values.in_answers(session, answers)
    results = [result for result, _request in answers]
    listed = listed_answers.find(session, job.workspace_id, results)
    reports = value_reports.find(session, job.workspace_id, results)
    reference = job.request.get("client_reference")
    return JobSnapshot(job, items, balance, reference, trace, asking, hidden, listed, reports)
