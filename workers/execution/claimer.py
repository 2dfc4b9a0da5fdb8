"""Takes due jobs for the messages of this process, and settles at once those that stored data resolves.

Messages that arrive at the same time share a transaction. It locks up to `MAX_GROUP` jobs in fair order,
settles those that stored data resolves, and claims one job for each message that is left. If it fails, or the
process is killed, all of them are as they were before.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Any, TypeAlias

import structlog

from app.domain.kinds import KINDS, Queue
from app.engine.jobs import claims, leases, scheduling
from app.engine.jobs.claims import Claim, Refusal
from app.engine.jobs.jobs import REQUEST_ID
from app.engine.jobs.leases import JobResult
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.lock_limits import limited_locks
from app.infra.database.session import Session
from app.infra.grouping import Grouped
from app.infra.telemetry import trace_links, tracing
from app.infra.telemetry.log import log
from app.settings import Settings
from workers.execution.worker_services import WorkerServices

MAX_GROUP = 16
"""The most jobs that one transaction settles: those that come first wait for the others."""
LOCK_SECONDS = 0.1
"""How long the jobs of a group wait for a row that is locked; then they are run one by one."""
FIRST_PAUSE, MAX_PAUSE = 0.02, 0.5
"""Seconds before a message tries again whose jobs another process has locked; the pause doubles each time.

