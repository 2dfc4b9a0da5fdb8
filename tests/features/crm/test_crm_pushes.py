"""Tests of pushes to each CRM: one person there, whatever fails, and nothing that a person wrote is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from crm_support import CREATION, EMAIL, LOOPBACK, TITLES, CrmHarness
from sqlalchemy import select
from stored_support import a_phone, own, suppress

from app.engine.contacts.contacts import Contact
from app.engine.events.events import Event
from app.features.crm import people, records
from app.features.crm.records import CrmWrittenRecord
from app.features.crm.vendors import registry
from app.infra.database.session import Session
from workers.webhook_client import WebhookClient, WebhookResponse

every_vendor = pytest.mark.parametrize("vendor", sorted(TITLES))


def person(harness: CrmHarness) -> dict[str, object]:
    """Return the only person in the CRM."""
    [found] = harness.crm.people.values()
    return found


@every_vendor
def test_a_person_who_is_not_in_the_crm_is_created_with_the_mapped_values(
    harness: CrmHarness, vendor: str
) -> None:
    contact_id = harness.owned_contact()

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.error, item.attempts) == ("created", None, 1)
    assert set(item.actions.values()) == {"fill"}
    assert person(harness)[TITLES[vendor]] == "Engineer"
    assert EMAIL in str(person(harness))


@every_vendor
def test_a_second_push_changes_nothing(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    writes = len(harness.crm.writes)

    [item] = harness.pushed(contact_id)

    assert item.outcome == "unchanged"
    assert len(harness.crm.writes) == writes


@every_vendor
def test_a_person_who_is_in_the_crm_already_keeps_what_people_wrote_there(
    harness: CrmHarness, vendor: str
) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    person(harness)[TITLES[vendor]] = "Countess, do not call before noon"
    harness.change(contact_id, title="Chief Engineer")

    [item] = harness.pushed(contact_id)

    assert item.outcome == "unchanged"
    assert item.actions[TITLES[vendor]] == "keep"
    assert person(harness)[TITLES[vendor]] == "Countess, do not call before noon"


@every_vendor
def test_a_value_that_is_still_ours_is_renewed(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    harness.change(contact_id, title="Chief Engineer")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions[TITLES[vendor]]) == ("updated", "update")
    assert person(harness)[TITLES[vendor]] == "Chief Engineer"


@every_vendor
def test_only_empty_properties_of_a_person_found_by_address_are_filled(
    harness: CrmHarness, vendor: str
) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    person(harness)[TITLES[vendor]] = ""
    with harness.database.transaction() as session:
        session.execute(CrmWrittenRecord.__table__.delete())

    [item] = harness.pushed(contact_id)

    assert item.outcome == "updated"
    assert [name for name, action in item.actions.items() if action == "fill"] == [TITLES[vendor]]


@every_vendor
def test_a_preview_writes_nothing(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()

    [item] = harness.pushed(contact_id, dry_run=True)

    assert item.outcome == "would_create"
    assert harness.crm.people == {}
    assert harness.crm.writes == []


class WorkerKilledError(BaseException):
    """The worker is killed; nothing below the task catches it."""


@every_vendor
def test_a_worker_killed_after_the_write_and_a_replay_make_one_person(
    harness: CrmHarness, vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    contact_id = harness.owned_contact()
    push_id = harness.push(contact_id)
    with monkeypatch.context() as patch:
        patch.setattr("app.features.crm.push_attempts.finish", _killed)
        with pytest.raises(WorkerKilledError):
            harness.turn()
    harness.turn()  # the dead worker still has the lease
    assert len(harness.crm.people) == 1

    harness.later(minutes=2)
    harness.turn()

    [item] = harness.items(push_id)
    assert (item.outcome, item.attempts) == ("unchanged", 2)
    assert len(harness.crm.people) == 1


def _killed(*_arguments: object, **_options: object) -> None:
    raise WorkerKilledError


def another_worker_before(turn: Callable[[], None]) -> WebhookClient:
    """Return a client before whose first request another worker takes a turn with the connection."""
    turns = iter([turn])

    class InterruptedClient(WebhookClient):
        def send(self, *request: Any, **options: Any) -> WebhookResponse:
            for another in turns:
                another()
            return super().send(*request, **options)

    return InterruptedClient(LOOPBACK.networks)


def test_people_who_may_not_be_pushed_are_ended_one_after_the_other(
    harness: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = [f"person.{n}@acme.com" for n in range(3)]
    names = ("Ada Low", "Ada King", "Ada Byron")
    push_id = harness.push(*map(harness.owned_contact, addresses, names))
    with harness.database.transaction() as session:
        for address in addresses:
            suppress(session, "email", address)
    loads = iter([people.load, people.load, _killed])

    def load(*about: Any, **options: Any) -> Any:
        return next(loads)(*about, **options)

    monkeypatch.setattr(people, "load", load)

    with pytest.raises(WorkerKilledError):
        harness.turn()

    assert [item.outcome for item in harness.items(push_id)] == ["skipped", "skipped", None]


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_two_workers_at_once_create_a_person_once(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    harness.turn()
    pushes = [harness.push(contact_id) for _ in range(2)]

    harness.turn(another_worker_before(harness.turn))

    outcomes = [item.outcome for push_id in pushes for item in harness.items(push_id)]
    assert outcomes == ["created", "unchanged"]
    assert len(harness.crm.people) == 1


def test_values_written_by_a_killed_worker_are_recognized_as_ours(
    harness: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    contact_id = harness.owned_contact()
    harness.push(contact_id)
    with monkeypatch.context() as patch:
        patch.setattr("app.features.crm.push_attempts.finish", _killed)
        with pytest.raises(WorkerKilledError):
            harness.turn()
    harness.change(contact_id, title="Chief Engineer")

    harness.later(minutes=2)
    harness.turn()

    assert person(harness)["jobtitle"] == "Chief Engineer"


@every_vendor
def test_a_response_lost_after_the_write_makes_one_person(harness: CrmHarness, vendor: str) -> None:
    contact_id = harness.owned_contact()
    harness.turn()
    push_id = harness.push(contact_id)
    harness.crm.fail(504, method="POST", path=CREATION[vendor], after_the_write=True)

    harness.turn()
    waiting = harness.items(push_id)[0]
    harness.later(minutes=2)
    harness.turn()

    assert (waiting.outcome, waiting.error) == (None, "http_504")
    assert harness.items(push_id)[0].outcome == "unchanged"
    assert len(harness.crm.people) == 1


def test_a_person_created_by_somebody_else_at_the_same_moment_is_updated(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.crm.people["7"] = {"email": EMAIL, "firstname": "Augusta"}
    harness.crm.hidden.add("7")

    [item] = harness.pushed(contact_id)

    assert item.outcome == "updated"
    assert harness.crm.people["7"] | {"jobtitle": "Engineer", "firstname": "Augusta"} == person(harness)


def test_the_crm_id_leads_to_a_person_whose_address_was_changed_there(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    person(harness)["email"] = "countess@lovelace.example"

    [item] = harness.pushed(contact_id)

    assert item.actions["email"] == "keep"
    assert len(harness.crm.people) == 1


def test_a_rate_limit_delays_the_connection_as_long_as_the_crm_asks(harness: CrmHarness) -> None:
    push_id = harness.push(harness.owned_contact())
    harness.turn()
    push_id = harness.push(harness.owned_contact("bob@acme.com", "Bob Ray"))
    harness.crm.fail(429, {"errorType": "RATE_LIMIT"}, headers={"Retry-After": "90"})

    harness.turn()
    harness.later(seconds=80)
    harness.turn()
    before = harness.items(push_id)[0]
    harness.later(seconds=20)
    harness.turn()

    assert (before.outcome, before.attempts) == (None, 0)
    assert harness.items(push_id)[0].outcome == "created"


def test_refused_credentials_stop_the_pushes_until_the_workspace_connects_again(harness: CrmHarness) -> None:
    push_id = harness.push(harness.owned_contact())
    harness.crm.token = "another token"

    harness.turn()
    harness.later(days=2)
    harness.turn()

    assert (harness.connection().status, harness.connection().error) == ("reconnect", "unauthorized")
    assert harness.items(push_id)[0].outcome is None
    assert len(harness.crm.requests) == 1
    assert _events(harness) == [("crm.push_failed", "unauthorized")]


def test_rejected_values_fail_at_once_and_name_the_property(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.turn()
    error = {"category": "VALIDATION_ERROR", "errors": [{"context": {"propertyName": ["hs_linkedin_url"]}}]}
    push_id = harness.push(contact_id)
    harness.crm.fail(400, error, method="POST", path="/crm/v3/objects/contacts")

    harness.turn()

    [item] = harness.items(push_id)
    assert (item.outcome, item.error) == ("failed", "invalid_values: hs_linkedin_url")
    assert _events(harness) == [("crm.push_failed", "invalid_values: hs_linkedin_url")]


def test_a_crm_that_stays_away_fails_the_push_after_the_last_retry(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.turn()
    push_id = harness.push(contact_id)

    for _ in range(7):
        harness.crm.fail(503)
        harness.turn()
        harness.later(hours=8)

    [item] = harness.items(push_id)
    assert (item.outcome, item.error, item.attempts) == ("failed", "http_503", 7)


def test_an_address_that_answers_with_a_page_is_not_taken_for_a_crm(harness: CrmHarness) -> None:
    push_id = harness.push(harness.owned_contact())
    harness.crm.page = "<html>Sign in</html>"

    harness.turn()
    checked = harness.connection()
    harness.crm.page = ""
    harness.later(minutes=6)
    harness.turn()

    assert (checked.status, checked.error) == ("checking", "unexpected_response")
    assert harness.items(push_id)[0].outcome == "created"


def test_a_response_that_is_not_as_documented_is_tried_again(harness: CrmHarness) -> None:
    harness.turn()
    push_id = harness.push(harness.owned_contact())
    harness.crm.fail(201, {"unknown": True}, method="POST", path="/crm/v3/objects/contacts")

    harness.turn()
    between = harness.items(push_id)[0]
    harness.later(minutes=2)
    harness.turn()

    assert (between.outcome, between.error) == (None, "unexpected_response")
    assert harness.items(push_id)[0].outcome == "created"


def test_a_refused_check_needs_another_address_or_token(harness: CrmHarness) -> None:
    harness.crm.fail(404, {"status": "error"})

    harness.turn()

    assert (harness.connection().status, harness.connection().error) == ("reconnect", "http_404")


def test_nobody_who_is_suppressed_is_pushed(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    push_id = harness.push(contact_id)
    with harness.database.transaction() as session:
        suppress(session, "email", EMAIL)

    harness.turn()

    assert [(item.outcome, item.error) for item in harness.items(push_id)] == [("skipped", "suppressed")]
    assert harness.crm.people == {}


def test_values_that_the_workspace_does_not_own_are_not_pushed(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    with harness.database.transaction() as session:
        a_phone(session, session.get_one(Contact, contact_id), "+12025550101")

    harness.pushed(contact_id)

    assert "phone" not in person(harness)


def test_owned_numbers_that_may_be_called_are_pushed(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    with harness.database.transaction() as session:
        contact = session.get_one(Contact, contact_id)
        a_phone(session, contact, "+12025550101", type="mobile").do_not_call = True
        a_phone(session, contact, "+12025550102")
        own(session, harness.workspace_id, contact, "phone")

    harness.pushed(contact_id)

    assert person(harness)["phone"] == "+12025550102"


@pytest.mark.parametrize("vendor", ["pipedrive", "salesforce", "twenty", "zoho"])
def test_two_people_of_one_company_share_its_record(harness: CrmHarness, vendor: str) -> None:
    ids = [harness.owned_contact(), harness.owned_contact("bob@acme.com", "Bob Ray")]

    harness.pushed(*ids)

    relation = registry.load(harness.settings)[vendor].company_property
    assert len(harness.crm.companies) == 1
    assert {str(one[relation]) for one in harness.crm.people.values()} == set(harness.crm.companies)


def test_the_database_holds_neither_the_token_nor_the_values_in_plain(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)

    with harness.database.reading() as session:
        record = session.scalars(select(CrmWrittenRecord)).one()
    stored = f"{record.written_digests}"

    assert EMAIL not in stored
    assert "Engineer" not in stored
    assert harness.crm.token.encode() not in harness.connection().credentials


def _events(harness: CrmHarness) -> list[tuple[str, str]]:
    with harness.database.reading() as session:
        return [(event.type, event.data["error"]) for event in session.scalars(select(Event))]


def test_a_contact_is_locked_before_its_item_as_an_erasure_does(
    harness: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed_before: list[object] = []

    def lock(session: Session, connection_id: str, contact_id: str) -> CrmWrittenRecord:
        changed_before.extend(session.dirty)
        return lock_record(session, connection_id, contact_id)

    lock_record = records.lock
    monkeypatch.setattr(records, "lock", lock)

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, changed_before) == ("created", [])
