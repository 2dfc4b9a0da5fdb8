"""Runs durable work: a task takes a turn at its item, and a step of the sweeper publishes what is due."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from app.domain.errors import Unavailable
from app.domain.kinds import Queue
from app.engine.work import items, turns
from app.engine.work.specs import SPECS, TURNS_FAILED, WorkSpec
from app.engine.work.turns import LeaseLost, Turn
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from workers.execution import maintenance
from workers.execution.worker_services import WorkerServices

TurnHandler: TypeAlias = Callable[[Turn, WorkerServices], object]


def _always(_services: WorkerServices) -> bool:
    return True


def give_up(turn: Turn, services: WorkerServices) -> None:
    """End the work as failed."""
    with services.database.transaction() as session:
        turns.fail(session, turn, TURNS_FAILED, now=database_clock.now())


def task(
    spec: WorkSpec,
    *,
    is_able: Callable[[WorkerServices], bool] = _always,
    on_exhausted: TurnHandler = give_up,
) -> Callable[[TurnHandler], Callable[[str, WorkerServices], None]]:
    """Register a function as the task of a kind of work.

    It receives the turn, and ends it. `is_able` is whether this process can do such work at all; if not, the
    message is ignored. `on_exhausted` ends work whose attempts are used up.
    """

    def register(handle: TurnHandler) -> Callable[[str, WorkerServices], None]:
        def run(work_id: str, services: WorkerServices) -> None:
            if is_able(services):
                _take_turn(spec, work_id, services, handle, on_exhausted)

        maintenance.task(spec.task)(run)
        return run

    return register


def _take_turn(
    spec: WorkSpec, work_id: str, services: WorkerServices, handle: TurnHandler, on_exhausted: TurnHandler
) -> None:
    with services.database.transaction() as session:
        turn = turns.begin(session, spec, work_id, now=database_clock.now())
    if turn is None:
        return
    try:
        if turn.is_exhausted:
            on_exhausted(turn, services)
            log.error("work given up", task=spec.task, id=work_id, attempts=turn.attempts - 1)
        else:
            handle(turn, services)
    except LeaseLost:
        log.info("turn lost", task=spec.task, id=work_id)
    except Unavailable:  # the next turn begins when the lease is over
        raise
    except Exception:  # logged by `maintenance.attempt`; the turn ends at once, not when its lease is over
        with suppress(LeaseLost), services.database.transaction() as session:
            turns.retry(session, turn, due_at=database_clock.now() + spec.retry_after)
        raise


def send_due(services: WorkerServices) -> None:
    """Publish a message for all work that is due, as long as the queue of maintenance is not full."""
    with services.database.reading() as session:
        due = items.due_tasks(session, now=database_clock.now())
    for spec in [SPECS[task] for task in due if task in SPECS]:
        if services.publisher.is_full(Queue.UPKEEP, spec.full_queue):
            continue
        with services.database.transaction() as session:
            claimed = items.claim_due(session, spec, now=database_clock.now())
        if claimed:
            services.publisher.push(spec.task, Queue.UPKEEP, claimed)
