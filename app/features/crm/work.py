"""Works on CRM connections that are due: checks credentials, pushes contacts, and reads people."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache, partial
from ipaddress import ip_network

from app.domain.kinds import PUSH, READ_CRM
from app.engine.work.turns import LeaseLost
from app.features.crm import outbox, pushes
from app.features.crm.index import readings
from app.features.crm.schedules import listing
from app.features.crm.schedules import work as _schedules  # noqa: F401 -- its task is registered by the import
from app.features.crm.turn.reading import ReadingTurn
from app.features.crm.turn.turn import CrmTurn
from app.features.crm.vendors import registry
from app.features.crm.vendors.vendor import Crm
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.telemetry.log import log
from app.settings import Settings
from workers.execution import maintenance
from workers.execution.feature import Purge, WorkPart
from workers.execution.worker_services import WorkerServices
from workers.webhook_client import WebhookClient


@maintenance.task(PUSH)
def push(connection_id: str, services: WorkerServices) -> None:
    """Work on one connection; if that fails, it is due again when its lease ends."""
    client = WebhookClient(tuple(map(ip_network, services.settings.webhook_networks)))
    try:
        take_turn(connection_id, services, client)
        services.notifier.notify([connection_id])  # a request may wait for the check of new credentials
    except LeaseLost:
        log.info("crm turn lost", connection=connection_id)


def take_turn(connection_id: str, services: WorkerServices, client: WebhookClient) -> None:
    """Take the connection's lease, work on it for a while, and release it.

    Raises:
        LeaseLost: the lease was lost meanwhile, because the workspace connected again or the turn was slow.

    """
    with services.database.transaction() as session:
        turn = outbox.begin(session, connection_id, now=database_clock.now())
    if turn is not None:
        crm = registry.load(services.settings)[turn.vendor]
        CrmTurn(services.database, crm, turn, client).run()


@maintenance.task(READ_CRM)
def read(reading_id: str, services: WorkerServices) -> None:
    """Read the people of one CRM for a while; if that fails, it is due again when its lease ends."""
    client = WebhookClient(tuple(map(ip_network, services.settings.webhook_networks)))
    try:
        take_reading_turn(reading_id, services, client)
    except LeaseLost:
        log.info("crm reading lost", reading=reading_id)


def take_reading_turn(reading_id: str, services: WorkerServices, client: WebhookClient) -> None:
    """Take the lease of the reading, read for a while, and release it.

    Raises:
        LeaseLost: the workspace disconnected the CRM meanwhile, or the turn was slow.

    """
    with services.database.transaction() as session:
        turn = readings.begin(session, reading_id, now=database_clock.now())
    if turn is not None:
        crm = registry.load(services.settings)[turn.vendor]
        crm = _remembering(crm, turn.connection_id, turn.began)
        ReadingTurn(services.database, crm, turn, client).run()


@lru_cache(maxsize=100)
def _remembering(
    crm: Crm,
    connection_id: str,  # noqa: ARG001 -- the key
    began: datetime,  # noqa: ARG001 -- likewise
) -> Crm:
    """Return the CRM for the turns of one pass, so that owners and the like are not read in each of them."""
    return crm.for_turn()


def _purges(settings: Settings, now: Moment) -> tuple[Purge, ...]:
    before = now - timedelta(days=settings.job_retention_days)
    return (partial(pushes.purge_expired, before=before), partial(listing.purge_expired, before=before))


WORK = WorkPart(purges=_purges)
