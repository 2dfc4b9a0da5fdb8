"""The table of webhooks: what is delivered to which URL, and the state of its delivery.

The feature for webhooks delivers the rows. They are inserted here and there, in the transaction of what
they report, so nothing is reported that was rolled back, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint, delete, or_, select, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.event_types import JOB_FINISHED
from app.domain.ids import new_id
from app.domain.kinds import DELIVER
from app.domain.records.person_matcher import PersonMatcher
from app.engine.accounts.workspaces import foreign_key
from app.engine.events import endpoints
from app.engine.events.endpoints import DisabledReason, WebhookEndpoint
from app.engine.work import items, specs
from app.engine.work.items import NewItem, WorkItem
from app.engine.work.specs import WorkSpec
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

OF_CALLER = text("endpoint_id IS NULL")
_BATCH = 500
DELIVERING = specs.register(
    WorkSpec(
        task=DELIVER,
        label=None,
        lease=timedelta(seconds=20),
        republish_after=timedelta(minutes=1),
        max_attempts=10,
        per_key=10,
        full_queue=50,
    )
)
"""The lease is longer than an attempt can take. Receivers may take 15 seconds for each, so the deliveries of
one workspace, and all together, leave room in the queue.
"""


class Webhook(Base):
    """A delivery of the end of a job, or of an event, to a URL, and the attempts since creation or replay.

    Its item of work says when the next attempt is; one that has none, and is not delivered, was given up.
    `endpoint_id` is null for a URL that the job's request named.
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
    delivered_at: Mapped[datetime | None]
    created_at: Mapped[datetime]


def subscribe_url(session: Session, *, workspace_id: str, job_id: str, url: str, now: Moment) -> None:
    """Insert the delivery of a job's end to a URL of its request, unless it is subscribed already."""
    values = {"id": new_id("whk"), "workspace_id": workspace_id, "job_id": job_id, "url": url}
    _insert(session, [values | {"attempts": 0, "created_at": now}])


def subscribe_endpoints(session: Session, jobs: Mapping[str, Sequence[str]], *, now: Moment) -> None:
    """Insert the deliveries of the ends of jobs, by workspace, to its endpoints for finished jobs."""
    receivers = [each for each in endpoints.enabled(session, sorted(jobs)) if JOB_FINISHED in each.types]
    insert_for(session, [(each, job) for each in receivers for job in jobs[each.workspace_id]], now=now)


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
            "created_at": now,
        }
        for endpoint, subject in subscriptions
    ]
    for start in range(0, len(rows), _BATCH):
        _insert(session, rows[start : start + _BATCH])


def _insert(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Insert deliveries that do not exist. One of an event is due; one of a job is when the job has ended."""
    insertion = insert(session, Webhook).values(rows).on_conflict_do_nothing()
    inserted = session.execute(
        insertion.returning(Webhook.id, Webhook.workspace_id, Webhook.event_id, Webhook.created_at)
    )
    items.add(
        session,
        DELIVERING,
        *(
            NewItem(row.id, row.workspace_id, None if row.event_id is None else row.created_at)
            for row in inserted
        ),
    )


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
    given_up = select(Webhook.id).where(Webhook.endpoint_id == endpoint_id, Webhook.delivered_at.is_(None))
    ended = delete(WorkItem).where(WorkItem.id.in_(given_up))
    session.execute(ended.execution_options(synchronize_session=False))


def erase(session: Session, matcher: PersonMatcher) -> None:
    """Delete the deliveries to URLs, of a request or of an endpoint, that contain the person's data."""
    of_callers = session.execute(select(Webhook.id, Webhook.url).where(OF_CALLER))
    ids = [row.id for row in of_callers if matcher.matches(row.url)]
    of_endpoints = session.execute(select(WebhookEndpoint.id, WebhookEndpoint.url))
    endpoint_ids = [row.id for row in of_endpoints if matcher.matches(row.url)]
    session.execute(delete(Webhook).where(or_(Webhook.id.in_(ids), Webhook.endpoint_id.in_(endpoint_ids))))
