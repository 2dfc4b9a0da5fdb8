"""Counts what workers gave up after too many turns without progress."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import func, select

from app.engine.crm import outbox
from app.engine.crm.connections import CrmConnection
from app.engine.lists import queued_imports
from app.engine.lists.queued_imports import QueuedImport
from app.engine.work import items
from app.infra.database.session import Session

SHOWN_FOR = timedelta(hours=1)
"""How long a list that was given up is counted; a connection is until the workspace connects again."""


def counts(session: Session, *, now: datetime) -> dict[str, int]:
    """Return how many uploads, imports, messages and CRM connections were given up."""
    since = now - SHOWN_FOR
    conditions = {
        "import": (QueuedImport.attempts > queued_imports.MAX_ATTEMPTS, QueuedImport.finished_at > since),
        "crm_connection": (CrmConnection.error == outbox.TURNS_FAILED,),
    }
    return items.failed_counts(session, now=now) | {
        kind: session.scalar(select(func.count()).where(*condition)) or 0
        for kind, condition in conditions.items()
    }
