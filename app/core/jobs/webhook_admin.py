"""Deliveries: how the webhooks stand, as an operator sees them, and sending them again."""

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
    """How telling an address has come out so far."""

    DELIVERED = "delivered"
    WAITING = "waiting"
    GIVEN_UP = "given up"


@dataclass(frozen=True, slots=True)
class WebhookStatus:
    """A webhook, whose it is, and when its job was over, null while it is not."""

    webhook: Webhook
    workspace_id: str
    finished_at: datetime | None

    @property
    def state(self) -> DeliveryState:
        """Tell how far it has come."""
        if self.webhook.delivered_at is not None:
            return DeliveryState.DELIVERED
        return DeliveryState.GIVEN_UP if self.webhook.next_at is None else DeliveryState.WAITING

    @property
    def next_at(self) -> datetime | None:
        """Tell when it is tried next; nobody is told before the job is over."""
        return self.webhook.next_at if self.finished_at and self.state is DeliveryState.WAITING else None


def latest(session: Session, *, workspace_id: str | None, failed: bool, limit: int) -> list[WebhookStatus]:
    """List webhooks, newest first: of one workspace or of all, all or only those that failed."""
    query = _sights().order_by(Webhook.created_at.desc(), Webhook.id.desc()).limit(limit)
    if workspace_id is not None:
        query = query.where(Job.workspace_id == workspace_id)
    if failed:
        query = query.where(_failed())
    return [WebhookStatus(webhook, owner, over) for webhook, owner, over in session.execute(query)]


def get(session: Session, webhook_id: str) -> WebhookStatus | None:
    """Read one webhook; None if there is none with this id."""
    row = session.execute(_sights().where(Webhook.id == webhook_id)).one_or_none()
    if row is None:
        return None
    webhook, owner, over = row
    return WebhookStatus(webhook, owner, over)


def replay(session: Session, webhook_ids: Sequence[str], *, now: Moment) -> list[str]:
    """Deliver these again, now and with a fresh run of tries; give the ids of those that exist."""
    return _replay(session, Webhook.id.in_(webhook_ids), now=now)


def replay_failed(session: Session, *, workspace_id: str | None, since: datetime, now: Moment) -> list[str]:
    """Deliver again what failed of the jobs that were over since then; give the ids."""
    over = select(Job.id).where(Job.finished_at >= since)
    if workspace_id is not None:
        over = over.where(Job.workspace_id == workspace_id)
    return _replay(session, Webhook.job_id.in_(over) & _failed(), now=now)


def _sights() -> Select[Webhook, str, datetime | None]:
    return select(Webhook, Job.workspace_id, Job.finished_at).join(Job)


def _failed() -> ColumnElement[bool]:
    """Given up, or tried in vain and waiting for the next try."""
    in_vain = exists().where(WebhookAttempt.webhook_id == Webhook.id, WebhookAttempt.error.is_not(None))
    return Webhook.delivered_at.is_(None) & (Webhook.next_at.is_(None) | in_vain)


def _replay(session: Session, chosen: ColumnElement[bool], *, now: Moment) -> list[str]:
    """Start over. The webhook's id stays, so that a receiver who has it already can tell."""
    replayed = session.scalars(
        update(Webhook)
        .where(chosen)
        .values(attempts=0, next_at=now, published_at=None, delivered_at=None)
        .returning(Webhook.id)
        .execution_options(synchronize_session=False)
    )
    return sorted(replayed)