After the last one, the jobs are left to the sweeper.
"""
REMEMBERED = 10_000
"""How many jobs that it settled, or that it will not settle in a group, a process remembers."""
StoredDataFunction: TypeAlias = Callable[
    [Session, Sequence[Claim], WorkerServices], Sequence[JobResult | None]
]
FROM_STORED: dict[str, StoredDataFunction] = {}


@dataclass(frozen=True, slots=True)
class Taken:
    """What a message leads to: a job to run, if any, and the named jobs that need messages of their own."""

    claim: Claim | None = None
    left: Sequence[str] = ()


@dataclass(slots=True)
class _Group:
    """What a transaction did: the jobs that it took, settled and claimed.

    If it took none, `refused` is why it could not take those that the messages name.
    """

    taken: list[Claim] = field(default_factory=list)
    settled: list[tuple[Claim, JobResult]] = field(default_factory=list)
    claimed: list[Claim] = field(default_factory=list)
    refused: Mapping[str, Refusal] = field(default_factory=dict)

    def left(self, messages: Sequence[Sequence[str]]) -> Iterator[tuple[int, Sequence[str]]]:
        """Yield the number of each message that names jobs which are not settled, with these jobs."""
        settled = {claim.job_id for claim, _result in self.settled}
        for index, named in enumerate(messages):
            if ids := [job_id for job_id in named if job_id not in settled]:
                yield index, ids


class _Again(Enum):
    """A message has led to nothing yet: other jobs came first, or another process has locked its jobs."""

    AT_ONCE = "at once"
    LATER = "later"


class Claimer:
    """Takes the jobs of a queue."""

    def __init__(self, queue: Queue, services: WorkerServices) -> None:
        self._queue, self._services = queue, services
        self._limit = MAX_GROUP if queue is Queue.INTERACTIVE else 1
        self._last_served = ""
        self._settled, self._suspects = _RecentIds(), _RecentIds()
        self._together = Grouped(self._take_all, name="settlement", size=MAX_GROUP)

    def take(self, job_ids: Sequence[str]) -> Taken:
        """Take a job for a message that names these jobs, after settling those that stored data resolves.

        Raises:
            Unavailable: the database is unavailable.

        """
        pause = FIRST_PAUSE
        while (left := self._settled.missing(job_ids)) and pause < MAX_PAUSE:
            taken = self._together(left)
            if isinstance(taken, Taken):
                return taken
            if taken is _Again.LATER:
                time.sleep(pause)
                pause *= 2
        return Taken()

    def _take_all(self, messages: Sequence[Sequence[str]]) -> list[Taken | _Again]:
        """Take a group; a message must try again if other jobs came first."""
        group = self._take_group(messages)
        results: list[Taken | _Again] = [_Again.AT_ONCE] * len(messages)
        left = dict(group.left(messages))
        for claim in group.claimed:
            index = _recipient(left, claim)
            results[index] = Taken(claim, _without(left.pop(index), claim.job_id))
        for index, ids in () if group.taken else left.items():
            if any(group.refused[job_id] is Refusal.LOCKED for job_id in ids):
                results[index] = _Again.LATER
            else:
                results[index] = Taken()
                self._count(ids, group.refused)
        return results

    def _count(self, job_ids: Sequence[str], refused: Mapping[str, Refusal]) -> None:
        """Count why a message led to no job."""
        for job_id in job_ids:
            self._services.refused[refused[job_id].value] += 1
            log.info("message refused", job=job_id, reason=refused[job_id].value)

    def _take_group(self, messages: Sequence[Sequence[str]]) -> _Group:
        """Take a group; if that fails, take one in which its jobs are only claimed."""
        started, group = time.monotonic(), _Group()
        try:
            self._take_in_transaction(messages, group)
        except Exception as error:  # noqa: BLE001 -- rolled back; the next attempt raises what does not go away
            log.info("jobs not settled together", jobs=len(group.taken), error=type(error).__name__)
            self._suspects.add(claim.job_id for claim in group.taken)
            group = _Group()
            self._take_in_transaction(messages, group)
        self._report(group.settled, started)
        return group

    def _take_in_transaction(self, messages: Sequence[Sequence[str]], group: _Group) -> None:
        settings, now = self._services.settings, database_clock.now()
        lease, limit = timedelta(seconds=settings.lease_seconds), settings.max_crashes
        claiming: dict[str, Any] = {"lease": lease, "max_crashes": limit, "now": now}
        named = [job_id for ids in messages for job_id in ids]
        with self._services.database.transaction() as session:
            group.taken = scheduling.take(
                session,
                self._queue,
                job_ids=named,
                last_served=self._last_served,
                limit=max(self._limit, len(messages)),
                max_crashes=limit,
                now=now,
            )
            with limited_locks(session, LOCK_SECONDS) if len(group.taken) > 1 else nullcontext():
                group.settled = list(self._from_stored(session, group.taken))
                results = [one for one in group.settled if one[1].error is None]
                leases.settle_all(session, results, now=now)
                failed = {claim.job_id: result for claim, result in group.settled if result.error}
                for claim in claims.claim_all(session, list(failed), **claiming):
                    leases.settle(session, claim, failed[claim.job_id], now=now)
            settled = {claim.job_id for claim, _result in group.settled}
            others = [claim.job_id for claim in group.taken if claim.job_id not in settled]
            waiting = len(list(group.left(messages)))
            group.claimed = claims.claim_all(session, others[:waiting], **claiming)
            if not group.taken:
                group.refused = claims.refusal_reasons(session, named, queue=self._queue, now=now)
        self._settled.add(settled)
        if served := [claim for claim, _result in group.settled] + group.claimed:
            self._last_served = served[-1].workspace_id

    def _from_stored(self, session: Session, taken: Sequence[Claim]) -> Iterator[tuple[Claim, JobResult]]:
        """Yield the results of those jobs that stored data resolves.

        A job that was run before is left out, and one that was moved to another queue: it needs a provider.
        """
        by_function: dict[StoredDataFunction, list[Claim]] = defaultdict(list)
        suspects = self._suspects.known(claim.job_id for claim in taken)
        for claim in taken:
            resolve = FROM_STORED.get(claim.kind)
            is_first = claim.is_first and claim.queue is KINDS[claim.kind].queue
            if resolve is not None and is_first and claim.job_id not in suspects:
                by_function[resolve].append(claim)
        for resolve, group in by_function.items():
            results = resolve(session, group, self._services)
            for claim, result in zip(group, results, strict=True):
                if result is not None:
                    yield claim, result

    def _report(self, settled: Sequence[tuple[Claim, JobResult]], started: float) -> None:
        """Log the settled jobs, and notify the requests that wait for them."""
        self._services.notifier.notify([claim.job_id for claim, _result in settled])
        for claim, result in settled:
            with log_fields(claim), job_span(claim, self._services.settings, since=started):
                log.info("job settled", outcome=result.code, ms=clock.milliseconds_since(started))


def of(services: WorkerServices, queue: Queue) -> Claimer:
    """Return the claimer of a queue in this process."""
    if (claimer := services.claimers.get(queue)) is None:
        claimer = services.claimers.setdefault(queue, Claimer(queue, services))
    return claimer


def log_fields(claim: Claim) -> AbstractContextManager[None]:
    """Add the job to each line of the log in this block, and the HTTP request that submitted it."""
    submitted_by = {REQUEST_ID: claim.request[REQUEST_ID]} if REQUEST_ID in claim.request else {}
    return structlog.contextvars.bound_contextvars(job=claim.job_id, kind=claim.kind, **submitted_by)


def job_span(claim: Claim, settings: Settings, *, since: float) -> AbstractContextManager[object]:
    """Record a span of the job, below the request that submitted it; `since` is of the monotonic clock."""
    attributes = {"job.id": claim.job_id, "job.kind": claim.kind, "job.queue": claim.queue.value}
    started = time.time_ns() - round((time.monotonic() - since) * 1e9)
    parent = trace_links.parent_of(settings.redis_url, claim.job_id)
    return tracing.span(f"job {claim.kind}", attributes, parent=parent, started=started, serves=True)


def _recipient(messages: dict[int, Sequence[str]], claim: Claim) -> int:
    """Return the message that gets the job: the one that names it, or else the first."""
    return next((index for index, ids in messages.items() if claim.job_id in ids), next(iter(messages)))


def _without(job_ids: Sequence[str], job_id: str) -> Sequence[str]:
    """Return the ids without this one; without the first if it is none of them, because a job was taken."""
    return [id_ for id_ in job_ids if id_ != job_id] if job_id in job_ids else job_ids[1:]


class _RecentIds:
    """Remembers the ids that were added last, at most `REMEMBERED`."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, ids: Iterable[str]) -> None:
        with self._lock:
            self._ids.update(dict.fromkeys(ids))
            while len(self._ids) > REMEMBERED:
                self._ids.popitem(last=False)

    def known(self, ids: Iterable[str]) -> Collection[str]:
        """Return the ids that are remembered."""
        with self._lock:
            return {id_ for id_ in ids if id_ in self._ids}

    def missing(self, ids: Iterable[str]) -> Sequence[str]:
        """Return the ids that are not remembered."""
        with self._lock:
            return [id_ for id_ in ids if id_ not in self._ids]
