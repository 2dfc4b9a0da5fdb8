"""Log of attempts to deliver a webhook.

An attempt is inserted before the POST and completed after it. An attempt that was never completed is lost:
its worker died during the request, and whether the receiver accepted it is unknown.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import delete, select, update

from app.domain.ids import new_id
from app.engine.events.deliveries import DELIVERING
from app.features.webhooks.tables import WebhookAttempt
from app.infra.clock import rfc3339
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

RETENTION = timedelta(days=30)
LEASE = DELIVERING.lease
"""After it, an attempt that is not completed is lost, and the next may start."""


class AttemptState(StrEnum):
    """The state of an attempt."""

    RUNNING = "running"
    LOST = "lost"
    DELIVERED = "delivered"
    FAILED = "failed"


def start(session: Session, webhook_id: str, *, now: Moment) -> str:
    """Insert a running attempt and return its id."""
    attempt = WebhookAttempt(id=new_id("wha"), webhook_id=webhook_id, attempted_at=now)
    session.add(attempt)
    session.flush()
    return attempt.id


def complete(
    session: Session, attempt_id: str, *, status: int | None, error: str | None, latency_ms: int
) -> None:
    """Store the result of the attempt."""
    session.execute(
        update(WebhookAttempt)
        .where(WebhookAttempt.id == attempt_id)
        .values(status=status, error=error, latency_ms=latency_ms)
    )


def list_for_webhook(session: Session, webhook_id: str) -> list[WebhookAttempt]:
    """Return a webhook's stored attempts, oldest first."""
    query = select(WebhookAttempt).where(WebhookAttempt.webhook_id == webhook_id)
    return list(session.scalars(query.order_by(WebhookAttempt.attempted_at, WebhookAttempt.id)))


def state(attempt: WebhookAttempt, *, now: datetime) -> AttemptState:
    """Return the state of the attempt."""
    if attempt.latency_ms is None:
        return AttemptState.RUNNING if now < attempt.attempted_at + LEASE else AttemptState.LOST
    return AttemptState.DELIVERED if attempt.error is None else AttemptState.FAILED


def to_public(attempt: WebhookAttempt, *, now: datetime) -> dict[str, Any]:
    """Return the attempt as the log shows it."""
    return {
        "attempted_at": rfc3339(attempt.attempted_at),
        "state": state(attempt, now=now).value,
        "status": attempt.status,
        "error": attempt.error,
        "latency_ms": attempt.latency_ms,
    }


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete attempts older than RETENTION."""
    session.execute(delete(WebhookAttempt).where(WebhookAttempt.attempted_at < now - RETENTION))
