"""What every job goes through: claim, resolve with no transaction open, settle; then ring.

A job function is registered with `@job(kind)`. It is given its claim, finds out what it needs, and returns
a resolution: what to write in the settling transaction, and the answer that comes of it.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeAlias, TypeVar

import structlog
from sqlalchemy.orm import Session

from app.core.jobs import leases, provider_calls, scheduling, sweeper
from app.core.jobs.leases import Claim, JobResult, LeaseLost
from app.domain.errors import InternalError, Problem, ProviderFailed, Unavailable
from app.domain.kinds import Kind, Queue
from app.infra import database_clock, queue
from app.infra.db import Database
from app.infra.job_notifications import JobNotifier
from app.infra.log import log
from app.infra.queue import JobPublisher
from app.settings import Settings
from workers.execution.current_jobs import JOB_BY_TASK

DATABASE_RETRY_DELAYS = (0.2, 1.0, 3.0)
"""Seconds after which a database that was away is tried again, before the job is left to its lease."""
BACKOFF_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 60.0
MAX_SNOOZE_SECONDS = 600.0
"""A job looks again at least so often at what it waits for, well before its deadline."""

Written = TypeVar("Written")
Resolution: TypeAlias = Callable[[Session, datetime], JobResult]


class RetryLater(Exception):  # noqa: N818 -- it is a wish, not a mistake
    """The job cannot be answered now; `after` says in how many seconds it may be worth another try.

    `snooze` says that nothing went wrong, somebody needs time: that spends none of the job's tries.
    `problem` is what the job ends with when they are spent.
    """

    def __init__(
        self,
        trace: tuple[dict[str, Any], ...] = (),
        *,
        after: float | None = None,
        snooze: bool = False,
        problem: Problem | None = None,
    ) -> None:
        self.trace = trace
        self.after = after
        self.snooze = snooze
        self.problem = problem or ProviderFailed()
        super().__init__()


class HandOver(Exception):  # noqa: N818 -- it is a wish, not a mistake
    """The job goes on at once in another thread, that of `queue`; this spends none of its tries."""

    def __init__(self, queue: Queue, trace: tuple[dict[str, Any], ...] = ()) -> None:
        self.queue = queue
        self.trace = trace
        super().__init__()


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """What a worker process was put together from, and how many messages it refused, by reason."""

    settings: Settings
    database: Database
    publisher: JobPublisher
    notifier: JobNotifier
    refused: Counter[str] = field(default_factory=Counter)


JobFunction: TypeAlias = Callable[[Claim, WorkerServices], Resolution]
JOBS: dict[Kind, JobFunction] = {}
_last_served: dict[Queue, str] = {}
"""The workspace of each queue's last claim in this process."""
_current: list[WorkerServices] = []
_parents: list[WorkerServices] = []


def configure(settings: Settings) -> WorkerServices:
    """Put this process's machines together, once; later calls give the same."""
    if not _current:
        _current.append(
            WorkerServices(
                settings,
                Database(settings.database_url),
                JobPublisher(settings.redis_url),
                JobNotifier(settings.redis_url),
            )
        )
    return _current[0]


def reconfigure_after_fork(settings: Settings) -> WorkerServices:
    """Put together machines of its own for a process that was forked; the parent's are kept, but not used.

    Were they let go, their connections would be closed under the parent.
    """
    _parents.extend(_current)
    _current.clear()
    return configure(settings)


def services() -> WorkerServices:
    """Give this process's machines; they were put together when it started."""
    return _current[0]


def job(kind: Kind) -> Callable[[JobFunction], JobFunction]:
    """Register the function that resolves this kind of job, as the Celery task of the same name."""

    def register(work: JobFunction) -> JobFunction:
        JOBS[kind] = work

        def task(self: Any, job_id: str) -> None:  # noqa: ANN401 -- Celery's Task
            request = self.request
            try:
                run_next(Queue(request.delivery_info["routing_key"]), job_id, request.id, services())
            except Exception as error:  # noqa: BLE001 -- the last net of the thread
                # Celery would print the text of an exception, and texts quote values. The job's lease
                # runs out, and the sweeper gives it to another worker.
                log.error("job left behind", job=JOB_BY_TASK.get(request.id, job_id), exc_info=error)
            finally:
                JOB_BY_TASK.pop(request.id, None)

        queue.celery.task(task, name=kind.value, bind=True)
        return work

    return register


def persist(write: Callable[[], Written]) -> Written:
    """Write down what was found out, also if the database is away for a moment; it has been paid for.

    A write whose commit was carried out, and only its answer lost, finds its lease gone: `LeaseLost`.

    Raises:
        Unavailable: the database stayed away.

    """
    for seconds in DATABASE_RETRY_DELAYS:
        try:
            return write()
        except Unavailable:
            time.sleep(seconds)
    return write()


