"""The operator's view of webhooks, and their replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Select, exists, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql import ColumnElement

from app.core.jobs.jobs import Job
from app.core.jobs.webhook_attempts import WebhookAttempt
from app.core.jobs.webhooks import Webhook
from app.infra.database_clock import Moment


class DeliveryState(StrEnum):
    """The delivery state of a webhook."""

    DELIVERED = "delivered"
    WAITING = "waiting"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class WebhookStatus:
    """A webhook, its workspace, and when its job finished (None while it is open)."""

    webhook: Webhook
    workspace_id: str
    finished_at: datetime | None

    @property
    def state(self) -> DeliveryState:
        """Return the delivery state."""
        if self.webhook.delivered_at is not None:
            return DeliveryState.DELIVERED
        return DeliveryState.GIVEN_UP if self.webhook.next_at is None else DeliveryState.WAITING

    @property
    def next_at(self) -> datetime | None:
        """Return the time of the next attempt; None while the job is open."""
        return self.webhook.next_at if self.finished_at and self.state is DeliveryState.WAITING else None


def latest(session: Session, *, workspace_id: str | None, failed: bool, limit: int) -> list[WebhookStatus]:
    """Return webhooks, newest first: of one workspace or all, optionally only failed ones."""
    query = _status_query().order_by(Webhook.created_at.desc(), Webhook.id.desc()).limit(limit)
    if workspace_id is not None:
        query = query.where(Job.workspace_id == workspace_id)
    if failed:
        query = query.where(_failed())
    return [WebhookStatus(*row) for row in session.execute(query)]


def get(session: Session, webhook_id: str) -> WebhookStatus | None:
    """Return the webhook with this id, or None."""
    row = session.execute(_status_query().where(Webhook.id == webhook_id)).one_or_none()
    return None if row is None else WebhookStatus(*row)


def replay(session: Session, webhook_ids: Sequence[str], *, now: Moment) -> list[str]:
    """Schedule these webhooks for delivery now, with a new retry schedule; return the ids that exist."""
    return _replay(session, Webhook.id.in_(webhook_ids), now=now)


def replay_failed(session: Session, *, workspace_id: str | None, since: datetime, now: Moment) -> list[str]:
    """Replay the failed webhooks of jobs finished since then, and return their ids."""
    finished = select(Job.id).where(Job.finished_at >= since)
    if workspace_id is not None:
        finished = finished.where(Job.workspace_id == workspace_id)
    return _replay(session, Webhook.job_id.in_(finished) & _failed(), now=now)


def _status_query() -> Select[Webhook, str, datetime | None]:
    return select(Webhook, Job.workspace_id, Job.finished_at).join(Job)


def _failed() -> ColumnElement[bool]:
    """Return the condition for webhooks that are given up, or waiting after a failed attempt."""
    has_failed_attempt = exists().where(
        WebhookAttempt.webhook_id == Webhook.id, WebhookAttempt.error.is_not(None)
    )
    return Webhook.delivered_at.is_(None) & (Webhook.next_at.is_(None) | has_failed_attempt)


def _replay(session: Session, condition: ColumnElement[bool], *, now: Moment) -> list[str]:
    """Reset the delivery state. The id stays, so that the receiver can detect a duplicate."""
    replayed = session.scalars(
        update(Webhook)
        .where(condition)
        .values(attempts=0, next_at=now, published_at=None, delivered_at=None)
        .returning(Webhook.id)
        .execution_options(synchronize_session=False)
    )
    return sorted(replayed)
