"""Webhooks: posts that a job is over, signed by the Standard Webhooks specification."""

from __future__ import annotations

import json

import httpx2
from standardwebhooks import Webhook

from app.core import webhooks
from app.domain.kinds import DELIVER, Queue
from app.infra import clock, queue
from app.infra.log import log
from workers import base
from workers.base import Machines
from workers.http import Door, Refused

OK = range(200, 300)


@queue.celery.task(name=DELIVER)
def deliver(webhook_id: str) -> None:
    """Try to deliver once; if that fails, the row says when to try again."""
    post(webhook_id, base.machines(), Door())


def post(webhook_id: str, machines: Machines, door: Door) -> None:
    """Sign and post what the webhook is about, with no transaction open, and write down that it was taken."""
    with machines.database.reading() as session:
        delivery = webhooks.delivery(session, webhook_id)
    if delivery is None:
        return
    now = clock.now()
    body = json.dumps(delivery.payload)
    headers = {
        "Content-Type": "application/json",
        "Webhook-Id": delivery.id,
        "Webhook-Timestamp": str(int(now.timestamp())),
        "Webhook-Signature": Webhook(delivery.secret).sign(delivery.id, now, body),
    }
    try:
        status = door.post(delivery.url, body.encode(), headers)
    except (Refused, httpx2.HTTPError) as error:
        log.warning("webhook not delivered", webhook=webhook_id, error=type(error).__name__)
        return
    log.info("webhook posted", webhook=webhook_id, status=status)
    if status in OK:
        with machines.database.transaction() as session:
            webhooks.delivered(session, webhook_id, now=clock.now())


def send_due(machines: Machines) -> None:
    """Hand the webhooks that are due to the workers."""
    with machines.database.reading() as session:
        if not webhooks.any_due(session, now=clock.now()):
            return
    with machines.database.transaction() as session:
        taken = webhooks.take_due(session, now=clock.now())
    machines.sender.push(DELIVER, Queue.UPKEEP, taken)