def run_next(source: Queue, job_id: str, task_id: str, services: WorkerServices) -> None:
    """Run the job whose turn it is in the queue that a message came from; `job_id` is the one it names."""
    served = _last_served.get(source, "")
    claim = _claim(
        services, job_id, partial(scheduling.claim_next, queue=source, job_id=job_id, served=served)
    )
    if claim is None:
        return
    _last_served[source] = claim.workspace_id
    JOB_BY_TASK[task_id] = claim.job_id
    _work_on(claim, JOBS[claim.kind], services)


def run(job_id: str, work: JobFunction, services: WorkerServices) -> None:
    """Claim the job, do its work, settle it, ring; a job that is not to be had now is left alone."""
    claim = _claim(services, job_id, partial(leases.claim, job_id=job_id))
    if claim is not None:
        _work_on(claim, work, services)


def _work_on(claim: Claim, work: JobFunction, services: WorkerServices) -> None:
    started = time.monotonic()
    with structlog.contextvars.bound_contextvars(job=claim.job_id, kind=claim.kind.value):
        try:
            ended = _resolve_and_settle(claim, work, services)
        except HandOver as over:
            _hand_over(claim, over, services)
            return
        except LeaseLost:
            log.warning("lease lost, work thrown away")
            return
        log.info("job handed in", outcome=ended, ms=round((time.monotonic() - started) * 1000))
    services.notifier.notify(claim.job_id)


def _claim(services: WorkerServices, job_id: str, claim_one: Callable[..., Claim | None]) -> Claim | None:
    """Claim a job; where that fails, count why the job that the message names could not be had."""
    settings, now = services.settings, database_clock.now()
    lease = timedelta(seconds=settings.lease_seconds)
    with services.database.transaction() as session:
        claim = claim_one(session, lease=lease, max_crashes=settings.max_crashes, now=now)
        refusal = None if claim else leases.refusal(session, job_id, now=now)
    if refusal is not None:
        services.refused[refusal.value] += 1
        log.info("message refused", job=job_id, reason=refusal.value)
    return claim


def _resolve_and_settle(claim: Claim, work: JobFunction, services: WorkerServices) -> str:
    try:
        resolution = work(claim, services)
        answer = persist(partial(_settle, claim, resolution, services))
    except RetryLater as later:
        return persist(partial(_reschedule, claim, later, services))
    except (HandOver, LeaseLost, Unavailable):
        raise
    except Problem as problem:
        return persist(partial(_fail, claim, problem, services))
    except Exception as error:  # noqa: BLE001 -- one job's bug must not leave it hanging
        log.error("job raised", exc_info=error)
        return persist(partial(_reschedule, claim, RetryLater(problem=InternalError()), services))
    return answer.outcome.value


def _settle(claim: Claim, resolution: Resolution, services: WorkerServices) -> JobResult:
    with services.database.transaction() as session:
        now = database_clock.value(session)
        answer = resolution(session, now)
        leases.settle(session, claim, answer, now=database_clock.now())
        provider_calls.purge_replies(session, claim.job_id)
    return answer


def _reschedule(claim: Claim, later: RetryLater, services: WorkerServices) -> str:
    """Put the job back with a full-jitter backoff, or fail it when its attempts are spent."""
    if claim.attempts >= services.settings.max_attempts and not later.snooze:
        return _fail(claim, later.problem, services, trace=later.trace)
    ceiling = min(MAX_BACKOFF_SECONDS, BACKOFF_SECONDS * 2**claim.attempts)
    seconds = random.uniform(0, ceiling)  # noqa: S311 -- jitter
    if later.after is not None:
        seconds = min(later.after, MAX_SNOOZE_SECONDS if later.snooze else MAX_BACKOFF_SECONDS)
    with services.database.transaction() as session:
        run_after = database_clock.now() + timedelta(seconds=seconds)
        leases.requeue(
            session, claim, trace=later.trace, run_after=run_after, counts_as_attempt=not later.snooze
        )
    return "later"


def _hand_over(claim: Claim, over: HandOver, services: WorkerServices) -> None:
    """Queue the job anew and send its message; without Redis the sweeper sends it as soon as it can."""

    def queue_it() -> None:
        with services.database.transaction() as session:
            leases.hand_over(session, claim, over.queue, trace=over.trace, now=database_clock.now())

    try:
        persist(queue_it)
    except LeaseLost:
        log.warning("lease lost, work thrown away")
        return
    log.debug("job handed over", queue=over.queue.value)
    if not services.publisher.push(claim.kind.value, over.queue, [claim.job_id]):
        with services.database.transaction() as session:
            sweeper.mark_unpublished(session, [claim.job_id])


def _fail(
    claim: Claim, problem: Problem, services: WorkerServices, *, trace: tuple[dict[str, Any], ...] = ()
) -> str:
    with services.database.transaction() as session:
        leases.fail(session, claim, problem.as_dict(), trace=trace, now=database_clock.now())
        provider_calls.purge_replies(session, claim.job_id)
    return problem.code
