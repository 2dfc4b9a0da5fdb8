"""Webhooks: who wants to be told when a job is over, and how far telling them has come.

A row waits until its job is over, whatever ends it; so nothing that ends a job needs to know of webhooks.
Then it is taken (a message is sent), begun (a worker posts it) and finished, or begun again.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, case, select, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column
from sqlalchemy.sql import ColumnElement

from app.core.jobs import webhook_attempts
from app.core.jobs.jobs import Job, to_public
from app.core.jobs.webhook_attempts import LEASE
from app.domain.ids import new_id
from app.infra.clock import rfc3339
from app.infra.database_clock import Moment, column
from app.infra.db import Base, insert
from app.settings import load

# Standard Webhooks specification, "Deliverability and reliability": its example schedule, three days long,
# with "some level of random jitter". A fifth either way spreads a crowd and keeps the schedule what it is.
RETRY_SCHEDULE = tuple(
    timedelta(seconds=seconds) for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
JITTER = 0.2
MAX_RETRY_AFTER_SECONDS = 86_400.0  # seconds
REPUBLISH_AFTER = timedelta(minutes=1)
"""After this long, a message that no worker has taken up is taken for lost."""
BATCH = 50

OK = range(200, 300)
GONE = 410
THROTTLED = frozenset({429, 503})
_WAITING = text("delivered_at IS NULL")


class Webhook(Base):
    """One address to be told of one job's end; `next_at` is when to try (again), null when given up.

    While a worker posts it, `next_at` is when another may. `published_at` is when the workers were last sent
    a message about it, null when it is time for the next. `attempts` counts those of the present run.
    """

    __tablename__ = "webhooks"
    __table_args__ = (
        UniqueConstraint("job_id", "url"),
        Index("ix_webhooks_next_at", "next_at", sqlite_where=_WAITING, postgresql_where=_WAITING),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"))
    url: Mapped[str]
    attempts: Mapped[int]
    next_at: Mapped[datetime | None]
    published_at: Mapped[datetime | None]
    delivered_at: Mapped[datetime | None]
    created_at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What to post, where, and the secret and time (`at`) it is signed with.

    `until` is when another worker may post it, null if this is the last attempt.
    """

    id: str
    attempt_id: str
    url: str
    payload: dict[str, Any]
    secret: str
    at: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """How an attempt ended: the answer's status, or why there is none; `retry_after` is in seconds."""

    status: int | None = None
    error: str | None = None
    retry_after: float | None = None
    latency_ms: int


def subscribe(session: Session, job: Job, url: str | None, *, now: Moment) -> None:
    """Tell this address when the job is over; nothing if there is no address, or it is promised already."""
    if url is not None:
        values = {"id": new_id("whk"), "job_id": job.id, "url": url}
        session.execute(
            insert(session, Webhook)
            .values(**values, attempts=0, next_at=now, created_at=now)
            .on_conflict_do_nothing()
        )


def any_due(session: Session, *, now: Moment) -> bool:
    """Tell whether somebody waits to be told."""
    return session.scalar(select(Webhook.id).join(Job).where(_due(now)).limit(1)) is not None


def claim_due(session: Session, *, now: Moment) -> list[str]:
    """Mark what is due as sent to the workers, and give the ids."""
    query = select(Webhook).join(Job).where(_due(now)).order_by(Webhook.next_at).limit(BATCH)
    taken = []
    for webhook in session.scalars(query.with_for_update(skip_locked=True, of=Webhook)):
        webhook.published_at = now
        taken.append(webhook.id)
    session.flush()
    return taken


def begin(session: Session, webhook_id: str, *, now: Moment) -> Delivery | None:
    """Begin an attempt, and give what is to be posted.

    None if it is not due: taken by somebody, given up, or no more. So a message that comes twice, or late,
    does no harm. The last attempt has none after it, even if its worker is lost.
    """
    more = case((Webhook.attempts < len(RETRY_SCHEDULE), now + LEASE), else_=None)
    row = session.execute(
        update(Webhook)
        .where(Webhook.id == webhook_id, Webhook.delivered_at.is_(None), Webhook.next_at <= now)
        .values(attempts=Webhook.attempts + 1, next_at=more, published_at=None)
        .returning(Webhook.job_id, Webhook.url, Webhook.next_at, column(now).label("at"))
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if row is None:
        return None
    job = session.get_one(Job, row.job_id)
    payload = {
        "type": "job.finished",
        "timestamp": rfc3339(job.finished_at),
        "data": {"job": to_public(job)},
    }
    attempt_id = webhook_attempts.start(session, webhook_id, now=now)
    return Delivery(webhook_id, attempt_id, row.url, payload, secret(job.workspace_id), row.at, row.next_at)


def finish(session: Session, delivery: Delivery, ending: AttemptResult, *, now: Moment) -> None:
    """Write down how the attempt ended, and when the next is due, if any.

    Whoever took longer than the lease allows may still say that it was delivered, but no more when to try.
    """
    delivered = ending.status in OK
    error = ending.error or (None if delivered else "http_status")
    webhook_attempts.complete(
        session, delivery.attempt_id, status=ending.status, error=error, latency_ms=ending.latency_ms
    )
    query = select(Webhook).where(Webhook.id == delivery.id).with_for_update()
    webhook = session.scalar(query.execution_options(populate_existing=True))
    if webhook is None:
        return
    if delivered:
        webhook.delivered_at = now
        webhook.next_at = None
    elif webhook.next_at == delivery.until:
        pause = _retry_delay(webhook.attempts, ending)
        webhook.next_at = None if pause is None else now + pause
    session.flush()


def secret(workspace_id: str) -> str:
    """Give the workspace's secret, as Standard Webhooks writes it; it follows from SECRET_KEY."""
    key = hmac.digest(load().secret_key.encode(), f"webhook\0{workspace_id}".encode(), hashlib.sha256)
    return f"whsec_{base64.b64encode(key).decode()}"


def _due(now: Moment) -> ColumnElement[bool]:
    unsent = Webhook.published_at.is_(None) | (Webhook.published_at <= now - REPUBLISH_AFTER)
    return Webhook.delivered_at.is_(None) & (Webhook.next_at <= now) & unsent & Job.finished_at.is_not(None)


def _retry_delay(attempts: int, ending: AttemptResult) -> timedelta | None:
    """Tell how long to wait after so many attempts; None to give up: they are spent, or it is gone for good.

    A receiver that says when to come back (RFC 9110, section 10.2.3) is not asked earlier, within a day.
    """
    if ending.status == GONE or attempts > len(RETRY_SCHEDULE):
        return None
    pause = RETRY_SCHEDULE[attempts - 1] * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 -- jitter
    if ending.status not in THROTTLED or ending.retry_after is None:
        return pause
    return max(pause, timedelta(seconds=min(ending.retry_after, MAX_RETRY_AFTER_SECONDS)))
