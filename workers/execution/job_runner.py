"""Runs a job: claim it, resolve it with no transaction open, settle it, notify.

A job function is registered with `@job(kind)`. It receives the claim and returns a `Resolution`, whose
`settle` method stores the result in the settling transaction. A kind that stored data may resolve also has a
`from_stored` function of many claims: at their first claim it may return the results of some, and these are
settled in the transaction that would claim them (`claimer`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from celery import Task

from app.domain.errors import InternalError, Problem, Unavailable
from app.domain.kinds import Queue
from app.engine.jobs import claims, leases, provider_calls, sweeper
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.engine.work.turns import LeaseLost
from app.infra import clock
from app.infra.broker import celery_app
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from workers.execution import claimer, retries, worker_services
from workers.execution.claimer import StoredDataFunction
from workers.execution.retries import MoveToQueue, RetryLater
from workers.execution.worker_services import WorkerServices

DATABASE_RETRY_DELAYS = (0.2, 1.0, 3.0)
"""Seconds between attempts to reach the database; after the last, the job is left until its lease expires."""
Written = TypeVar("Written")


class Resolution(Protocol):
    """The outcome of a job function, before it is stored."""

    def settle(self, session: Session, now: datetime) -> JobResult:
        """Store the outcome and return the job's result; called again if the transaction is retried."""


JobFunction: TypeAlias = Callable[[Claim, WorkerServices], Resolution]
JOBS: dict[str, JobFunction] = {}
JOB_BY_TASK: dict[str, str] = {}
"""The job that each Celery task of this process runs, which may be another than its message names.

Empty in the parent process of a prefork pool.
"""


class Message(NamedTuple):
    """A message from a queue: the jobs that it names, all of this kind, and the id of its Celery task."""

    kind: str
    queue: Queue
    job_ids: Sequence[str]
    task_id: str


def job(kind: str, *, from_stored: StoredDataFunction | None = None) -> Callable[[JobFunction], JobFunction]:
    """Register the job function of a kind as the Celery task of the same name."""

    def register(work: JobFunction) -> JobFunction:
        JOBS[kind] = work
        if from_stored is not None:
            claimer.FROM_STORED[kind] = from_stored

        def task(self: Task, *job_ids: str) -> None:
            request = self.request
            queue = Queue(request.delivery_info["routing_key"])
            try:
                run_next(Message(kind, queue, job_ids, request.id), worker_services.current())
            except Exception as error:  # noqa: BLE001 -- nothing above catches it
                # Celery would log the exception's text, which may contain personal data. The job's lease
                # expires, and the sweeper publishes it again.
                log.error("job abandoned", job=JOB_BY_TASK.get(request.id, job_ids[0]), exc_info=error)
            finally:
                JOB_BY_TASK.pop(request.id, None)

        celery_app.celery.task(task, name=kind, bind=True)
        return work

    return register


def persist(write: Callable[[], Written]) -> Written:
    """Call `write`, retrying while the database is unavailable: the results it stores have been paid for.

    If a commit succeeded but its confirmation was lost, the retry raises `LeaseLost`.

    Raises:
        Unavailable: the database was unavailable at every attempt.

    """
    for seconds in DATABASE_RETRY_DELAYS:
        try:
            return write()
        except Unavailable:
            time.sleep(seconds)
    return write()


def run_next(message: Message, services: WorkerServices) -> None:
    """Take the next jobs of the queue, in fair order between workspaces, and run the one that is claimed.

    The message only says that there are jobs; others than those that it names may come first.
    """
    started = time.monotonic()
    taken = claimer.of(services, message.queue).take(message.job_ids)
    claim = taken.claim
    _publish(message.kind, message.queue, taken.left, services)
    if claim is None:
        return
    JOB_BY_TASK[message.task_id] = claim.job_id
    with claimer.job_span(claim, services.settings, since=started):
        _work_on(claim, JOBS[claim.kind], services)


def run(job_id: str, work: JobFunction, services: WorkerServices) -> None:
    """Claim this job and run it; do nothing if it cannot be claimed."""
    settings = services.settings
    lease, limit = timedelta(seconds=settings.lease_seconds), settings.max_crashes
    with services.database.transaction() as session:
        claim = claims.claim(session, job_id, lease=lease, max_crashes=limit, now=database_clock.now())
    if claim is not None:
        _work_on(claim, work, services)


def _work_on(claim: Claim, work: JobFunction, services: WorkerServices) -> None:
    started = time.monotonic()
    with claimer.log_fields(claim):
        try:
            outcome = _resolve_and_settle(claim, work, services)
        except MoveToQueue as move:
            _move_to_queue(claim, move, services)
            return
        except LeaseLost:
            log.warning("lease lost, result discarded")
            return
        log.info("job settled", outcome=outcome, ms=clock.milliseconds_since(started))
    services.notifier.notify([claim.job_id])


def _resolve_and_settle(claim: Claim, work: JobFunction, services: WorkerServices) -> str | None:
    try:
        resolution = work(claim, services)
        result = persist(partial(_settle, claim, resolution, services))
    except RetryLater as retry:
        return persist(partial(retries.reschedule, claim, retry, services))
    except (MoveToQueue, LeaseLost, Unavailable):
        raise
    except Problem as problem:
        return persist(partial(retries.fail, claim, problem, services))
    except Exception as error:  # noqa: BLE001 -- a bug must not leave its job running
        log.error("job raised", exc_info=error)
        return persist(partial(retries.reschedule, claim, RetryLater(problem=InternalError()), services))
    return result.code


def _settle(claim: Claim, resolution: Resolution, services: WorkerServices) -> JobResult:
    with services.database.transaction() as session:
        now = database_clock.value(session)
        result = resolution.settle(session, now)
        leases.settle(session, claim, result, now=database_clock.now())
        provider_calls.purge_replies(session, claim.job_id)
    return result


def _move_to_queue(claim: Claim, move: MoveToQueue, services: WorkerServices) -> None:
    """Requeue the job in the target queue and publish its message."""
    try:
        persist(partial(retries.move_to_queue, claim, move, services))
    except LeaseLost:
        log.warning("lease lost, result discarded")
        return
    log.debug("job moved to queue", queue=move.queue.value)
    _publish(claim.kind, move.queue, [claim.job_id], services)


def _publish(kind: str, queue: Queue, job_ids: Sequence[str], services: WorkerServices) -> None:
    """Send a message for each of the jobs; if the broker is down, the sweeper does."""
    if not services.publisher.push(kind, queue, job_ids):
        with services.database.transaction() as session:
            sweeper.mark_unpublished(session, job_ids)
