"""Helpers for tests of webhooks: which deliveries are due, and when the next attempt of one is."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select

from app.engine.events.deliveries import DELIVERING
from app.engine.work import items
from app.engine.work.items import WorkItem
from app.features.webhooks import delivery as webhooks
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session


def claim_due(session: Session, *, now: Moment) -> list[str]:
    """Mark the due deliveries as published, as the sweeper does; return their ids."""
    webhooks.wake_finished(session, now=now)
    return items.claim_due(session, DELIVERING, now=now)


def any_due(session: Session, *, now: Moment) -> bool:
    webhooks.wake_finished(session, now=now)
    return DELIVERING.task in items.due_tasks(session, now=now)


def next_at(session: Session, webhook_id: str) -> datetime | None:
    """Return when the next attempt is; None if there is none."""
    return session.scalar(select(WorkItem.due_at).where(WorkItem.id == webhook_id))


def begin_due(session: Session, webhook_id: str, *, now: Moment) -> webhooks.Delivery | None:
    webhooks.wake_finished(session, now=now)
    return webhooks.begin(session, webhook_id, now=now)
