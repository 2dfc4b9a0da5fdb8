"""Submits requests: stores their jobs, together for concurrent requests, and sends them to the workers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta

from app.engine.jobs import group_submission, idempotency, jobs, submission
from app.engine.jobs.result_reuse import Freshness
from app.engine.jobs.submission import Submission, SubmitResult
from app.infra.broker.queue import JobPublisher
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.db import Database
from app.infra.database.lock_limits import limited_locks
from app.infra.database.session import Session
from app.infra.grouping import ALONE, Grouped, Results
from app.infra.telemetry import trace_links
from app.settings import Settings

MAX_GROUP = 64
LOCK_SECONDS = 0.1
"""How long the requests of a group wait for a row that is locked; then each of them is submitted alone."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submitted job; `replayed` means that an earlier use of the idempotency key submitted it."""

    result: SubmitResult
    replayed: bool = False
    is_published: bool = True


class JobSubmitter:
    """Submits requests; `slot` holds a slot for writing, for the workspace with this id, during its block."""

    def __init__(
        self,
        database: Database,
        publisher: JobPublisher,
        settings: Settings,
        slot: Callable[[str], AbstractContextManager[None]],
    ) -> None:
        self._database, self._publisher, self._redis_url = database, publisher, settings.redis_url
        self._slot = slot
        self._freshness = Freshness(
            found=timedelta(seconds=settings.answer_fresh_seconds),
            not_found=timedelta(seconds=settings.not_found_fresh_seconds),
        )
        self._deadline = timedelta(seconds=settings.job_deadline_seconds)
        self._together = Grouped(self._submit_all, name="submission", size=MAX_GROUP)

    def submit(self, item: Submission) -> Submitted:
        """Store the job, unless an equal one or its idempotency key exists, and publish it if it is new."""
        # Before the job exists: once it is committed, the message of another job may lead a worker to it.
        trace_links.remember(self._redis_url, item.request.job_id)
        if group_submission.is_plain(item.request):
            return self._together(item)
        return self._submit(item)

    def _submit_all(self, items: Sequence[Submission]) -> Results[Submitted]:
        if len(items) == 1:
            return [self._submit(items[0])]
        with self._database.transaction() as session, limited_locks(session, LOCK_SECONDS):
            results = group_submission.submit_all(
                session, items, freshness=self._freshness, deadline=self._deadline, now=database_clock.now()
            )
        published = self._publish([result for result in results if result is not None])
        return [ALONE if result is None else Submitted(result, is_published=published) for result in results]

    def _submit(self, item: Submission) -> Submitted:
        request = item.request
        with self._slot(request.workspace_id), self._database.transaction() as session:
            now = database_clock.now()
            if (reference := _claim(session, item, now=now)) is not None:
                earlier = jobs.get(session, request.workspace_id, reference)
                return Submitted(SubmitResult(earlier), replayed=True)
            result = submission.submit(
                session, request, freshness=self._freshness, deadline=self._deadline, now=now
            )
            if item.claim is not None:
                idempotency.finish(session, request.workspace_id, item.claim.key, result.job.id)
        return Submitted(result, is_published=not result.is_new or self._publish([result]))

    def _publish(self, results: Sequence[SubmitResult]) -> bool:
        """Send the new jobs to the workers; return whether the broker has all of them."""
        by_kind: dict[str, list[str]] = defaultdict(list)
        for result in results:
            by_kind[result.job.kind].append(result.job.id)
        published = [self._publisher.publish(kind, ids) for kind, ids in by_kind.items()]
        return all(published)


def _claim(session: Session, item: Submission, *, now: Moment) -> str | None:
    """Claim the idempotency key, if any; return the id of the job that an earlier use of it created."""
    if item.claim is None:
        return None
    return idempotency.begin(session, *item.claim[:-1], now=now)
