"""The gauges of webhook deliveries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from prometheus_client.core import GaugeMetricFamily, Metric
from sqlalchemy import and_, case, func, select

from app.engine.events.deliveries import DELIVERING, Webhook
from app.engine.jobs.jobs import Job
from app.engine.work.items import WorkItem
from app.features.webhooks.attempts import LEASE, AttemptState
from app.features.webhooks.tables import WebhookAttempt
from app.infra.database.session import Session

WINDOW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class WebhookStats:
    """`due` deliveries wait for an attempt, the oldest since `wait`; `retrying` have failed and are repeated.

    `attempts` counts the attempts of the last minute by state.
    """

    due: int
    wait: timedelta
    retrying: int
    attempts: dict[AttemptState, int]


def gauges(session: Session, now: datetime) -> Iterator[Metric]:
    """Yield the gauges of all deliveries."""
    webhooks = read(session, now=now)
    waiting = GaugeMetricFamily(
        "ext_webhooks",
        "Undelivered webhooks: due for an attempt, or retrying after a failed one.",
        labels=["state"],
    )
    waiting.add_metric(["due"], webhooks.due)
    waiting.add_metric(["retrying"], webhooks.retrying)
    attempts = GaugeMetricFamily(
        "ext_webhook_attempts", "Attempts to deliver a webhook in the last minute.", labels=["outcome"]
    )
    for state, count in webhooks.attempts.items():
        attempts.add_metric([state.value], count)
    oldest = GaugeMetricFamily(
        "ext_oldest_webhook_seconds",
        "Seconds that the oldest due webhook has waited for its attempt.",
        value=webhooks.wait.total_seconds(),
    )
    yield from (waiting, attempts, oldest)


def read(session: Session, *, now: datetime) -> WebhookStats:
    """Return the state of all deliveries."""
    due_since = func.coalesce(WorkItem.due_at, Job.finished_at)
    is_due = due_since <= now
    due, oldest, retrying = session.execute(
        select(
            func.count(case((is_due, 1))),
            func.min(case((is_due, due_since))),
            func.count(case((Webhook.attempts > 0, 1))),
        )
        .select_from(WorkItem)
        .join(Webhook, Webhook.id == WorkItem.id)
        .outerjoin(Job, Job.id == Webhook.job_id)
        .where(WorkItem.task == DELIVERING.task)
    ).one()
    wait = timedelta(0) if oldest is None else max(now - oldest, timedelta(0))
    return WebhookStats(due, wait, retrying, _attempts(session, now))


def _attempts(session: Session, now: datetime) -> dict[AttemptState, int]:
    state = case(
        (and_(WebhookAttempt.latency_ms.is_(None), WebhookAttempt.attempted_at > now - LEASE), "running"),
        (WebhookAttempt.latency_ms.is_(None), "lost"),
        (WebhookAttempt.error.is_(None), "delivered"),
        else_="failed",
    )
    query = select(state, func.count()).where(WebhookAttempt.attempted_at > now - WINDOW).group_by(state)
    counts = {AttemptState(name): count for name, count in session.execute(query)}
    return {state: counts.get(state, 0) for state in AttemptState}
