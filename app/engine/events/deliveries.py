"""The table of webhooks: what is delivered to which URL, and the state of its delivery.

The feature for webhooks delivers the rows. They are inserted here and there, in the transaction of what
they report, so nothing is reported that was rolled back, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Index,
    String,
    UniqueConstraint,
    delete,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.event_types import JOB_FINISHED
from app.domain.ids import new_id
from app.domain.records.person_matcher import PersonMatcher
from app.engine.accounts.workspaces import foreign_key
from app.engine.events import endpoints
from app.engine.events.endpoints import DisabledReason, WebhookEndpoint
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

WAITING = text("delivered_at IS NULL")
OF_CALLER = text("endpoint_id IS NULL")
_BATCH = 500


class Webhook(Base):
    """A delivery of the end of a job, or of an event, to a URL; `next_at` is the time of the next attempt.

    `next_at` is null when it was given up. While a worker posts it, `next_at` is the end of that worker's
    lease. `published_at` is when its message was last published, null if the next one is due. `attempts`
    counts attempts since creation or replay. `endpoint_id` is null for a URL that the job's request named.
    """

    __tablename__ = "webhooks"
    __table_args__ = (
        CheckConstraint("(job_id IS NULL) <> (event_id IS NULL)", name="of_a_job_or_an_event"),
        UniqueConstraint("job_id", "endpoint_id"),
        UniqueConstraint("event_id", "endpoint_id"),
        Index(
            "uq_webhooks_job_id_url",
            "job_id",
            "url",
            unique=True,
            sqlite_where=OF_CALLER,
            postgresql_where=OF_CALLER,
        ),
        Index("ix_webhooks_next_at", "next_at", sqlite_where=WAITING, postgresql_where=WAITING),
        Index("ix_webhooks_workspace_id_created_at", "workspace_id", "created_at", "id"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    job_id: Mapped[str | None] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"))
    event_id: Mapped[str | None] = mapped_column(ForeignKey("events.id", ondelete="CASCADE"))
    endpoint_id: Mapped[str | None] = mapped_column(
        ForeignKey("webhook_endpoints.id", ondelete="CASCADE"), index=True
    )
    url: Mapped[str]
    attempts: Mapped[int]
    next_at: Mapped[datetime | None]
    published_at: Mapped[datetime | None]
    delivered_at: Mapped[datetime | None]
    created_at: Mapped[datetime]


def subscribe_url(session: Session, *, workspace_id: str, job_id: str, url: str, now: Moment) -> None:
    """Insert the delivery of a job's end to a URL of its request, unless it is subscribed already."""
    values = {"id": new_id("whk"), "workspace_id": workspace_id, "job_id": job_id, "url": url}
    session.execute(
        insert(session, Webhook)
        .values(**values, attempts=0, next_at=now, created_at=now)
        .on_conflict_do_nothing()
    )


def subscribe_endpoints(session: Session, *, workspace_id: str, job_id: str, now: Moment) -> None:
    """Insert the deliveries of a job's end to the workspace's endpoints for finished jobs."""
    receivers = endpoints.enabled(session, [workspace_id])
    subscribed = [(endpoint, job_id) for endpoint in receivers if JOB_FINISHED in endpoint.types]
    insert_for(session, subscribed, now=now)


def insert_for(
    session: Session, subscriptions: Sequence[tuple[WebhookEndpoint, str]], *, now: Moment
) -> None:
    """Insert the delivery of each event or job, given by its id, to an endpoint, unless it exists."""
    rows = [
        {
            "id": new_id("whk"),
            "workspace_id": endpoint.workspace_id,
            "job_id": subject if subject.startswith("job_") else None,
            "event_id": subject if subject.startswith("evt_") else None,
            "endpoint_id": endpoint.id,
            "url": endpoint.url,
            "attempts": 0,
            "next_at": now,
            "created_at": now,
        }
        for endpoint, subject in subscriptions
    ]
    for start in range(0, len(rows), _BATCH):
        part = rows[start : start + _BATCH]
        session.execute(insert(session, Webhook).values(part).on_conflict_do_nothing())


def of_event(session: Session, event_id: str, endpoint_id: str) -> str:
    """Return the id of the delivery of an event to an endpoint that it was queued for."""
    is_wanted = (Webhook.event_id == event_id, Webhook.endpoint_id == endpoint_id)
    return session.scalars(select(Webhook.id).where(*is_wanted)).one()


def disable(session: Session, endpoint: WebhookEndpoint, *, now: Moment) -> None:
    """Disable an endpoint that the caller has locked, and end its retries."""
    if endpoint.disabled_at is None:
        endpoint.disabled_at, endpoint.disabled_reason = now, DisabledReason.ADMIN.value
        session.flush()
        session.refresh(endpoint)
        give_up(session, endpoint.id)


def give_up(session: Session, endpoint_id: str) -> None:
    """End the retries of all deliveries to the endpoint; they can be replayed when it is enabled again."""
    session.execute(
        update(Webhook)
        .where(Webhook.endpoint_id == endpoint_id, Webhook.delivered_at.is_(None))
        .values(next_at=None)
        .execution_options(synchronize_session=False)
    )


def erase(session: Session, matcher: PersonMatcher) -> None:
    """Delete the deliveries whose URL, that of a request or of an endpoint, contains the person's data."""
    of_callers = session.execute(select(Webhook.id, Webhook.url).where(OF_CALLER))
    ids = [row.id for row in of_callers if matcher.matches(row.url)]
    of_endpoints = session.execute(select(WebhookEndpoint.id, WebhookEndpoint.url))
    endpoint_ids = [row.id for row in of_endpoints if matcher.matches(row.url)]
    session.execute(delete(Webhook).where(or_(Webhook.id.in_(ids), Webhook.endpoint_id.in_(endpoint_ids))))
