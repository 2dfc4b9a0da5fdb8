"""Notices to the workspaces that received a person's data: it was erased or corrected (GDPR, article 19)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from app.domain.event_types import EventType
from app.domain.ids import new_id
from app.engine.events import events
from app.engine.events.events import NewEvent
from app.engine.ledger.reveals import Reveal
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session


def notify(
    session: Session, type_: EventType, contact_ids: Sequence[str], *, now: Moment, **data: Any
) -> int:
    """Record an event for each workspace that revealed one of the contacts; return how many.

    It has the id of the contact, and no other data of the person. Call it before the contacts are deleted.
    """
    pairs = select(Reveal.workspace_id, Reveal.contact_id).where(Reveal.contact_id.in_(contact_ids))
    received = session.execute(pairs.distinct().order_by(Reveal.workspace_id, Reveal.contact_id))
    notices = [
        NewEvent(
            workspace_id=row.workspace_id,
            type_=type_,
            data={"contact_id": row.contact_id} | data,
            dedup_key=new_id("evt"),
        )
        for row in received
    ]
    return len(events.record_many(session, notices, now=now))
