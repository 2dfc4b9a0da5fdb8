"""Delivers webhooks for finished jobs, signed as the Standard Webhooks specification defines."""

from __future__ import annotations

import time
from functools import partial
from ipaddress import ip_network

from standardwebhooks import Webhook

from app.domain.errors import Unavailable
from app.domain.kinds import DELIVER
from app.features.webhooks import attempts, message_bodies
from app.features.webhooks import delivery as webhooks
from app.features.webhooks.delivery import AttemptResult, Delivery
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.telemetry.log import log
from app.settings import Settings
from workers.execution import maintenance
from workers.execution.feature import Purge, WorkPart
from workers.execution.worker_services import WorkerServices
from workers.webhook_client import DeliveryError, WebhookClient

FULL_QUEUE = 50
"""Queue length above which no deliveries are published: receivers are slow, or workers few.

Uploads, imports and CRM pushes have twice the limit, so that deliveries leave room for them.
"""


@maintenance.task(DELIVER)
def deliver(webhook_id: str, services: WorkerServices) -> None:
    """Attempt one delivery; if it fails, the row holds the time of the next attempt."""
    post(webhook_id, services, WebhookClient(tuple(map(ip_network, services.settings.webhook_networks))))


def post(webhook_id: str, services: WorkerServices, client: WebhookClient) -> None:
    """Post a webhook with no transaction open, and record the attempt before and after."""
    try:
        with services.database.transaction() as session:
            delivery = webhooks.begin(session, webhook_id, now=database_clock.now())
            body = _body(delivery, services.settings) if delivery else ""
    except Unavailable:
        raise
    except Exception:  # its payload cannot be made; then the attempt counts, too, and the retries end
        with services.database.transaction() as session:
            webhooks.fail(session, webhook_id, now=database_clock.now())
        raise
    if delivery is None:
        return
    attempt = _attempt(delivery, body, client)
    with services.database.transaction() as session:
        webhooks.finish(session, delivery, attempt, now=database_clock.now())
    log.info(
        "webhook posted",
        webhook=webhook_id,
        status=attempt.status,
        error=attempt.error,
        ms=attempt.latency_ms,
    )


def wake_finished(services: WorkerServices) -> None:
    """Make the deliveries due whose job has finished."""
    with services.database.reading() as session:
        if not webhooks.any_finished(session):
            return
    with services.database.transaction() as session:
        webhooks.wake_finished(session, now=database_clock.now())


def _body(delivery: Delivery, settings: Settings) -> str:
    return message_bodies.body(delivery.payload, delivery.form, public_url=settings.public_url)


def _attempt(delivery: Delivery, body: str, client: WebhookClient) -> AttemptResult:
    """Sign and post; the signed timestamp is the time of the attempt."""
    headers = {
        "Content-Type": "application/json",
        "Webhook-Id": delivery.id,
        "Webhook-Timestamp": str(int(delivery.signed_at.timestamp())),
        "Webhook-Signature": Webhook(delivery.secret).sign(delivery.id, delivery.signed_at, body),
    }
    started = time.monotonic()
    try:
        response = client.post(delivery.url, body.encode(), headers)
    except DeliveryError as error:
        return AttemptResult(error=error.reason, latency_ms=clock.milliseconds_since(started))
    return AttemptResult(
        status=response.status, retry_after=response.retry_after, latency_ms=clock.milliseconds_since(started)
    )


def _purges(_settings: Settings, now: Moment) -> tuple[Purge, ...]:
    return partial(attempts.purge_expired, now=now), webhooks.purge_deleted


WORK = WorkPart(sweeps=(wake_finished,), purges=_purges)
