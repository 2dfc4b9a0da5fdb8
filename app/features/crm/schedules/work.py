"""Runs the schedules that are due: reads their lists, and enriches and pushes the people."""

from __future__ import annotations

from ipaddress import ip_network

from app.domain.kinds import Kind
from app.engine.work.turns import Turn
from app.features.crm.schedules import enrichment, runs
from app.features.crm.schedules.list_reading import ListReading
from app.features.crm.schedules.tables import SCHEDULING
from app.features.crm.vendors import registry
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from workers.execution import work
from workers.execution.worker_services import WorkerServices
from workers.webhook_client import WebhookClient


def give_up(turn: Turn, services: WorkerServices) -> None:
    """Stop a schedule at which every worker fails."""
    with services.database.transaction() as session:
        runs.give_up(session, turn, now=database_clock.now())


@work.task(SCHEDULING, on_exhausted=give_up)
def run_schedule(turn: Turn, services: WorkerServices) -> None:
    """Begin a run if one is due, or continue the one that is under way."""
    with services.database.transaction() as session:
        step = runs.begin(session, turn, now=database_clock.now())
    if step is None:
        return
    if step.access is not None:
        crm = registry.load(services.settings)[step.access.vendor]
        client = WebhookClient(tuple(map(ip_network, services.settings.webhook_networks)))
        ListReading(services.database, crm, step, step.access, client).run()
        return
    with services.database.transaction() as session:
        job_id = enrichment.advance(session, step, settings=services.settings, now=database_clock.now())
    if job_id is not None:
        services.publisher.publish(Kind.ENRICHMENT_REQUEST, [job_id])
        log.info("crm schedule continued", schedule=turn.id, job=job_id)
