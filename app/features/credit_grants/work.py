"""Makes the monthly grants that are due, in each sweep; any number of workers may do it at once."""

from __future__ import annotations

from functools import partial

from app.engine.ledger import credit_schedules
from app.engine.ledger.credit_schedules import Due
from app.infra.telemetry.log import log
from workers.execution import maintenance
from workers.execution.feature import WorkPart
from workers.execution.worker_services import WorkerServices


def grant_due(services: WorkerServices) -> None:
    """Make the grants that are due, each in a transaction of its own, until none is or none can be made."""
    before: list[Due] = []
    while (found := _due(services)) and found != before:
        for one in found:
            maintenance.attempt(partial(_grant, services, one), step="credit grant")
        before = found


def _due(services: WorkerServices) -> list[Due]:
    with services.database.reading() as session:
        return credit_schedules.due(session)


def _grant(services: WorkerServices, one: Due) -> None:
    with services.database.transaction() as session:
        turn = credit_schedules.grant(session, one)
    if turn is not None:
        log.info("credits granted", workspace=one.workspace_id, granted=turn.granted, expired=turn.expired)


WORK = WorkPart(sweeps=(grant_due,))
