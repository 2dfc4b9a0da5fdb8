from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from jobs_support import NOW, a_workspace, at_once
from sqlalchemy import select
from stored_support import a_contact

from app.domain.errors import NotFound
from app.domain.event_types import EventType
from app.engine.contacts.contacts import Contact
from app.engine.events import endpoints, events
from app.engine.events.deliveries import Webhook
from app.engine.events.events import RETENTION, Event, NewEvent
from app.infra.database.db import Database
from app.infra.database.session import Session

URL = "https://hooks.acme.example/events"
WARNING = EventType.LIMIT_WARNING
REACHED = EventType.LIMIT_REACHED


def record(session: Session, workspace_id: str, key: str = "one", **changes: Any) -> bool:
    arguments: dict[str, Any] = {"type_": WARNING, "data": {"used": 80}, "now": NOW} | changes
    return events.record(session, workspace_id, dedup_key=key, **arguments)


def an_endpoint(session: Session, workspace_id: str, *types: str, url: str = URL) -> str:
    return endpoints.create(session, workspace_id, url=url, types=types or [WARNING], now=NOW).id


def queued(session: Session) -> list[str | None]:
    """Return the endpoints of all deliveries."""
    return list(session.scalars(select(Webhook.endpoint_id).order_by(Webhook.endpoint_id)))


def test_an_event_is_recorded_once_for_its_key(session: Session, workspace_id: str) -> None:
    recorded = [record(session, workspace_id) for _ in range(2)]

    assert recorded == [True, False]
    (event,) = events.latest(session, workspace_id, limit=9)
    assert (event.type, event.data, event.created_at) == (WARNING, {"used": 80}, NOW)


def test_two_workspaces_can_have_events_with_the_same_key(session: Session) -> None:
    workspaces = [a_workspace(session), a_workspace(session)]

    assert [record(session, workspace_id) for workspace_id in workspaces] == [True, True]


def test_concurrent_transactions_record_an_event_once(database: Database) -> None:
    with database.transaction() as session:
        workspace_id = a_workspace(session)
        an_endpoint(session, workspace_id)

    def work(_number: int) -> bool:
        with database.transaction() as session:
            return record(session, workspace_id)

    assert sum(at_once(8, work)) == 1
    with database.reading() as session:
        assert len(queued(session)) == 1


def test_an_event_is_delivered_to_the_endpoints_of_its_workspace_that_subscribe_to_its_type(
    session: Session, workspace_id: str
) -> None:
    subscribed = [an_endpoint(session, workspace_id, WARNING, REACHED), an_endpoint(session, workspace_id)]
    an_endpoint(session, workspace_id, REACHED)
    an_endpoint(session, a_workspace(session))

    record(session, workspace_id)
    record(session, workspace_id)

    assert queued(session) == sorted(subscribed)


def test_a_disabled_endpoint_receives_nothing(session: Session, workspace_id: str) -> None:
    endpoint_id = an_endpoint(session, workspace_id)
    endpoints.locked(session, workspace_id, endpoint_id).disabled_at = NOW

    record(session, workspace_id)

    assert queued(session) == []


def test_many_events_are_recorded_with_few_statements(session: Session, workspace_id: str) -> None:
    an_endpoint(session, workspace_id)
    new_events = [
        NewEvent(workspace_id=workspace_id, type_=WARNING, data={}, dedup_key=str(number % 1100))
        for number in range(1200)
    ]

    recorded = events.record_many(session, new_events, now=NOW)

    assert len(recorded) == len(queued(session)) == 1100


def test_a_test_event_is_delivered_to_the_tested_endpoint_only(session: Session, workspace_id: str) -> None:
    tested, _other = an_endpoint(session, workspace_id), an_endpoint(session, workspace_id)

    for _ in range(2):
        events.record_test(session, workspace_id, tested, now=NOW)

    assert queued(session) == [tested, tested]


def test_another_workspaces_endpoint_cannot_be_tested(session: Session, workspace_id: str) -> None:
    endpoint_id = an_endpoint(session, a_workspace(session))

    with pytest.raises(NotFound):
        events.record_test(session, workspace_id, endpoint_id, now=NOW)


def test_events_are_listed_newest_first_by_page_and_type(session: Session, workspace_id: str) -> None:
    for number in range(5):
        record(session, workspace_id, str(number), now=NOW + timedelta(seconds=number), data={"n": number})
    record(session, workspace_id, "other", type_=REACHED, now=NOW)
    record(session, a_workspace(session))

    first = events.latest(session, workspace_id, type_=WARNING, limit=3)
    rest = events.latest(session, workspace_id, type_=WARNING, before=first[-1].id, limit=3)

    assert [event.data["n"] for event in first + rest] == [4, 3, 2, 1, 0]


def test_an_event_about_a_contact_is_deleted_with_the_contact(session: Session, workspace_id: str) -> None:
    contact = a_contact(session)
    an_endpoint(session, workspace_id)
    record(session, workspace_id, contact_id=contact.id)

    session.delete(session.get_one(Contact, contact.id))
    session.flush()

    assert events.latest(session, workspace_id, limit=9) == []
    assert queued(session) == []


def test_old_events_are_purged_with_their_deliveries(session: Session, workspace_id: str) -> None:
    an_endpoint(session, workspace_id)
    record(session, workspace_id, "old", now=NOW - RETENTION - timedelta(seconds=1))
    record(session, workspace_id, "recent", now=NOW - RETENTION)

    events.purge_expired(session, now=NOW)

    assert list(session.scalars(select(Event.dedup_key))) == ["recent"]
    assert len(queued(session)) == 1
