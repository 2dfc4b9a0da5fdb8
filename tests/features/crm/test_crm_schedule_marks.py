"""What is outdated is marked in the CRM, in the property that the workspace named for it."""

from __future__ import annotations

from typing import Any

import pytest
from crm_schedule_support import LISTS, Scheduler, answer
from crm_support import CrmHarness
from fake_crms import FakeCrm, FakeSalesforce
from fake_providers import MISS
from jobs_support import NOW
from sqlalchemy import update
from stored_support import a_company, a_contact, an_email, own, suppress

from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.features.crm import connections, records
from app.features.crm.index.crm_people import RecordKind
from app.infra.database.session import Session

KEY = "3b71d5b6cea10e23f3f433d248add2020d4aff2e"
PROPERTIES = {
    "hubspot": "data_status",
    "pipedrive": KEY,
    "salesforce": "Data_Status__c",
    "twenty": "dataStatus",
    "zoho": "Data_Status",
}
"""A property of text in each CRM."""
OLD = "old@acme.com"
PROFILE = "https://www.linkedin.com/in/ada-lovelace"

every_vendor = pytest.mark.parametrize("vendor", sorted(LISTS))


@pytest.fixture
def scheduler(harness: CrmHarness, vendor: str, monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """Return a scheduler of a CRM in which a property is named for marks."""
    scheduler = Scheduler.of(harness, vendor)
    scheduler.set_providers(monkeypatch, one=answer)
    harness.map(marks=PROPERTIES[vendor])
    return scheduler


def a_stored_person(scheduler: Scheduler, *, owned: bool = True, **changes: Any) -> str:
    """Insert a contact who has left Acme for Globex, and whose address at Acme bounced; return the id."""
    with scheduler.harness.database.transaction() as session:
        globex = a_company(session, "Globex", domain="globex.example")
        contact = a_contact(session, globex, "Ada Person1", **changes)
        an_email(session, contact, OLD, status="invalid")
        if owned:
            own(session, scheduler.harness.workspace_id, contact, "email")
        return contact.id


def a_complete_record(scheduler: Scheduler, number: int = 1) -> str:
    """Store a person of Acme, with an address, in the CRM and on the list; return the id of the record."""
    [id_] = scheduler.has(number)
    scheduler.write(id_, email=OLD, title="Countess")
    return id_


def marked(crm: FakeCrm, vendor: str, crm_id: str) -> Any:
    """Return what the CRM has in the property of marks."""
    record = crm.people[crm_id]
    return (record.get("custom_fields", {}) if vendor == "pipedrive" else record).get(PROPERTIES[vendor])


def mark_by_hand(crm: FakeCrm, vendor: str, crm_id: str, text: str) -> None:
    """Write a text into the property of marks, as a person does in the CRM."""
    record = crm.people[crm_id]
    (record.setdefault("custom_fields", {}) if vendor == "pipedrive" else record)[PROPERTIES[vendor]] = text


def move_back(session: Session) -> None:
    """Let the contact be at Acme, where the address is valid."""
    acme = a_company(session, "Acme")
    session.execute(update(Contact).values(company_id=acme.id))
    session.execute(update(Email).values(status="valid"))


@every_vendor
def test_a_record_of_which_nothing_lacks_is_marked_and_costs_nothing(
    scheduler: Scheduler, vendor: str
) -> None:
    id_ = a_complete_record(scheduler)
    contact_id = a_stored_person(scheduler)
    scheduler.schedule()

    run = scheduler.run()

    [record], [item] = scheduler.records(), scheduler.pushed()
    assert marked(scheduler.harness.crm, vendor, id_) == "bounced, job_changed"
    assert (run.people, run.charged, run.jobs) == (0, 0, 0)
    assert (record.outcome, record.asked, record.contact_id) == ("checked", "", contact_id)
    assert record.marks == ["bounced", "job_changed"]
    assert (item.outcome, item.actions) == ("updated", {PROPERTIES[vendor]: "fill"})


@every_vendor
def test_a_mark_that_does_not_hold_any_more_is_removed(scheduler: Scheduler, vendor: str) -> None:
    id_ = a_complete_record(scheduler)
    a_stored_person(scheduler)
    scheduler.schedule()
    scheduler.run()
    with scheduler.harness.database.transaction() as session:
        move_back(session)

    scheduler.run()
    removed = marked(scheduler.harness.crm, vendor, id_)
    again = scheduler.run()

    assert not removed
    assert [item.actions for item in scheduler.pushed()] == [
        {PROPERTIES[vendor]: "fill"},
        {PROPERTIES[vendor]: "update"},
        {PROPERTIES[vendor]: "same"},
    ]
    assert [record.marks for record in scheduler.records()][1:] == [[], []]
    assert again.charged == 0


@every_vendor
def test_what_a_person_wrote_into_the_property_is_kept(scheduler: Scheduler, vendor: str) -> None:
    id_ = a_complete_record(scheduler)
    a_stored_person(scheduler)
    scheduler.schedule()
    scheduler.run()
    mark_by_hand(scheduler.harness.crm, vendor, id_, "checked by Kim")

    scheduler.run()
    with scheduler.harness.database.transaction() as session:
        move_back(session)
    scheduler.run()

    assert marked(scheduler.harness.crm, vendor, id_) == "checked by Kim"
    assert [list(item.actions.values()) for item in scheduler.pushed()] == [["fill"], ["keep"], ["keep"]]


@every_vendor
def test_nothing_is_marked_in_the_crm_without_a_property_for_it(scheduler: Scheduler, vendor: str) -> None:
    id_ = a_complete_record(scheduler)
    before = dict(scheduler.harness.crm.people[id_])
    a_stored_person(scheduler)
    with scheduler.harness.database.transaction() as session:
        unmap(session, scheduler)
    scheduler.schedule()

    run = scheduler.run()

    assert (scheduler.records(), run.push_id, scheduler.harness.crm.people[id_]) == ([], None, before)


def test_a_person_who_is_asked_for_is_marked_with_what_was_found(scheduler: Scheduler) -> None:
    company = {"company": "Initech", "website": "initech.example"}
    scheduler.has(1, email=OLD, hs_linkedin_url=PROFILE, jobtitle="Countess", **company)
    a_stored_person(scheduler, linkedin_url=PROFILE, title="Analyst")
    scheduler.harness.later(days=100)
    scheduler.schedule(refresh_days=90)

    scheduler.run()

    [item] = scheduler.pushed()
    person = scheduler.harness.crm.people["1"]
    assert (person["data_status"], person["jobtitle"]) == ("bounced, job_changed", "Countess")
    assert item.actions == item.actions | {"data_status": "fill", "jobtitle": "keep"}


def test_a_mark_is_replaced_by_another_one(scheduler: Scheduler) -> None:
    a_complete_record(scheduler)
    a_stored_person(scheduler)
    scheduler.schedule()
    scheduler.run()
    with scheduler.harness.database.transaction() as session:
        session.execute(update(Email).values(status="valid"))

    scheduler.run()

    assert scheduler.harness.crm.people["1"]["data_status"] == "job_changed"
    assert scheduler.pushed()[-1].actions == {"data_status": "update"}


def test_of_a_person_whom_the_workspace_does_not_own_only_the_mark_is_written(scheduler: Scheduler) -> None:
    scheduler.has(1, email=OLD, hs_linkedin_url=PROFILE)
    a_stored_person(scheduler, owned=False, linkedin_url=PROFILE, title="Analyst")
    scheduler.schedule()

    scheduler.run()

    person = scheduler.harness.crm.people["1"]
    assert person["data_status"] == "job_changed"  # the address is not theirs, so nothing is said of it
    assert "jobtitle" not in person


def test_a_person_of_whom_nothing_is_found_is_marked(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.has(1, hs_linkedin_url=PROFILE)
    a_stored_person(scheduler, owned=False, linkedin_url=PROFILE)
    scheduler.set_providers(monkeypatch, one=MISS)
    scheduler.schedule(fields=["phone"])

    run = scheduler.run()

    assert (scheduler.outcomes(), run.charged) == (["not_found"], 0)
    assert scheduler.harness.crm.people["1"]["data_status"] == "job_changed"
    assert [item.actions for item in scheduler.pushed()] == [{"data_status": "fill"}]


def test_an_address_about_which_the_workspace_is_told_nothing_leads_to_no_mark(scheduler: Scheduler) -> None:
    a_complete_record(scheduler)
    a_stored_person(scheduler, owned=False)
    scheduler.schedule()

    scheduler.run()

    assert scheduler.records() == []


def test_the_record_to_which_a_person_is_pushed_is_marked_whatever_it_contains(scheduler: Scheduler) -> None:
    scheduler.has(1, email="other@acme.com")
    contact_id = a_stored_person(scheduler)
    with scheduler.harness.database.transaction() as session:
        records.lock(session, scheduler.harness.connection_id, contact_id).crm_id = "1"
    scheduler.schedule()

    scheduler.run()

    assert scheduler.harness.crm.people["1"]["data_status"] == "job_changed"


def test_another_record_of_a_person_is_not_marked(scheduler: Scheduler) -> None:
    a_complete_record(scheduler)
    contact_id = a_stored_person(scheduler)
    with scheduler.harness.database.transaction() as session:
        records.lock(session, scheduler.harness.connection_id, contact_id).crm_id = "7"
    scheduler.schedule()

    run = scheduler.run()

    assert [record.error for record in scheduler.records()] == ["other_record"]
    assert run.push_id is None


def test_a_record_that_was_marked_is_asked_for_as_soon_as_something_lacks(scheduler: Scheduler) -> None:
    a_complete_record(scheduler)
    a_stored_person(scheduler)
    scheduler.schedule()
    scheduler.run()
    stamp = scheduler.harness.now.isoformat()
    scheduler.harness.crm.people["1"] |= {"email": "", "lastmodifieddate": stamp}
    scheduler.harness.later(minutes=10)
    scheduler.harness.read_to_the_end()

    scheduler.run()

    assert [record.asked for record in scheduler.records()] == ["", "email"]


def test_each_member_of_a_list_has_one_receipt_on_whatever_pages_it_is(scheduler: Scheduler) -> None:
    a_complete_record(scheduler)
    scheduler.has(2)
    a_complete_record(scheduler, 3)
    scheduler.harness.crm.lists["42"] += ["1", "1"]
    a_stored_person(scheduler)
    scheduler.schedule()

    scheduler.run()

    receipts = [(record.number, record.crm_id, record.outcome) for record in scheduler.records()]
    assert receipts == [(0, "2", "found"), (1, "1", "checked"), (2, "3", "checked")]


def test_a_person_who_opted_out_is_not_marked(scheduler: Scheduler) -> None:
    a_complete_record(scheduler)
    a_stored_person(scheduler)
    with scheduler.harness.database.transaction() as session:
        suppress(session, "email", OLD)
    scheduler.schedule()

    scheduler.run()

    assert scheduler.records() == []


def test_a_person_who_opts_out_before_the_push_is_not_marked(scheduler: Scheduler) -> None:
    a_complete_record(scheduler)
    a_stored_person(scheduler)
    scheduler.schedule()
    scheduler.at_due_time()
    for _ in range(2):  # one turn reads the list, the other one ends the run
        scheduler.turn()
        scheduler.harness.later(seconds=60)
    with scheduler.harness.database.transaction() as session:
        suppress(session, "email", OLD)

    scheduler.harness.turn()

    assert [(item.outcome, item.error) for item in scheduler.pushed()] == [("skipped", "suppressed")]
    assert "data_status" not in scheduler.harness.crm.people["1"]


def test_a_property_that_is_not_named_any_more_is_not_written(scheduler: Scheduler) -> None:
    a_complete_record(scheduler)
    a_stored_person(scheduler)
    scheduler.schedule()
    scheduler.at_due_time()
    scheduler.turn()
    with scheduler.harness.database.transaction() as session:
        unmap(session, scheduler)

    run = scheduler.go_on()

    assert (len(scheduler.records()), run.push_id) == (1, None)


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_leads_are_marked(scheduler: Scheduler, vendor: str) -> None:
    crm = scheduler.harness.crm
    assert isinstance(crm, FakeSalesforce)
    stamp = NOW.isoformat(timespec="milliseconds")
    names = {"FirstName": "Ada", "LastName": "Person1", "Company": "Acme", "Email": OLD}
    crm.leads["00Q7"] = names | {"SystemModstamp": stamp}
    crm.lists[LISTS[vendor]] = ["00Q7"]
    a_stored_person(scheduler)
    scheduler.schedule(kind=RecordKind.LEAD.value)

    scheduler.run()

    assert crm.leads["00Q7"]["Data_Status__c"] == "bounced, job_changed"


def unmap(session: Session, scheduler: Scheduler) -> None:
    """Name no property for marks any more."""
    harness = scheduler.harness
    connection = connections.get(session, harness.workspace_id, harness.connection_id, lock=True)
    connection.mapping = {name: value for name, value in connection.mapping.items() if name != "marks"}
