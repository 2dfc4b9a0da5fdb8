"""Events of a workspace: each is stored once, listed for 180 days, and delivered to its webhook endpoints."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint, delete, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.event_types import EventType
from app.domain.ids import new_id
from app.engine.accounts.workspaces import foreign_key
from app.engine.events import deliveries, endpoints
from app.infra.clock import rfc3339
from app.infra.database import keyset
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

RETENTION = timedelta(days=180)
_BATCH = 500


class Event(Base):
    """Something that happened in a workspace; `data` has ids and figures, and no personal data.

    There is one event with a `dedup_key`. An event about a contact is deleted with it.
    """

    __tablename__ = "events"
    __table_args__ = (
        UniqueConstraint("workspace_id", "dedup_key"),
        Index("ix_events_workspace_id_created_at", "workspace_id", "created_at", "id"),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    workspace_id: Mapped[str] = mapped_column(foreign_key())
    type: Mapped[str]
    data: Mapped[dict[str, Any]]
    dedup_key: Mapped[str]
    contact_id: Mapped[str | None] = mapped_column(ForeignKey("contacts.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(index=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to record."""

    workspace_id: str
    type_: EventType
    data: dict[str, Any]
    dedup_key: str
    contact_id: str | None = None


def record(
    session: Session,
    workspace_id: str,
    type_: EventType,
    data: dict[str, Any],
    *,
    dedup_key: str,
    contact_id: str | None = None,
    now: Moment,
) -> bool:
    """Insert an event and queue its deliveries; return False if the workspace has one with the key."""
    event = NewEvent(
        workspace_id=workspace_id, type_=type_, data=data, dedup_key=dedup_key, contact_id=contact_id
    )
    return bool(record_many(session, [event], now=now))


def record_many(session: Session, new_events: Sequence[NewEvent], *, now: Moment) -> list[NewEvent]:
    """Insert events and queue their deliveries, with few statements; return those that are new."""
    inserted = [
        (event_id, event)
        for start in range(0, len(new_events), _BATCH)
        for event_id, event in _insert(session, new_events[start : start + _BATCH], now)
    ]
    if inserted:
        _queue_deliveries(session, inserted, now)
    return [event for _, event in inserted]


def record_test(session: Session, workspace_id: str, endpoint_id: str, *, now: Moment) -> str:
    """Insert a test event, queue its delivery to this endpoint only, and return the event's id."""
    endpoint = endpoints.locked(session, workspace_id, endpoint_id)
    test = NewEvent(
        workspace_id=workspace_id,
        type_=EventType.ENDPOINT_TEST,
        data={"endpoint_id": endpoint_id},
        dedup_key=new_id("evt"),
    )
    [(event_id, _)] = _insert(session, [test], now)
    deliveries.insert_for(session, [(endpoint, event_id)], now=now)
    return event_id


def latest(
    session: Session,
    workspace_id: str,
    *,
    type_: str | None = None,
    left_out: Collection[str] = (),
    before: str | None = None,
    limit: int,
) -> list[Event]:
    """Return the workspace's events that are older than event `before`, newest first.

    They are of one type, if it is given, and of none of those that are `left_out`.
    """
    query = select(Event).where(Event.workspace_id == workspace_id, Event.type.not_in(left_out))
    if type_ is not None:
        query = query.where(Event.type == type_)
    if before is not None:
        query = query.where(keyset.is_older(Event, before, Event.workspace_id == workspace_id))
    return list(session.scalars(query.order_by(Event.created_at.desc(), Event.id.desc()).limit(limit)))


def to_public(event: Event) -> dict[str, Any]:
    """Return the event as webhooks and the API show it."""
    return {
        "id": event.id,
        "type": event.type,
        "timestamp": rfc3339(event.created_at),
        "data": event.data,
    }


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete events older than RETENTION, with their deliveries."""
    session.execute(delete(Event).where(Event.created_at < now - RETENTION))


def _insert(session: Session, new_events: Sequence[NewEvent], now: Moment) -> list[tuple[str, NewEvent]]:
    """Insert the events that are not known; return them with their ids."""
    by_id = {new_id("evt"): event for event in new_events}
    rows = [
        {
            "id": event_id,
            "workspace_id": event.workspace_id,
            "type": event.type_.value,
            "data": event.data,
            "dedup_key": event.dedup_key,
            "contact_id": event.contact_id,
            "created_at": now,
        }
        for event_id, event in by_id.items()
    ]
    statement = insert(session, Event).values(rows)
    inserted = statement.on_conflict_do_nothing(index_elements=[Event.workspace_id, Event.dedup_key])
    return [(row.id, by_id[row.id]) for row in session.execute(inserted.returning(Event.id))]


def _queue_deliveries(session: Session, inserted: Sequence[tuple[str, NewEvent]], now: Moment) -> None:
    receivers = endpoints.enabled(session, {event.workspace_id for _, event in inserted})
    deliveries.insert_for(
        session,
        [
            (endpoint, event_id)
            for event_id, event in inserted
            for endpoint in receivers
            if endpoint.workspace_id == event.workspace_id and event.type_.value in endpoint.types
        ],
        now=now,
    )
