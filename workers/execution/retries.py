"""What becomes of a job that is not resolved: requeued with a delay, moved to another queue, or failed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from app.domain.errors import ContactNotFound, Problem, ProviderFailed
from app.domain.kinds import Queue
from app.engine.jobs import leases, provider_calls
from app.engine.jobs.claims import Claim
from app.infra.database import database_clock
from workers.execution.worker_services import WorkerServices

BACKOFF_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 60.0
MAX_SNOOZE_SECONDS = 600.0
"""Longest time between two polls of a pending result; well below the job deadline."""


class RetryLater(Exception):  # noqa: N818 -- a control-flow signal, not an error
    """The job cannot be resolved now and is requeued.

    `after` is the delay in seconds, None for the default backoff. With `snooze` the job only waits for a
    pending result, which does not count as an attempt. With `outage` it waits until a provider may be called
    again, which does not count as an attempt either. `problem` is the error of the job when its attempts are
    spent, `trace` the provider calls made.
    """

    def __init__(
        self,
        trace: tuple[dict[str, Any], ...] = (),
        *,
        after: float | None = None,
        snooze: bool = False,
        outage: bool = False,
        problem: Problem | None = None,
    ) -> None:
        self.trace = trace
        self.after = after
        self.snooze = snooze or outage
        self.outage = outage
        self.problem = problem or ProviderFailed()
        super().__init__()


class MoveToQueue(Exception):  # noqa: N818 -- a control-flow signal, not an error
    """The job continues in `queue` without delay; this does not count as an attempt."""

    def __init__(self, queue: Queue, trace: tuple[dict[str, Any], ...] = ()) -> None:
        self.queue = queue
        self.trace = trace
        super().__init__()


@contextmanager
def after_deletion(trace: Sequence[dict[str, Any]]) -> Iterator[None]:
    """Retry the job if a contact that this block stores values with was deleted during the provider calls.

    The next run finds or stores the contact again, with the replies that are stored already, or fails if the
    request has the id of the contact.

    Raises:
        RetryLater: the contact was deleted.

    """
    try:
        yield
    except ContactNotFound as error:
        raise RetryLater(tuple(trace), after=0, snooze=True) from error


def reschedule(claim: Claim, retry: RetryLater, services: WorkerServices) -> str:
    """Requeue the job with full-jitter backoff, or fail it if its attempts are spent."""
    if claim.attempts >= services.settings.max_attempts and not retry.snooze:
        return fail(claim, retry.problem, services, trace=retry.trace)
    ceiling = min(MAX_BACKOFF_SECONDS, BACKOFF_SECONDS * 2**claim.attempts)
    seconds = random.uniform(0, ceiling)  # noqa: S311 -- jitter
    if retry.after is not None:
        seconds = min(retry.after, MAX_SNOOZE_SECONDS if retry.snooze else MAX_BACKOFF_SECONDS)
    with services.database.transaction() as session:
        run_after = database_clock.now() + timedelta(seconds=seconds)
        leases.requeue(
            session, claim, trace=retry.trace, run_after=run_after, counts_as_attempt=not retry.snooze
        )
    return "later"


def move_to_queue(claim: Claim, move: MoveToQueue, services: WorkerServices) -> None:
    """Requeue the job in the queue, without counting an attempt."""
    with services.database.transaction() as session:
        leases.move_to_queue(session, claim, move.queue, trace=move.trace, now=database_clock.now())


def fail(
    claim: Claim, problem: Problem, services: WorkerServices, *, trace: tuple[dict[str, Any], ...] = ()
) -> str:
    """Fail the job with the problem; return its code."""
    with services.database.transaction() as session:
        leases.fail(session, claim, problem.as_dict(), trace=trace, now=database_clock.now())
        provider_calls.purge_replies(session, claim.job_id)
    return problem.code
