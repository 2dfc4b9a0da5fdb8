"""Turns of workers with CRM connections: which are due, and which come too late."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from crm_support import EMAIL, CrmHarness
from jobs_support import a_workspace
from sqlalchemy import select, update
from stored_support import a_contact, an_email
from worker_harness import make_services

from app.domain.errors import NotFound
from app.domain.ids import new_id
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.events.events import Event
from app.engine.ledger.reveals import RevealedValue
from app.engine.work import items
from app.engine.work.items import NewItem
from app.engine.work.turns import LeaseLost
from app.features.crm import authorizations, outbox, people, push_attempts, pushes
from app.features.crm.connections import PUSHING, CrmConnection
from app.features.crm.outbox import Turn
from app.features.crm.push_attempts import Attempt, ItemResult
from app.features.crm.pushes import PushOutcome
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from workers.jobs import upkeep


def begin(harness: CrmHarness) -> Turn:
    with harness.database.transaction() as session:
        turn = outbox.begin(session, harness.connection_id, now=harness.now)
    assert turn is not None
    return turn


def claimed(harness: CrmHarness) -> list[str]:
    with harness.database.transaction() as session:
        return items.claim_due(session, PUSHING, now=harness.now)


def complete(harness: CrmHarness, database: Database, state: str) -> None:
    workspace_id, code = harness.workspace_id, "code"
    with database.transaction() as session:
        authorizations.complete(
            session, workspace_id, state=state, code=code, session_id="ses_1", now=harness.now
        )


def test_a_connection_that_is_due_is_claimed_once_until_its_message_is_lost(harness: CrmHarness) -> None:
    with harness.database.reading() as session:
        is_due = PUSHING.task in items.due_tasks(session, now=harness.now)

    first, second = claimed(harness), claimed(harness)
    harness.now += PUSHING.republish_after
    third = claimed(harness)

    assert is_due
    assert (first, second, third) == ([harness.connection_id], [], [harness.connection_id])


def test_of_many_connections_of_a_workspace_one_has_a_turn_at_a_time(
    harness: CrmHarness, database: Database
) -> None:
    with database.transaction() as session:
        row = session.get_one(CrmConnection, harness.connection_id)
        values = {name: getattr(row, name) for name in CrmConnection.__table__.c.keys() if name != "id"}  # noqa: SIM118
        other = values | {"workspace_id": a_workspace(session)}
        added = [CrmConnection(id=new_id("crm"), **columns) for columns in (values, values, other)]
        session.add_all(added)
        session.flush()
        items.add(session, PUSHING, *(NewItem(new.id, new.workspace_id, harness.now) for new in added))
        own = select(CrmConnection.id).where(CrmConnection.workspace_id == harness.workspace_id)
        mine = set(session.scalars(own))

    published = claimed(harness)
    with database.transaction() as session:
        [taken] = mine.intersection(published)
        turn = outbox.begin(session, taken, now=harness.now)
    during_the_turn = claimed(harness)
    assert turn is not None
    harness.later(seconds=1)
    with database.transaction() as session:
        outbox.end(session, turn, now=harness.now)
    after_the_turn = claimed(harness)

    assert len(mine) == 3
    assert len(published) == 2
    assert during_the_turn == []
    assert len(mine.intersection(after_the_turn)) == len(after_the_turn) == 1
    assert taken not in after_the_turn


def test_a_push_during_a_pause_waits_for_its_end(harness: CrmHarness) -> None:
    turn = begin(harness)
    pause = timedelta(minutes=5)
    with harness.database.transaction() as session:
        outbox.confirm(session, turn, now=harness.now)
        outbox.end(session, turn, pause=pause, error="rate_limited", now=harness.now)

    harness.push(harness.owned_contact())
    during_the_pause = claimed(harness)
    harness.now += pause

    assert during_the_pause == []
    assert claimed(harness) == [harness.connection_id]


def test_a_worker_that_has_lost_its_lease_stores_nothing(harness: CrmHarness) -> None:
    turn = begin(harness)

    late = dataclasses.replace(turn, work=dataclasses.replace(turn.work, lease_token="its"))

    with harness.database.transaction() as session, pytest.raises(LeaseLost):
        outbox.hold(session, late, now=harness.now)


def test_a_connection_that_was_deleted_meanwhile_ends_its_work(harness: CrmHarness) -> None:
    turn = begin(harness)
    with harness.database.transaction() as session:
        session.delete(session.get_one(CrmConnection, harness.connection_id))

    with pytest.raises(LeaseLost), harness.database.transaction() as session:
        outbox.hold(session, turn, now=harness.now)
    harness.now += PUSHING.lease
    with harness.database.transaction() as session:
        late = outbox.begin(session, harness.connection_id, now=harness.now)

    assert late is None
    assert claimed(harness) == []


def test_credentials_of_a_replaced_key_ask_to_connect_again(harness: CrmHarness) -> None:
    other = Database(harness.settings.database_url, keys=DigestKeys(b"other" * 8, b"other" * 8))

    with other.transaction() as session:
        turn = outbox.begin(session, harness.connection_id, now=harness.now)
    with pytest.raises(NotFound):
        complete(harness, other, f"{harness.connection_id}.state")
    other.close()

    assert turn is None
    assert (harness.connection().status, harness.connection().error) == ("reconnect", "secret_key_changed")


def test_a_connection_at_which_every_worker_fails_is_suspended_and_says_why(harness: CrmHarness) -> None:
    harness.push(harness.owned_contact())
    for _ in range(PUSHING.max_attempts):
        begin(harness)
        harness.later(seconds=PUSHING.lease.seconds + 1)

    with harness.database.transaction() as session:
        before = items.failed_counts(session, now=harness.now)["crm_connection"]
        turn = outbox.begin(session, harness.connection_id, now=harness.now)

    connection = harness.connection()
    assert before == 0
    assert turn is None
    assert (connection.status, connection.error) == ("reconnect", "turns_failed")
    assert claimed(harness) == []
    with harness.database.reading() as session:
        assert items.failed_counts(session, now=harness.now)["crm_connection"] == 1
        assert [event.type for event in session.scalars(select(Event))] == ["crm.push_failed"]


def test_a_push_whose_worker_is_lost_each_time_fails_and_the_others_go_on(harness: CrmHarness) -> None:
    push_id = harness.push(harness.owned_contact())
    for _ in range(len(push_attempts.RETRY_SCHEDULE) + 1):
        turn = begin(harness)
        with harness.database.transaction() as session:
            assert isinstance(push_attempts.next_attempt(session, turn, now=harness.now), Attempt)
        harness.later(seconds=PUSHING.lease.seconds + 1)
    harness.push(harness.owned_contact("bob@acme.com", "Bob Ray"))

    turn = begin(harness)
    with harness.database.transaction() as session:
        ended = push_attempts.next_attempt(session, turn, now=harness.now)
        other = push_attempts.next_attempt(session, turn, now=harness.now)

    [item] = harness.items(push_id)
    assert ended is PushOutcome.SKIPPED
    assert (item.outcome, item.error) == ("failed", "given_up")
    assert isinstance(other, Attempt)


def test_a_state_without_a_connection_is_refused(harness: CrmHarness) -> None:
    with pytest.raises(NotFound):
        complete(harness, harness.database, "nothing")


def test_the_attempt_for_a_person_who_was_erased_meanwhile_is_dropped(harness: CrmHarness) -> None:
    push_id = harness.push(contact_id := harness.owned_contact())
    turn = begin(harness)
    with harness.database.transaction() as session:
        attempt = push_attempts.next_attempt(session, turn, now=harness.now)
    assert isinstance(attempt, Attempt)
    with harness.database.transaction() as session:
        session.delete(session.get_one(Contact, contact_id))

    with harness.database.transaction() as session:
        push_attempts.postpone(session, turn, attempt, "timeout", now=harness.now)
        push_attempts.requeue(session, turn, attempt, now=harness.now)

        push_attempts.finish(session, turn, attempt, ItemResult(outcome=PushOutcome.CREATED), now=harness.now)

    assert harness.items(push_id) == []


def test_a_person_without_a_usable_address_is_not_pushed(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    with harness.database.transaction() as session:
        session.execute(update(Email).values(status="invalid"))

    with harness.database.reading() as session:
        reasons = [
            people.load(session, harness.workspace_id, id_, receipt_link="")
            for id_ in (new_id("con"), contact_id)
        ]
        earlier = pushes.latest(session, harness.workspace_id, before="psh_0", limit=1)

    assert (reasons, earlier) == (["not_owned", "no_email"], [])


def test_a_person_with_an_address_that_is_owned_under_another_contact_is_pushed(harness: CrmHarness) -> None:
    owned = harness.owned_contact()
    with harness.database.transaction() as session:
        twin = a_contact(session, None, "Ada King")
        an_email(session, twin, EMAIL)
        session.add(
            RevealedValue(
                workspace_id=harness.workspace_id,
                field="email",
                value_index=session.keys.ring.index("email", EMAIL),
                contact_id=owned,
                created_at=harness.now,
            )
        )

    with harness.database.reading() as session:
        found = people.pushable(session, harness.workspace_id, [twin.id])

    assert found == {twin.id}


def test_upkeep_deletes_pushes_that_are_over_with_the_jobs_of_their_time(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.later(hours=1)
    waiting = harness.push(contact_id)
    harness.later(days=harness.settings.job_retention_days - 1)
    services = make_services(harness.settings, harness.database)

    upkeep.purge_once(services)
    with harness.database.reading() as session:
        before = len(pushes.latest(session, harness.workspace_id, limit=9))
    harness.later(days=2)
    upkeep.purge_once(services)

    with harness.database.reading() as session:
        after = [summary.push.id for summary in pushes.latest(session, harness.workspace_id, limit=9)]
    assert (before, after) == (2, [waiting])
