"""Webhooks: posts that a job is over, signed by the Standard Webhooks specification."""

from __future__ import annotations

import json
import time
from ipaddress import ip_network

from redis.exceptions import RedisError
from standardwebhooks import Webhook

from app.core.jobs import webhooks
from app.core.jobs.webhooks import AttemptResult, Delivery
from app.domain.kinds import DELIVER, Queue
from app.infra import database_clock, queue
from app.infra.circuit_breaker import CircuitOpen
from app.infra.log import log
from workers.execution import job_runner
from workers.execution.job_runner import WorkerServices
from workers.webhook_client import DeliveryError, WebhookClient

FULL_QUEUE = 100
"""Messages beyond which more would only make a long queue longer: receivers are slow, or workers few."""


@queue.celery.task(name=DELIVER)
def deliver(webhook_id: str) -> None:
    """Try to deliver once; if that fails, the row says when to try again."""
    services = job_runner.services()
    try:
        post(webhook_id, services, WebhookClient(tuple(map(ip_network, services.settings.webhook_networks))))
    except Exception as error:  # noqa: BLE001 -- the last net of the thread
        # Celery would print the text of an exception, and texts quote values. When the attempt's lease has
        # run out, the webhook is due again.
        log.error("webhook left behind", webhook=webhook_id, exc_info=error)


def post(webhook_id: str, services: WorkerServices, door: WebhookClient) -> None:
    """Post what the webhook is about, with no transaction open; write it down before and after."""
    with services.database.transaction() as session:
        delivery = webhooks.begin(session, webhook_id, now=database_clock.now())
    if delivery is None:
        return
    ending = _attempt(delivery, door)
    with services.database.transaction() as session:
        webhooks.finish(session, delivery, ending, now=database_clock.now())
    log.info(
        "webhook posted",
        webhook=webhook_id,
        status=ending.status,
        error=ending.error,
        ms=ending.latency_ms,
    )


def send_due(services: WorkerServices) -> None:
    """Hand the webhooks that are due to the workers."""
    with services.database.reading() as session:
        if not webhooks.any_due(session, now=database_clock.now()):
            return
    if _is_full(services):
        return
    with services.database.transaction() as session:
        taken = webhooks.claim_due(session, now=database_clock.now())
    services.publisher.push(DELIVER, Queue.UPKEEP, taken)


def _attempt(delivery: Delivery, door: WebhookClient) -> AttemptResult:
    """Sign and post; the time that is signed is that of the attempt."""
    body = json.dumps(delivery.payload)
    headers = {
        "Content-Type": "application/json",
        "Webhook-Id": delivery.id,
        "Webhook-Timestamp": str(int(delivery.at.timestamp())),
        "Webhook-Signature": Webhook(delivery.secret).sign(delivery.id, delivery.at, body),
    }
    started = time.monotonic()
    try:
        answer = door.post(delivery.url, body.encode(), headers)
    except DeliveryError as unreached:
        return AttemptResult(error=unreached.reason, latency_ms=_since(started))
    return AttemptResult(status=answer.status, retry_after=answer.retry_after, latency_ms=_since(started))


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _is_full(services: WorkerServices) -> bool:
    """Tell whether sending would not help: too much waits already, or Redis is away."""
    try:
        return services.publisher.depth(Queue.UPKEEP) > FULL_QUEUE
    except (RedisError, OSError, CircuitOpen):
        return True
