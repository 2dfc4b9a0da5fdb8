"""Counts what workers gave up after too many turns without progress."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select

from app.engine.crm import outbox
from app.engine.crm.connections import CrmConnection
from app.engine.work import items
from app.infra.database.session import Session


def counts(session: Session, *, now: datetime) -> dict[str, int]:
    """Return how many uploads, imports, mailbox codes and CRM connections were given up."""
    suspended = select(func.count()).where(CrmConnection.error == outbox.TURNS_FAILED)
    return items.failed_counts(session, now=now) | {"crm_connection": session.scalar(suspended) or 0}
