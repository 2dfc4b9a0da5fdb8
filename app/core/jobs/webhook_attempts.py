"""Attempts to deliver a webhook: the log that tells an operator who was told what, and when.

An attempt is written before the post and completed after it. One that was never completed is lost: its
worker died with the request open, and whether the receiver took it nobody knows.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ForeignKey, String, delete, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.domain.ids import new_id
from app.infra.database_clock import Moment
from app.infra.db import Base

RETENTION = timedelta(days=30)
LEASE = timedelta(seconds=20)
"""Longer than an attempt can take; after it, an attempt without an end is lost and the next may begin."""


class AttemptState(StrEnum):
    """What is known of an attempt."""

    RUNNING = "running"
    LOST = "lost"
    DELIVERED = "delivered"
    FAILED = "failed"


class WebhookAttempt(Base):
    """One post of a webhook; `latency_ms` is null until it is over.

    `status` is that of the receiver's answer, null if there was none; `error` says in a word why the attempt
    failed, null if it did not.
    """

    __tablename__ = "webhook_attempts"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    webhook_id: Mapped[str] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"), index=True)
    attempted_at: Mapped[datetime] = mapped_column(index=True)
    status: Mapped[int | None]
    error: Mapped[str | None]
    latency_ms: Mapped[int | None]


def start(session: Session, webhook_id: str, *, now: Moment) -> str:
    """Write down that an attempt begins; give its id."""
    attempt = WebhookAttempt(id=new_id("wha"), webhook_id=webhook_id, attempted_at=now)
    session.add(attempt)
    session.flush()
    return attempt.id


def complete(
    session: Session, attempt_id: str, *, status: int | None, error: str | None, latency_ms: int
) -> None:
    """Write down how the attempt ended."""
    session.execute(
        update(WebhookAttempt)
        .where(WebhookAttempt.id == attempt_id)
        .values(status=status, error=error, latency_ms=latency_ms)
    )


def of_webhook(session: Session, webhook_id: str) -> list[WebhookAttempt]:
    """List a webhook's attempts, oldest first, as far as they are kept."""
    query = select(WebhookAttempt).where(WebhookAttempt.webhook_id == webhook_id)
    return list(session.scalars(query.order_by(WebhookAttempt.attempted_at, WebhookAttempt.id)))


def state(attempt: WebhookAttempt, *, now: datetime) -> AttemptState:
    """Tell what is known of the attempt."""
    if attempt.latency_ms is None:
        return AttemptState.RUNNING if now < attempt.attempted_at + LEASE else AttemptState.LOST
    return AttemptState.DELIVERED if attempt.error is None else AttemptState.FAILED


def forget(session: Session, *, now: Moment) -> None:
    """Drop attempts that are older than they need be kept."""
    session.execute(delete(WebhookAttempt).where(WebhookAttempt.attempted_at < now - RETENTION))
