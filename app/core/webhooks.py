"""Webhooks: who wants to be told when a job is over, and how far telling them has come.

A row waits until its job is over, whatever ends it; so nothing that ends a job needs to know of webhooks.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, select, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column
from sqlalchemy.sql import ColumnElement

from app.core.jobs import Job, shown
from app.domain.ids import new_id
from app.infra.clock import rfc3339
from app.infra.db import Base, insert
from app.settings import load

# Standard Webhooks specification, "Retries": over more than a day, then give up.
PAUSES = tuple(
    timedelta(seconds=seconds) for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
BATCH = 50
_WAITING = text("delivered_at IS NULL")


class Webhook(Base):
    """One address to be told of one job's end; `next_at` is when to try (again), null when given up."""

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
    delivered_at: Mapped[datetime | None]
    created_at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What to post, where, and the secret it is signed with."""

    id: str
    url: str
    payload: dict[str, Any]
    secret: str


def promise(session: Session, job: Job, url: str | None, *, now: datetime) -> None:
    """Tell this address when the job is over; nothing if there is no address, or it is promised already."""
    if url is not None:
        values = {"id": new_id("whk"), "job_id": job.id, "url": url}
        session.execute(
            insert(session, Webhook)
            .values(**values, attempts=0, next_at=now, created_at=now)
            .on_conflict_do_nothing()
        )


def any_due(session: Session, *, now: datetime) -> bool:
    """Tell whether somebody waits to be told."""
    return session.scalar(select(Webhook.id).join(Job).where(_due(now)).limit(1)) is not None


def take_due(session: Session, *, now: datetime) -> list[str]:
    """Take what is to be tried now, set when it is tried again should this try fail, and give the ids."""
    query = select(Webhook).join(Job).where(_due(now)).order_by(Webhook.next_at).limit(BATCH)
    taken = []
    for webhook in session.scalars(query.with_for_update(skip_locked=True, of=Webhook)):
        webhook.next_at = now + PAUSES[webhook.attempts] if webhook.attempts < len(PAUSES) else None
        webhook.attempts += 1
        taken.append(webhook.id)
    session.flush()
    return taken


def delivery(session: Session, webhook_id: str) -> Delivery | None:
    """Read what is to be posted; None if it has been, or is no more."""
    row = session.execute(
        select(Webhook, Job).join(Job).where(Webhook.id == webhook_id, Webhook.delivered_at.is_(None))
    ).one_or_none()
    if row is None:
        return None
    webhook, job = row
    payload = {
        "type": "job.finished",
        "timestamp": rfc3339(job.finished_at),
        "data": {"job": shown(job)},
    }
    return Delivery(webhook.id, webhook.url, payload, secret(job.workspace_id))


def delivered(session: Session, webhook_id: str, *, now: datetime) -> None:
    """Write down that the address took it."""
    session.execute(update(Webhook).where(Webhook.id == webhook_id).values(delivered_at=now))


def secret(workspace_id: str) -> str:
    """Give the workspace's secret, as Standard Webhooks writes it; it follows from SECRET_KEY."""
    key = hmac.digest(load().secret_key.encode(), f"webhook\0{workspace_id}".encode(), hashlib.sha256)
    return f"whsec_{base64.b64encode(key).decode()}"


def _due(now: datetime) -> ColumnElement[bool]:
    return Webhook.delivered_at.is_(None) & (Webhook.next_at <= now) & Job.finished_at.is_not(None)
