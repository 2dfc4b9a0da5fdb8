"""Runs a job: claim it, resolve it with no transaction open, settle it, notify.

A job function is registered with `@job(kind)`. It receives the claim and returns a `Resolution`, whose
`settle` method stores the result in the settling transaction. A kind that stored data may resolve also has a
`from_stored` function: at the first claim of a job it may return the result, and the job is claimed and
settled in one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

import structlog
from celery import Task

from app.domain.errors import InternalError, Problem, Unavailable
from app.domain.kinds import KINDS, Queue
from app.engine.jobs import claims, leases, provider_calls, scheduling, sweeper
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import REQUEST_ID
from app.engine.jobs.leases import JobResult
from app.engine.work.turns import LeaseLost
from app.infra import clock
from app.infra.broker import celery_app
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry import trace_links, tracing
from app.infra.telemetry.log import log
from app.settings import Settings
from workers.execution import retries, worker_services
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
TryClaim: TypeAlias = Callable[..., Claim | None]
StoredDataFunction: TypeAlias = Callable[[Session, Claim, Settings], JobResult | None]
JOBS: dict[str, JobFunction] = {}
FROM_STORED: dict[str, StoredDataFunction] = {}
JOB_BY_TASK: dict[str, str] = {}
"""The job that each Celery task of this process runs, which may be another than its message names.

Empty in the parent process of a prefork pool.
"""
_last_served: dict[Queue, str] = {}
"""The workspace of the last job that this process claimed from each queue."""


def job(kind: str, *, from_stored: StoredDataFunction | None = None) -> Callable[[JobFunction], JobFunction]:
    """Register the job function of a kind as the Celery task of the same name."""

    def register(work: JobFunction) -> JobFunction:
        JOBS[kind] = work
        if from_stored is not None:
            FROM_STORED[kind] = from_stored

        def task(self: Task, job_id: str) -> None:
            request = self.request
            try:
                run_next(
                    Queue(request.delivery_info["routing_key"]), job_id, request.id, worker_services.current()
                )
            except Exception as error:  # noqa: BLE001 -- nothing above catches it
                # Celery would log the exception's text, which may contain personal data. The job's lease
                # expires, and the sweeper publishes it again.
                log.error("job abandoned", job=JOB_BY_TASK.get(request.id, job_id), exc_info=error)
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


def run_next(source: Queue, job_id: str, task_id: str, services: WorkerServices) -> None:
    """Claim the next job of the queue, in fair order between workspaces, and run it.

    `job_id` is the job that the message names; another one may be due first.
    """
    last_served = _last_served.get(source, "")
    try_claim = partial(scheduling.claim_next, queue=source, job_id=job_id, last_served=last_served)
    started = time.time_ns()
    try:
        claim, is_settled = _claim(services, job_id, try_claim, use_stored=True)
    except Exception as error:  # noqa: BLE001 -- the claim was rolled back too; the next one handles the error
        log.info("job not settled with its claim", job=job_id, error=type(error).__name__)
        claim, is_settled = _claim(services, job_id, try_claim)
    if claim is None:
        return
    _last_served[source] = claim.workspace_id
    attributes = {"job.id": claim.job_id, "job.kind": claim.kind, "job.queue": claim.queue.value}
    parent = trace_links.parent_of(services.settings.redis_url, claim.job_id)
    with tracing.span(f"job {claim.kind}", attributes, parent=parent, started=started, serves=True):
        if is_settled:
            services.notifier.notify(claim.job_id)
            return
        JOB_BY_TASK[task_id] = claim.job_id
        _work_on(claim, JOBS[claim.kind], services)


def run(job_id: str, work: JobFunction, services: WorkerServices) -> None:
    """Claim this job and run it; do nothing if it cannot be claimed."""
    claim, _is_settled = _claim(services, job_id, partial(claims.claim, job_id=job_id))
    if claim is not None:
        _work_on(claim, work, services)


def _work_on(claim: Claim, work: JobFunction, services: WorkerServices) -> None:
    started = time.monotonic()
    with _log_fields(claim):
        try:
            outcome = _resolve_and_settle(claim, work, services)
        except MoveToQueue as move:
            _move_to_queue(claim, move, services)
            return
        except LeaseLost:
            log.warning("lease lost, result discarded")
            return
        log.info("job settled", outcome=outcome, ms=clock.milliseconds_since(started))
    services.notifier.notify(claim.job_id)


def _log_fields(claim: Claim) -> AbstractContextManager[None]:
    """Add the job to each line of the log in this block, and the HTTP request that submitted it."""
    submitted_by = {REQUEST_ID: claim.request[REQUEST_ID]} if REQUEST_ID in claim.request else {}
    return structlog.contextvars.bound_contextvars(job=claim.job_id, kind=claim.kind, **submitted_by)


def _claim(
    services: WorkerServices, job_id: str, try_claim: TryClaim, *, use_stored: bool = False
) -> tuple[Claim | None, bool]:
    """Claim a job, or count the reason why the job named in the message cannot be claimed.

    Return the claim, and whether the job is settled: with `use_stored`, it is settled in the same transaction
    if stored data resolves it.
    """
    settings, now, started = services.settings, database_clock.now(), time.monotonic()
    lease = timedelta(seconds=settings.lease_seconds)
    result = refusal = None
    with services.database.transaction() as session:
        claim = try_claim(session, lease=lease, max_crashes=settings.max_crashes, now=now)
        if claim is None:
            refusal = claims.refusal_reason(session, job_id, now=now)
        elif use_stored:
            result = _settle_from_stored(session, claim, settings)
    if refusal is not None:
        services.refused[refusal.value] += 1
        log.info("message refused", job=job_id, reason=refusal.value)
    if claim is not None and result is not None:
        with _log_fields(claim):
            log.info("job settled", outcome=result.code, ms=clock.milliseconds_since(started))
    return claim, result is not None


def _settle_from_stored(session: Session, claim: Claim, settings: Settings) -> JobResult | None:
    """Settle the job if stored data resolves it; a job that was moved to another queue needs a provider."""
    resolve = FROM_STORED.get(claim.kind)
    if resolve is None or not claim.is_first or claim.queue is not KINDS[claim.kind].queue:
        return None
    result = resolve(session, claim, settings)
    if result is not None:
        leases.settle(session, claim, result, now=database_clock.now())
    return result


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
    """Requeue the job in the target queue and publish its message; if Redis is down, the sweeper does."""
    try:
        persist(partial(retries.move_to_queue, claim, move, services))
    except LeaseLost:
        log.warning("lease lost, result discarded")
        return
    log.debug("job moved to queue", queue=move.queue.value)
    if not services.publisher.push(claim.kind, move.queue, [claim.job_id]):
        with services.database.transaction() as session:
            sweeper.mark_unpublished(session, [claim.job_id])
