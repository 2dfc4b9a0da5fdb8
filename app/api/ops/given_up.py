"""Counts what workers gave up after too many turns without progress."""

from __future__ import annotations

from datetime import datetime

from app.engine.work import items
from app.infra.database.session import Session
from app.web.feature import web_parts


def counts(session: Session, *, now: datetime) -> dict[str, int]:
    """Return how many uploads, imports and mailbox codes were given up, and what features gave up."""
    found = items.failed_counts(session, now=now)
    for part in web_parts():
        found |= part.given_up(session)
    return found
