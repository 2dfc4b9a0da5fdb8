"""The log of webhooks and their replay, for operators and for the admins of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Select, and_, case, exists, func, or_, select, update
from sqlalchemy.orm import aliased
from sqlalchemy.sql import ColumnElement

from app.domain.errors import EndpointDisabled, NotFound
from app.domain.event_types import JOB_FINISHED
from app.engine.events.deliveries import DELIVERING, Webhook
from app.engine.events.endpoints import WebhookEndpoint
from app.engine.events.events import Event
from app.engine.jobs.jobs import Job
from app.engine.work import items
from app.engine.work.items import NewItem, WorkItem
from app.features.webhooks.tables import WebhookAttempt
from app.infra.clock import rfc3339
from app.infra.database import keyset
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session


class DeliveryState(StrEnum):
    """The delivery state of a webhook."""

    DELIVERED = "delivered"
    WAITING = "waiting"
    GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True)
class WebhookStatus:
    """A webhook, its type, and when its job finished or its event occurred (None while the job is open).

    `is_planned` is whether it was neither delivered nor given up, `due_at` the time of the next attempt.
    """

    webhook: Webhook
    type: str
    finished_at: datetime | None
    is_planned: bool
    due_at: datetime | None

    @property
    def state(self) -> DeliveryState:
        """Return the delivery state."""
        if self.webhook.delivered_at is not None:
            return DeliveryState.DELIVERED
        return DeliveryState.WAITING if self.is_planned else DeliveryState.GIVEN_UP

    @property
    def next_at(self) -> datetime | None:
        """Return the time of the next attempt; None while the job is open."""
        return self.due_at if self.state is DeliveryState.WAITING else None

    def to_public(self) -> dict[str, Any]:
        """Return the webhook without path and query of its URL, which may hold the receiver's secrets."""
        webhook = self.webhook
        return {
            "id": webhook.id,
            "type": self.type,
            "job_id": webhook.job_id,
            "event_id": webhook.event_id,
            "endpoint_id": webhook.endpoint_id,
            "host": urlsplit(webhook.url).hostname,
            "attempts": webhook.attempts,
            "state": self.state.value,
            "next_at": rfc3339(self.next_at),
            "delivered_at": rfc3339(webhook.delivered_at),
            "created_at": rfc3339(webhook.created_at),
        }


def latest(
    session: Session, *, workspace_id: str | None, failed: bool, limit: int, before: str | None = None
) -> list[WebhookStatus]:
    """Return webhooks before this one, newest first: of one workspace or all, optionally only failed ones."""
    of_workspace = () if workspace_id is None else (Webhook.workspace_id == workspace_id,)
    query = _status_query().where(*of_workspace)
    query = query.order_by(Webhook.created_at.desc(), Webhook.id.desc()).limit(limit)
    if before is not None:
        query = query.where(keyset.is_older(Webhook, before, *of_workspace))
    if failed:
        query = query.where(_failed())
    return [WebhookStatus(*row) for row in session.execute(query)]


def get(session: Session, webhook_id: str) -> WebhookStatus | None:
    """Return the webhook with this id, or None."""
    row = session.execute(_status_query().where(Webhook.id == webhook_id)).one_or_none()
    return None if row is None else WebhookStatus(*row)


def get_of_workspace(session: Session, workspace_id: str, webhook_id: str) -> WebhookStatus:
    """Return the workspace's webhook with this id."""
    status = get(session, webhook_id)
    if status is None or status.webhook.workspace_id != workspace_id:
        raise NotFound("There is no such delivery. List the latest ones with GET /api/webhooks.")
    return status


def replay_of_workspace(session: Session, workspace_id: str, webhook_id: str, *, now: Moment) -> None:
    """Schedule the workspace's webhook for delivery now, with a new retry schedule.

    Raises:
        EndpointDisabled: its endpoint is disabled.

    """
    get_of_workspace(session, workspace_id, webhook_id)
    if not replay(session, [webhook_id], now=now):
        raise EndpointDisabled


def replay(session: Session, webhook_ids: Sequence[str], *, now: Moment) -> list[str]:
    """Schedule these webhooks for delivery now, with a new retry schedule; return the ids that exist."""
    return _replay(session, Webhook.id.in_(webhook_ids), now=now)


def replay_failed(session: Session, *, workspace_id: str | None, since: datetime, now: Moment) -> list[str]:
    """Replay the failed webhooks of jobs finished, and of events recorded, since then; return their ids."""
    finished = select(Job.id).where(Job.finished_at >= since)
    is_recent = or_(
        Webhook.job_id.in_(finished), and_(Webhook.event_id.is_not(None), Webhook.created_at >= since)
    )
    of_workspace = () if workspace_id is None else (Webhook.workspace_id == workspace_id,)
    return _replay(session, and_(is_recent, _failed(), *of_workspace), now=now)


def _status_query() -> Select[Webhook, str, datetime | None, bool, datetime | None]:
    finished_at = case((Webhook.event_id.is_not(None), Webhook.created_at), else_=Job.finished_at)
    return (
        select(
            Webhook,
            func.coalesce(Event.type, JOB_FINISHED),
            finished_at,
            WorkItem.id.is_not(None),
            func.coalesce(WorkItem.due_at, Job.finished_at),
        )
        .outerjoin(WorkItem, WorkItem.id == Webhook.id)
        .outerjoin(Job, Job.id == Webhook.job_id)
        .outerjoin(Event, Event.id == Webhook.event_id)
    )


def _failed() -> ColumnElement[bool]:
    """Return the condition for webhooks that are given up, or waiting after a failed attempt."""
    has_failed_attempt = exists().where(
        WebhookAttempt.webhook_id == Webhook.id, WebhookAttempt.error.is_not(None)
    )
    item = aliased(WorkItem)  # the log joins the table, too
    is_planned = exists().where(item.id == Webhook.id)
    return Webhook.delivered_at.is_(None) & (~is_planned | has_failed_attempt)


def _replay(session: Session, condition: ColumnElement[bool], *, now: Moment) -> list[str]:
    """Reset the delivery state. The id stays, so that the receiver can detect a duplicate.

    Deliveries to disabled endpoints are left as they are.
    """
    disabled = select(WebhookEndpoint.id).where(WebhookEndpoint.disabled_at.is_not(None))
    is_receiving = or_(Webhook.endpoint_id.is_(None), Webhook.endpoint_id.not_in(disabled))
    replayed = session.execute(
        update(Webhook)
        .where(condition, is_receiving)
        .values(attempts=0, delivered_at=None)
        .returning(Webhook.id, Webhook.workspace_id, Webhook.job_id)
        .execution_options(synchronize_session=False)
    ).all()
    of_open_jobs = (Job.id.in_([row.job_id for row in replayed]), Job.finished_at.is_(None))
    are_open = set(session.scalars(select(Job.id).where(*of_open_jobs)))
    due = [NewItem(row.id, row.workspace_id, None if row.job_id in are_open else now) for row in replayed]
    items.add(session, DELIVERING, *due)
    return sorted(row.id for row in replayed)
