"""Publishes a message for each row that is due, as long as the queue of maintenance is not full."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.domain.kinds import Queue
from app.infra.database import database_clock
from workers.execution.worker_services import WorkerServices

FULL_QUEUE = 100
"""Queue length above which nothing is published: receivers are slow, or workers few."""


def publish(
    services: WorkerServices,
    task: str,
    *,
    any_due: Callable[..., bool],
    claim_due: Callable[..., Sequence[str]],
    full: int = FULL_QUEUE,
) -> None:
    """Publish messages of the task for rows that are due.

    `any_due` is a cheap query. `claim_due` marks the rows as published and returns their ids. Above a length
    of `full`, the queue counts as full.
    """
    with services.database.reading() as session:
        if not any_due(session, now=database_clock.now()):
            return
    if is_full(services, full):
        return
    with services.database.transaction() as session:
        claimed = claim_due(session, now=database_clock.now())
    services.publisher.push(task, Queue.UPKEEP, claimed)


def is_full(services: WorkerServices, full: int = FULL_QUEUE) -> bool:
    """Return whether the queue is full or the broker is unavailable."""
    return services.publisher.is_full(Queue.UPKEEP, full)
