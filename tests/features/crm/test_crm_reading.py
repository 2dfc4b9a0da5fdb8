"""The people of a CRM are read into the index: all of them, then what was changed, in pages."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from crm_support import FAKES, CrmHarness
from fake_crms import (
    Failure,
    FakeCrm,
    FakeHubSpot,
    FakePipedrive,
    FakeSalesforce,
    FakeTwenty,
    FakeZoho,
)
from jobs_support import NOW
from sqlalchemy import select

from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.events.events import Event
from app.engine.exclusions import exclusion_checks
from app.engine.exclusions.exclusion_checks import Wanted
from app.engine.work import items
from app.engine.work.items import WorkItem
from app.engine.work.turns import LeaseLost
from app.features.crm import connections
from app.features.crm.connections import READING, Credentials, CrmConnection, reading_id
from app.features.crm.index import crm_index, readings
from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.features.crm.index.readings import CrmReading, Place
from app.features.crm.turn import pace
from app.features.crm.turn.reading import ReadingTurn
from app.features.crm.vendors.hubspot import reading as hubspot
from app.features.crm.vendors.hubspot.hubspot import HubSpot
from app.features.crm.vendors.pipedrive import reading as pipedrive
from app.features.crm.vendors.reading import Page
from app.features.crm.vendors.salesforce import reading as salesforce
from app.features.crm.vendors.twenty import reading as twenty
from app.features.crm.vendors.zoho import reading as zoho
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.settings import Settings

VENDORS = tuple(FAKES)
EMAIL = "ada@acme.com"
COMPANY = "00000000-0000-4000-8000-000000000009"


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (hubspot, pipedrive, salesforce, twenty, zoho):
        monkeypatch.setattr(module, "PAGE_SIZE", 2)


@pytest.fixture
def connected(harness: CrmHarness) -> CrmHarness:
    """Return the harness after the credentials were accepted."""
    harness.turn()
    return harness


def has(crm: FakeCrm, number: int, at: datetime, *, email: str = "", **values: Any) -> str:
    """Store or change a person in the CRM at this time; return the id."""
    name, email = f"Person{number}", email or f"person{number}@acme.com"
    stamp = at.isoformat(timespec="milliseconds")
    if isinstance(crm, FakeSalesforce):
        id_ = f"003{number:04}"
        crm.people[id_] = {
            "FirstName": "Ada",
            "LastName": name,
            "Email": email,
            "SystemModstamp": stamp,
        } | values
    elif isinstance(crm, FakeTwenty):
        id_ = f"00000000-0000-4000-8000-{number:012}"
        crm.people[id_] = {
            "name": {"firstName": "Ada", "lastName": name},
            "emails": {"primaryEmail": email},
            "updatedAt": stamp,
        } | values
    elif isinstance(crm, FakePipedrive):
        id_ = str(number)
        crm.people[id_] = {
            "name": f"Ada {name}",
            "emails": [{"value": email, "primary": True}],
            "update_time": stamp,
        } | values
    elif isinstance(crm, FakeZoho):
        id_ = str(number)
        crm.people[id_] = {
            "First_Name": "Ada",
            "Last_Name": name,
            "Email": email,
            "Modified_Time": stamp,
        } | values
    else:
        id_ = str(number)
        crm.people[id_] = {
            "firstname": "Ada",
            "lastname": name,
            "email": email,
            "lastmodifieddate": stamp,
        } | values
    return id_


def people(harness: CrmHarness) -> list[str]:
    return [person.name for person in harness.indexed()]


def next_day(harness: CrmHarness) -> None:
    harness.later(days=1)


@pytest.mark.parametrize("vendor", VENDORS)
def test_all_people_are_read_in_pages(connected: CrmHarness) -> None:
    for number in range(1, 6):
        has(connected.crm, number, NOW - timedelta(days=number))

    connected.read_to_the_end()

    reading = connected.reading()
    assert people(connected) == [f"Ada Person{number}" for number in range(1, 6)]
    assert list(connected.indexed()[0].emails) == ["person1@acme.com"]
    assert (reading.records, reading.error, reading.finished_at, reading.read) == (5, None, connected.now, 5)


@pytest.mark.parametrize("vendor", VENDORS)
def test_then_only_what_was_changed_is_read(connected: CrmHarness) -> None:
    for number in range(1, 6):
        has(connected.crm, number, NOW - timedelta(days=number))
    connected.read_to_the_end()
    connected.later(seconds=60)
    for number in (2, 6, 7, 8):  # the last change is of the first id
        has(connected.crm, number, connected.now - timedelta(seconds=number))

    connected.read_to_the_end()

    assert len(people(connected)) == connected.reading().records == 8
    assert 4 <= connected.reading().read <= 6  # HubSpot repeats contacts of the last date


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_person_who_is_changed_is_found_with_the_new_values_only(connected: CrmHarness) -> None:
    has(connected.crm, 1, NOW - timedelta(days=1))
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 1, connected.now, email="new@acme.com")

    connected.read_to_the_end()

    assert [list(person.emails) for person in connected.indexed()] == [["new@acme.com"]]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_worker_that_takes_over_continues_after_the_last_page(
    connected: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 6):
        has(connected.crm, number, NOW - timedelta(days=number))
    pages: list[Page] = []
    page = ReadingTurn._page  # noqa: SLF001 -- the place at which the worker is killed

    def is_killed(turn: ReadingTurn, place: Place) -> Page:
        if pages:
            raise KeyboardInterrupt
        pages.append(page(turn, place))
        return pages[0]

    connected.later(seconds=2)
    with monkeypatch.context() as killing:
        killing.setattr(ReadingTurn, "_page", is_killed)
        with pytest.raises(KeyboardInterrupt):
            connected.read()
    half = people(connected)
    connected.later(seconds=READING.lease.seconds + 1)

    connected.read_to_the_end()

    assert len(half) == 2
    assert people(connected) == [f"Ada Person{number}" for number in range(1, 6)]
    assert connected.reading().read == 5


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_person_whom_the_crm_has_no_more_is_forgotten_by_the_next_full_reading(
    connected: CrmHarness,
) -> None:
    for number in (1, 2, 3):
        has(connected.crm, number, NOW - timedelta(days=number))
    connected.read_to_the_end()
    connected.crm.people.pop(next(iter(connected.crm.people)))
    connected.later(seconds=60)
    connected.read_to_the_end()
    before = people(connected)
    next_day(connected)

    connected.read_to_the_end()

    assert len(before) == 3
    assert people(connected) == ["Ada Person2", "Ada Person3"]
    assert connected.reading().records == 2


def test_a_full_reading_that_has_not_ended_forgets_nobody(connected: CrmHarness) -> None:
    for number in range(1, 4):
        has(connected.crm, number, NOW - timedelta(days=number))
    connected.read_to_the_end()
    connected.crm.people.pop("3")
    for number in (4, 5):
        has(connected.crm, number, NOW)
    next_day(connected)
    connected.crm.fail(500, method="GET", path="/contacts")

    connected.read()

    assert "Ada Person3" in people(connected)
    assert connected.reading().error == "http_500"


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("skew", [timedelta(hours=-1), timedelta(hours=1)])
def test_a_change_is_seen_though_the_clock_of_the_crm_is_an_hour_off(
    connected: CrmHarness, skew: timedelta
) -> None:
    has(connected.crm, 1, NOW - timedelta(days=1))
    connected.read_to_the_end()

    for number in (2, 3, 4):
        connected.later(seconds=60)
        has(connected.crm, number, connected.now + skew)
        connected.read_to_the_end()

    assert people(connected) == [f"Ada Person{number}" for number in range(1, 5)]


def test_a_date_in_the_far_future_does_not_hide_later_changes(connected: CrmHarness) -> None:
    has(connected.crm, 1, NOW - timedelta(days=1))
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 2, NOW + timedelta(days=9000))
    connected.read_to_the_end()
    connected.later(hours=2)
    has(connected.crm, 3, connected.now)

    connected.read_to_the_end()

    assert len(people(connected)) == 3


def test_a_record_that_becomes_visible_late_is_read(connected: CrmHarness) -> None:
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 1, connected.now)
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 2, connected.now - timedelta(minutes=4))

    connected.read_to_the_end()

    assert len(people(connected)) == 2


def test_what_was_read_before_is_not_stored_again(connected: CrmHarness) -> None:
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 1, connected.now)
    connected.read_to_the_end()
    first = connected.now
    connected.later(seconds=60)

    connected.read_to_the_end()

    with connected.database.reading() as session:
        [read_at] = session.scalars(select(readings.crm_index.CrmIndexRecord.read_at))
    assert (read_at, connected.reading().read) == (first, 1)


def test_many_contacts_of_one_date_are_read_by_their_ids(connected: CrmHarness) -> None:
    connected.read_to_the_end()
    connected.later(seconds=60)
    for number in range(1, 8):
        has(connected.crm, number, connected.now)
    has(connected.crm, 8, connected.now + timedelta(seconds=1))

    connected.read_to_the_end()

    assert len(people(connected)) == 8


def test_a_contact_of_hubspot_is_read_with_its_addresses_owner_and_stage(connected: CrmHarness) -> None:
    assert isinstance(connected.crm, FakeHubSpot)
    connected.crm.owners = {"5": ("Kim", "Lee"), "6": ("Lou", "Ray")}
    connected.map(linkedin_url="linkedin_profile")
    values = {
        "hs_additional_emails": "ada@home.example;ada@old.example",
        "mobilephone": "+1 650 253 0000",
        "linkedin_profile": "linkedin.com/in/ada-lovelace",
        "company": "Acme GmbH",
        "website": "https://www.acme.com/en",
        "hubspot_owner_id": "6",
        "lifecyclestage": "customer",
    }
    has(connected.crm, 1, NOW, **values)
    has(connected.crm, 2, NOW, lastmodifieddate=None)

    connected.read_to_the_end()

    assert connected.indexed() == [
        CrmPerson(
            crm_id="1",
            kind=RecordKind.CONTACT,
            changed_at=NOW,
            name="Ada Person1",
            emails=["person1@acme.com", "ada@home.example", "ada@old.example"],
            phones=["+16502530000"],
            profiles=["https://www.linkedin.com/in/ada-lovelace"],
            company="Acme GmbH",
            domain="acme.com",
            owner="Lou Ray",
            stage="customer",
        ),
        CrmPerson(crm_id="2", kind=RecordKind.CONTACT, name="Ada Person2", emails=["person2@acme.com"]),
    ]


def excluded(harness: CrmHarness, email: str) -> list[str | None]:
    """Return the stages for which the workspace excludes who has the address."""
    wanted = [Wanted(harness.workspace_id, [Identifier("email", email)])]
    with harness.database.reading() as session:
        _, [found] = exclusion_checks.check(session, (), wanted)
    return [one.stage for one in found.values()]


def test_whoever_has_an_excluded_stage_in_the_crm_is_excluded_while_it_lasts(connected: CrmHarness) -> None:
    has(connected.crm, 1, NOW, lifecyclestage="customer")
    has(connected.crm, 2, NOW, lifecyclestage="lead")
    connected.read_to_the_end()
    with connected.database.transaction() as session:
        connection = session.get_one(CrmConnection, connected.connection_id)
        connections.exclude_stages(session, connection, ["customer"], account_id="acc_1", now=NOW)
    first = [excluded(connected, f"person{number}@acme.com") for number in (1, 2)]
    connected.later(minutes=1)
    has(connected.crm, 1, connected.now, lifecyclestage="former customer")

    connected.read_to_the_end()

    assert first == [["customer"], []]
    assert excluded(connected, "person1@acme.com") == []
    assert connected.reading().stages == ["customer", "former customer", "lead"]


def test_contacts_of_hubspot_are_read_without_owners_that_may_not_be_read(connected: CrmHarness) -> None:
    has(connected.crm, 1, NOW, hubspot_owner_id="6")

    connected.read_to_the_end()

    assert [person.owner for person in connected.indexed()] == [""]
    assert (connected.reading().notes, connected.reading().error) == (["owners_unreadable"], None)


def test_the_notes_of_a_full_reading_remain_until_the_next_one(connected: CrmHarness) -> None:
    assert isinstance(connected.crm, FakeHubSpot)
    has(connected.crm, 1, NOW, hubspot_owner_id="6")
    connected.read_to_the_end()
    connected.crm.owners = {"6": ("Lou", "Ray")}
    connected.later(seconds=60)
    connected.read_to_the_end()
    same_day = connected.reading().notes
    next_day(connected)

    connected.read_to_the_end()

    assert (same_day, connected.reading().notes) == (["owners_unreadable"], [])


def test_the_owners_of_an_account_that_pages_for_ever_are_read_up_to_a_limit(
    connected: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(connected.crm, FakeHubSpot)
    monkeypatch.setattr(hubspot, "MAX_OWNER_PAGES", 1)
    connected.crm.owners = {"5": ("Kim", "Lee"), "6": ("Lou", "Ray")}
    has(connected.crm, 1, NOW, hubspot_owner_id="6")

    connected.read_to_the_end()

    assert [person.owner for person in connected.indexed()] == [""]


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_contacts_and_leads_of_salesforce_are_read_with_account_owner_and_status(
    connected: CrmHarness,
) -> None:
    crm = connected.crm
    assert isinstance(crm, FakeSalesforce)
    crm.companies["001"] = {"Name": "Acme GmbH", "Website": "www.acme.com"}
    crm.described["Contact"] = [{"name": "Linkedin__c", "type": "url"}, {"name": "Other__c", "type": "email"}]
    connected.map(linkedin_url="Linkedin__c")
    profile = "https://www.linkedin.com/in/ada-lovelace"
    owner = {"Owner": {"Name": "Kim Lee"}}
    values = {"AccountId": "001", "Linkedin__c": profile, "Other__c": "ada@home.example"} | owner
    has(crm, 1, NOW, MobilePhone="+1 650 253 0000", **values)
    lead = {"LastName": "Ray", "Company": "Ray Ltd", "Website": "ray.example", "Status": "Open"} | owner
    crm.leads["00Q1"] = lead | {"Email": "bob@ray.example", "SystemModstamp": NOW.isoformat()}

    connected.read_to_the_end()

    contact, open_lead = connected.indexed()
    assert (contact.kind, contact.emails) == ("contact", ["person1@acme.com", "ada@home.example"])
    assert (contact.phones, contact.profiles) == (["+16502530000"], [profile])
    assert (contact.company, contact.domain, contact.owner) == ("Acme GmbH", "acme.com", "Kim Lee")
    assert (open_lead.kind, open_lead.crm_id, open_lead.name) == ("lead", "00Q1", "Ray")
    assert (open_lead.company, open_lead.domain, open_lead.owner) == ("Ray Ltd", "ray.example", "Kim Lee")
    assert open_lead.stage == "Open"


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_a_lead_that_is_converted_is_left_out_and_forgotten(connected: CrmHarness) -> None:
    crm = connected.crm
    assert isinstance(crm, FakeSalesforce)
    for number in (1, 2, 3):
        stamp = (NOW - timedelta(days=number)).isoformat()
        crm.leads[f"00Q{number}"] = {"LastName": "Ray", "IsConverted": number == 3, "SystemModstamp": stamp}
    connected.read_to_the_end()
    before = [person.crm_id for person in connected.indexed()]
    connected.later(seconds=60)
    crm.leads["00Q1"] |= {"IsConverted": True, "SystemModstamp": connected.now.isoformat()}

    connected.read_to_the_end()

    assert before == ["00Q1", "00Q2"]
    assert [person.crm_id for person in connected.indexed()] == ["00Q2"]


@pytest.mark.parametrize("vendor", ["salesforce"])
@pytest.mark.parametrize("answer", [(400, "INVALID_TYPE"), (403, "INSUFFICIENT_ACCESS")])
@pytest.mark.parametrize(
    ("table", "note", "kind"),
    [("Lead", "leads_unreadable", "contact"), ("Contact", "contacts_unreadable", "lead")],
)
def test_a_table_that_may_not_be_read_is_left_out_and_named(
    connected: CrmHarness, table: str, note: str, kind: str, answer: tuple[int, str]
) -> None:
    crm = connected.crm
    assert isinstance(crm, FakeSalesforce)
    crm.unreadable = {table: answer}
    for number in (1, 2, 3):
        has(crm, number, NOW)
        crm.leads[f"00Q{number}"] = {"LastName": "Ray", "SystemModstamp": NOW.isoformat()}

    connected.read_to_the_end()

    assert [person.kind for person in connected.indexed()] == [kind] * 3
    assert (connected.reading().notes, connected.reading().error) == ([note], None)


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_nothing_is_read_of_an_org_that_permits_neither_table(connected: CrmHarness) -> None:
    assert isinstance(connected.crm, FakeSalesforce)
    connected.crm.unreadable = dict.fromkeys(("Contact", "Lead"), (403, "INSUFFICIENT_ACCESS"))
    connected.later(seconds=2)

    connected.read()

    assert (connected.reading().error, connected.connection().status) == ("forbidden", "connected")
    assert due_in(connected) == timedelta(hours=1)


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_an_org_that_permits_contacts_later_is_read(connected: CrmHarness) -> None:
    assert isinstance(connected.crm, FakeSalesforce)
    connected.crm.unreadable = dict.fromkeys(("Contact", "Lead"), (403, "INSUFFICIENT_ACCESS"))
    has(connected.crm, 1, NOW)
    connected.later(seconds=2)
    connected.read()
    connected.crm.unreadable.pop("Contact")
    connected.later(hours=1)

    connected.read_to_the_end()

    assert people(connected) == ["Ada Person1"]
    assert (connected.reading().notes, connected.reading().error) == (["leads_unreadable"], None)


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_a_relation_that_may_not_be_read_is_left_out(connected: CrmHarness) -> None:
    message = "Didn't understand relationship 'Account' in field path."
    connected.crm.fail(400, [{"errorCode": "INVALID_FIELD", "message": message}], path="/query")
    has(connected.crm, 1, NOW)

    connected.read_to_the_end()

    assert people(connected) == ["Ada Person1"]


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_a_row_without_its_key_is_not_as_documented(connected: CrmHarness) -> None:
    for number in (1, 2, 3):
        has(connected.crm, number, NOW, SystemModstamp="")

    connected.read()

    assert connected.reading().error == "unexpected_response"


@pytest.mark.parametrize("vendor", ["twenty"])
def test_people_of_twenty_are_read_with_their_company_and_its_owner(connected: CrmHarness) -> None:
    crm = connected.crm
    assert isinstance(crm, FakeTwenty)
    website = {"primaryLinkUrl": "https://acme.com"}
    crm.companies[COMPANY] = {"name": "Acme GmbH", "domainName": website, "accountOwnerId": "m1"}
    crm.members["m1"] = {"name": {"firstName": "Kim", "lastName": "Lee"}}
    phones = {
        "primaryPhoneNumber": "6502530000",
        "primaryPhoneCallingCode": "+1",
        "primaryPhoneCountryCode": "US",
        "additionalPhones": [{"number": "6502530001", "callingCode": "+1", "countryCode": "US"}],
    }
    profile = {"primaryLinkUrl": "https://www.linkedin.com/in/ada-lovelace"}
    has(crm, 1, NOW, companyId=COMPANY, phones=phones, linkedinLink=profile)
    has(crm, 2, NOW, phones={"additionalPhones": "[]"})

    connected.read_to_the_end()

    ada, bob = connected.indexed()
    assert (ada.company, ada.domain, ada.owner) == ("Acme GmbH", "acme.com", "Kim Lee")
    assert ada.phones == ["+16502530000", "+16502530001"]
    assert ada.profiles == [profile["primaryLinkUrl"]]
    assert (bob.name, list(bob.phones), bob.company) == ("Ada Person2", [], "")


@pytest.mark.parametrize("vendor", VENDORS)
def test_nobody_is_lost_while_others_are_changed(
    connected: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "TURN_SECONDS", 0.0)
    for number in range(1, 6):
        has(connected.crm, number, NOW - timedelta(days=number))
    connected.read()

    for number in (4, 5):
        has(connected.crm, number, connected.now)
    connected.read_to_the_end()

    assert people(connected) == [f"Ada Person{number}" for number in range(1, 6)]


@pytest.mark.parametrize("vendor", ["pipedrive"])
def test_a_person_of_pipedrive_is_read_with_organization_and_owner(connected: CrmHarness) -> None:
    crm = connected.crm
    assert isinstance(crm, FakePipedrive)
    profile, website = "a" * 40, "b" * 40
    connected.map(linkedin_url=profile, website=website)
    crm.users = {7: "Kim Lee"}
    crm.companies["9"] = {"name": "Acme GmbH", "website": "https://www.acme.com"}
    emails = [{"value": "ada@acme.com", "primary": True}, {"value": "ada@home.example", "primary": False}]
    phones = [{"value": "+1 650 253 0000", "primary": True}]
    fields = {profile: "https://www.linkedin.com/in/ada-lovelace"}
    has(crm, 1, NOW, emails=emails, phones=phones, org_id=9, owner_id=7, custom_fields=fields)
    has(crm, 2, NOW, org_id=9, custom_fields={website: "https://ray.example"}, phones=None)

    connected.read_to_the_end()

    ada, bob = connected.indexed()
    assert (ada.crm_id, ada.kind, ada.changed_at) == ("1", "contact", NOW)
    assert (ada.emails, ada.phones) == (["ada@acme.com", "ada@home.example"], ["+16502530000"])
    assert ada.profiles == ["https://www.linkedin.com/in/ada-lovelace"]
    assert (ada.company, ada.domain, ada.owner) == ("Acme GmbH", "acme.com", "Kim Lee")
    assert (bob.company, bob.domain, bob.owner) == ("Acme GmbH", "ray.example", "")
    assert connected.reading().notes == []


@pytest.mark.parametrize("vendor", ["pipedrive"])
def test_the_users_of_pipedrive_are_read_once_in_a_turn(connected: CrmHarness) -> None:
    crm = connected.crm
    assert isinstance(crm, FakePipedrive)
    crm.users = {7: "Kim Lee"}
    for number in range(1, 6):
        has(crm, number, NOW, owner_id=7)

    connected.read_to_the_end()

    assert [person.owner for person in connected.indexed()] == ["Kim Lee"] * 5
    assert crm.requests.count(("GET", "/api/v1/users")) == 1


@pytest.mark.parametrize("vendor", ["pipedrive"])
def test_persons_of_pipedrive_are_read_without_what_may_not_be_read(connected: CrmHarness) -> None:
    assert isinstance(connected.crm, FakePipedrive)
    connected.crm.unreadable = {"organizations"}
    has(connected.crm, 1, NOW, org_id=9, owner_id=7)

    connected.read_to_the_end()

    assert people(connected) == ["Ada Person1"]
    assert connected.reading().notes == ["companies_unreadable", "owners_unreadable"]


@pytest.mark.parametrize("vendor", ["pipedrive"])
def test_credentials_that_expire_within_a_page_are_no_missing_permission(connected: CrmHarness) -> None:
    has(connected.crm, 1, NOW, owner_id=7)
    connected.crm.fail(401, {"success": False}, path="/users")

    connected.read()

    assert (people(connected), connected.connection().status) == ([], "checking")


@pytest.mark.parametrize("vendor", ["pipedrive"])
def test_a_person_of_pipedrive_who_is_deleted_is_forgotten(connected: CrmHarness) -> None:
    for number in (1, 2):
        has(connected.crm, number, NOW - timedelta(days=number))
    connected.read_to_the_end()
    connected.later(seconds=60)
    has(connected.crm, 1, connected.now, is_deleted=True)

    connected.read_to_the_end()

    assert people(connected) == ["Ada Person2"]
    assert connected.reading().records == 1


@pytest.mark.parametrize("vendor", ["zoho"])
def test_contacts_and_leads_of_zoho_are_read_with_account_owner_and_status(connected: CrmHarness) -> None:
    crm = connected.crm
    assert isinstance(crm, FakeZoho)
    connected.map(linkedin_url="LinkedIn", website="Homepage")
    crm.companies["9"] = {"Account_Name": "Acme GmbH"}
    owner = {"Owner": {"id": "7", "name": "Kim Lee"}}
    profile = "https://www.linkedin.com/in/ada-lovelace"
    values = {"Mobile": "+1 650 253 0000", "Secondary_Email": "ada@home.example", "LinkedIn": profile}
    has(crm, 1, NOW, Account_Name="9", Homepage="https://www.acme.com", **values, **owner)
    has(crm, 2, NOW)
    lead = {"Last_Name": "Ray", "Company": "Ray Ltd", "Website": "ray.example", "Lead_Status": "Contacted"}
    crm.leads["5"] = lead | {"Email": "bob@ray.example", "Modified_Time": NOW.isoformat()} | owner

    connected.read_to_the_end()

    ada, nobody, open_lead = connected.indexed()
    assert (ada.crm_id, ada.kind, ada.changed_at) == ("1", "contact", NOW)
    assert (ada.emails, ada.phones) == (["person1@acme.com", "ada@home.example"], ["+16502530000"])
    assert (ada.profiles, ada.stage) == ([profile], "")
    assert (ada.company, ada.domain, ada.owner) == ("Acme GmbH", "acme.com", "Kim Lee")
    assert (nobody.company, nobody.domain, nobody.owner) == ("", "", "")
    assert (open_lead.crm_id, open_lead.kind, open_lead.name) == ("5", "lead", "Ray")
    assert (open_lead.company, open_lead.domain, open_lead.owner) == ("Ray Ltd", "ray.example", "Kim Lee")
    assert (open_lead.emails, open_lead.stage) == (["bob@ray.example"], "Contacted")


@pytest.mark.parametrize("vendor", ["zoho"])
def test_a_lead_of_zoho_that_is_converted_is_left_out_and_forgotten(connected: CrmHarness) -> None:
    crm = connected.crm
    assert isinstance(crm, FakeZoho)
    for number in (1, 2, 3):
        stamp = (NOW - timedelta(days=number)).isoformat()
        crm.leads[str(number)] = {"Last_Name": "Ray", "Converted__s": number == 3, "Modified_Time": stamp}
    connected.read_to_the_end()
    before = [person.crm_id for person in connected.indexed()]
    connected.later(seconds=60)
    crm.leads["1"] |= {"Converted__s": True, "Modified_Time": connected.now.isoformat()}

    connected.read_to_the_end()

    assert before == ["1", "2"]
    assert [person.crm_id for person in connected.indexed()] == ["2"]


@pytest.mark.parametrize("vendor", ["zoho"])
@pytest.mark.parametrize("is_since_exclusive", [True, False])
def test_many_rows_of_one_second_are_read_by_token(
    connected: CrmHarness, *, is_since_exclusive: bool
) -> None:
    assert isinstance(connected.crm, FakeZoho)
    connected.crm.is_since_exclusive = is_since_exclusive
    for number in range(1, 7):
        has(connected.crm, number, NOW)
    for number in (7, 8, 9):
        has(connected.crm, number, NOW + timedelta(seconds=number // 9))

    connected.read_to_the_end()

    assert len(people(connected)) == 9
    assert connected.reading().read == 9


@pytest.mark.parametrize("vendor", ["zoho"])
@pytest.mark.parametrize(
    ("module", "note", "kind"),
    [("Leads", "leads_unreadable", "contact"), ("Contacts", "contacts_unreadable", "lead")],
)
def test_a_module_that_may_not_be_read_is_left_out_and_named(
    connected: CrmHarness, module: str, note: str, kind: str
) -> None:
    crm = connected.crm
    assert isinstance(crm, FakeZoho)
    crm.may_read.remove(module)
    for number in (1, 2, 3):
        has(crm, number, NOW)
        crm.leads[str(number)] = {
            "Last_Name": "Ray",
            "Modified_Time": (NOW + timedelta(days=number)).isoformat(),
        }

    connected.read_to_the_end()

    assert [person.kind for person in connected.indexed()] == [kind] * 3
    assert (connected.reading().notes, connected.reading().error) == ([note], None)


@pytest.mark.parametrize("vendor", ["zoho"])
def test_nothing_is_read_of_an_organization_that_permits_neither_module(connected: CrmHarness) -> None:
    assert isinstance(connected.crm, FakeZoho)
    connected.crm.may_read -= {"Contacts", "Leads"}
    connected.later(seconds=2)

    connected.read()

    assert (connected.reading().error, connected.connection().status) == ("forbidden", "connected")
    assert due_in(connected) == timedelta(hours=1)


@pytest.mark.parametrize("vendor", ["zoho"])
def test_an_organization_that_permits_contacts_later_is_read(connected: CrmHarness) -> None:
    assert isinstance(connected.crm, FakeZoho)
    connected.crm.may_read -= {"Contacts", "Leads"}
    has(connected.crm, 1, NOW)
    connected.later(seconds=2)
    connected.read()
    connected.crm.may_read.add("Contacts")
    connected.later(hours=1)

    connected.read_to_the_end()

    assert people(connected) == ["Ada Person1"]
    assert (connected.reading().notes, connected.reading().error) == (["leads_unreadable"], None)


@pytest.mark.parametrize("vendor", ["zoho"])
def test_a_permission_that_is_lost_between_two_pages_leaves_the_module_out(
    connected: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    crm = connected.crm
    assert isinstance(crm, FakeZoho)
    for number in range(1, 6):
        has(crm, number, NOW)
    crm.leads["1"] = {"Last_Name": "Ray", "Modified_Time": NOW.isoformat()}
    with monkeypatch.context() as one_page:
        one_page.setattr(pace, "TURN_SECONDS", 0.0)
        connected.read()
    connected.later(seconds=60)
    crm.may_read.remove("Contacts")

    connected.read_to_the_end()

    assert "lead" in {person.kind for person in connected.indexed()}
    assert (connected.reading().notes, connected.reading().error) == (["contacts_unreadable"], None)


@pytest.mark.parametrize("vendor", ["zoho"])
def test_a_token_that_expires_between_two_pages_lets_the_reading_begin_anew(
    connected: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 6):
        has(connected.crm, number, NOW)
    with monkeypatch.context() as one_page:
        one_page.setattr(pace, "TURN_SECONDS", 0.0)
        connected.read()
    connected.later(seconds=60)
    details = {"api_name": "page_token", "json_path": "$.page_token"}
    connected.crm.fail(400, {"code": "EXPIRED_VALUE", "details": details, "status": "error"})

    connected.read()
    refused = connected.reading().error
    connected.later(hours=1)
    connected.read_to_the_end()

    assert refused == "invalid_values"
    assert len(people(connected)) == 5


@pytest.mark.parametrize("vendor", ["zoho"])
@pytest.mark.parametrize("stamp", ["", NOW.isoformat()])
def test_a_page_that_does_not_say_where_the_next_one_begins_is_not_as_documented(
    connected: CrmHarness, stamp: str
) -> None:
    connected.read_to_the_end()
    connected.later(seconds=60)
    row = {"id": "1", "Modified_Time": stamp and (NOW - timedelta(days=9)).isoformat()}
    connected.crm.fail(200, {"data": [row], "info": {"more_records": True, "next_page_token": None}})

    connected.read()

    assert connected.reading().error == "unexpected_response"


def due_in(harness: CrmHarness) -> timedelta:
    """Return the time until the next turn at reading."""
    with harness.database.reading() as session:
        due_at = session.get_one(WorkItem, reading_id(harness.connection_id)).due_at
    assert due_at is not None
    return due_at - harness.now


def is_reading_due(harness: CrmHarness) -> bool:
    with harness.database.transaction() as session:
        return reading_id(harness.connection_id) in items.claim_due(session, READING, now=harness.now)


def test_a_reading_begins_when_the_credentials_are_accepted_and_goes_on_every_minute(
    harness: CrmHarness,
) -> None:
    before = is_reading_due(harness)

    harness.turn()

    assert (before, is_reading_due(harness)) == (False, True)
    harness.read()
    assert timedelta(seconds=45) < due_in(harness) < timedelta(seconds=60)


def test_pushes_and_reading_do_not_wait_for_each_other(connected: CrmHarness) -> None:
    with connected.database.transaction() as session:
        turn = readings.begin(session, reading_id(connected.connection_id), now=connected.now)

    [pushed] = connected.pushed(connected.owned_contact())

    assert turn is not None
    assert pushed.outcome == "created"


@pytest.fixture
def slow(connected: CrmHarness, monkeypatch: pytest.MonkeyPatch) -> CrmHarness:
    """Return the harness with a CRM of many people and two requests per second, answered in no time."""
    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(HubSpot, "calls_per_minute", 120)
    for number in range(1, 80):
        has(connected.crm, number, NOW)
    connected.crm.requests.clear()
    return connected


@pytest.mark.parametrize(("late", "calls"), [(0, 1), (1, 2), (2, 3), (60, 3)])
def test_a_turn_sends_the_requests_since_it_was_due_at_half_of_the_rate(
    slow: CrmHarness, late: float, calls: int
) -> None:
    slow.later(seconds=late)

    slow.read()

    assert (len(slow.crm.requests), due_in(slow)) == (calls, timedelta(seconds=1))


def test_the_pages_of_a_reading_come_evenly_though_each_turn_is_late(slow: CrmHarness) -> None:
    began, sent = slow.now, [0]

    while slow.now - began < timedelta(seconds=20):
        slow.read()
        sent.append(len(slow.crm.requests))
        slow.later(seconds=due_in(slow).total_seconds() + 0.7)

    assert max(after - before for before, after in pairwise(sent)) <= 2
    assert sent[-1] == 20


def test_a_reading_uses_a_tenth_of_the_rate_while_pushes_wait(slow: CrmHarness) -> None:
    slow.push(slow.owned_contact())
    slow.later(seconds=2)

    slow.read()

    assert (len(slow.crm.requests), due_in(slow)) == (1, timedelta(seconds=3))


@pytest.mark.parametrize("vendor", ["hubspot"])
def test_owners_are_read_once_for_all_turns_of_a_pass(slow: CrmHarness) -> None:
    for person in slow.crm.people.values():
        person["hubspot_owner_id"] = "7"

    turns = slow.read_to_the_end()

    assert turns > 1
    assert [path for _, path in slow.crm.requests].count("/crm/v3/owners") == 1


def test_a_turn_ends_after_some_seconds(connected: CrmHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "TURN_SECONDS", 0.0)
    for number in range(1, 6):
        has(connected.crm, number, NOW)

    turns = connected.read_to_the_end()

    assert turns == 3
    assert len(people(connected)) == 5


@pytest.mark.parametrize(
    ("headers", "seconds"), [({}, 60), ({"Retry-After": "7"}, 7), ({"Retry-After": "999999"}, 86_400)]
)
def test_a_rate_limit_pauses_the_reading(
    connected: CrmHarness, headers: dict[str, str], seconds: int
) -> None:
    has(connected.crm, 1, NOW)
    connected.crm.fail(429, {}, headers=headers)

    connected.read()
    paused = (connected.reading().error, due_in(connected))
    connected.later(seconds=seconds)
    connected.read()

    assert paused == ("rate_limited", timedelta(seconds=seconds))
    assert (people(connected), connected.reading().error) == (["Ada Person1"], None)


def test_a_crm_whose_rate_limit_stops_pushes_is_not_read_meanwhile(connected: CrmHarness) -> None:
    connected.crm.fail(429, {}, headers={"Retry-After": "600"})
    connected.pushed(connected.owned_contact())
    before = len(connected.crm.requests)

    connected.read()

    assert len(connected.crm.requests) == before
    assert due_in(connected) == timedelta(seconds=600)


def test_a_crm_that_does_not_answer_is_read_again_later(connected: CrmHarness) -> None:
    connected.crm.fail(503)

    connected.read()

    assert (connected.reading().error, due_in(connected)) == ("http_503", timedelta(minutes=5))


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("body", [{"results": 5}, [], {"results": ["a"]}, {"data": 1}, {"records": [{}]}])
def test_a_body_that_is_not_as_documented_stores_nothing(connected: CrmHarness, body: object) -> None:
    connected.crm.failures += [Failure(200, body) for _ in range(3)]

    connected.read()

    assert people(connected) == []
    assert connected.reading().error in {"unexpected_response", None}


def test_a_page_of_html_stores_nothing(connected: CrmHarness) -> None:
    connected.crm.page = "<html>Sign in</html>"

    connected.read()

    assert connected.reading().error == "unexpected_response"


def test_changes_that_are_not_sorted_are_not_as_documented(connected: CrmHarness) -> None:
    connected.read_to_the_end()
    connected.later(seconds=60)
    contact = {"id": "1", "properties": {"lastmodifieddate": (NOW - timedelta(days=9)).isoformat()}}
    connected.crm.fail(200, {"results": [contact], "paging": {"next": {"after": "1"}}})

    connected.read()

    assert connected.reading().error == "unexpected_response"


def test_a_crm_that_returns_the_same_page_again_and_again_ends_the_turn(connected: CrmHarness) -> None:
    same = {"results": [{"id": "1", "properties": {}}], "paging": {"next": {"after": "1"}}}
    connected.crm.failures += [Failure(200, same) for _ in range(9)]
    connected.later(seconds=2)
    before = len(connected.crm.requests)

    connected.read()

    assert len(connected.crm.requests) - before == 2
    assert (connected.reading().error, due_in(connected)) == ("same_page", timedelta(hours=1))


def test_what_the_crm_no_longer_has_is_deleted_in_batches_before_the_pass_ends(
    connected: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 8):
        has(connected.crm, number, NOW)
    connected.read_to_the_end()
    next_day(connected)
    for number in range(2, 8):
        connected.crm.people.pop(str(number))
    deleted, forget = [], crm_index.forget_unread

    def forget_unread(session: Session, *arguments: Any, **options: Any) -> int:
        deleted.append(forget(session, *arguments, **options))
        return deleted[-1]

    monkeypatch.setattr(crm_index, "forget_unread", forget_unread)
    monkeypatch.setattr(crm_index, "BATCH", 4)
    monkeypatch.setattr(pace, "TURN_SECONDS", 0.0)

    connected.read()
    first = (list(deleted), connected.reading().started_at is None)
    connected.later(seconds=60)
    connected.read_to_the_end()

    assert first == ([4], False)
    assert deleted == [4, 2, 0]
    assert (people(connected), connected.reading().records) == (["Ada Person1"], 1)


def test_a_worker_that_ends_before_the_pass_leaves_it_to_the_next_one(connected: CrmHarness) -> None:
    for number in range(1, 4):
        has(connected.crm, number, NOW)
    connected.read_to_the_end()
    next_day(connected)
    connected.crm.people.pop("1")
    work_id = reading_id(connected.connection_id)
    with connected.database.transaction() as session:
        turn = readings.begin(session, work_id, now=connected.now)
        assert turn is not None
        assert readings.store(session, turn, Page(people=[], position=None), now=connected.now) is None
    before = people(connected)
    connected.later(seconds=READING.lease.seconds + 1)

    connected.read_to_the_end()

    assert len(before) == 3
    assert people(connected) == ["Ada Person2", "Ada Person3"]


def test_a_page_that_is_refused_lets_the_reading_begin_anew(connected: CrmHarness) -> None:
    for number in range(1, 4):
        has(connected.crm, number, NOW)
    connected.read_to_the_end()
    next_day(connected)
    connected.crm.fail(400, {"status": "error"})
    connected.read()
    refused = connected.reading().error
    connected.crm.people.pop("1")
    connected.later(hours=1)

    connected.read_to_the_end()

    assert refused == "http_400"
    assert people(connected) == ["Ada Person2", "Ada Person3"]


def test_changes_that_are_refused_are_read_anew(connected: CrmHarness) -> None:
    connected.read_to_the_end()
    connected.later(seconds=60)
    connected.crm.fail(400, {"status": "error"})
    connected.read()
    has(connected.crm, 1, connected.now)
    connected.later(hours=1)

    connected.read_to_the_end()

    assert people(connected) == ["Ada Person1"]


def test_a_crm_with_too_many_records_is_read_up_to_the_limit(
    connected: CrmHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readings, "MAX_RECORDS", 4)
    for number in range(1, 9):
        has(connected.crm, number, NOW)

    connected.read_to_the_end()

    assert len(people(connected)) == 4
    assert connected.reading().notes == ["record_limit"]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_token_that_was_revoked_asks_to_connect_again(connected: CrmHarness) -> None:
    connected.crm.token = "another"

    connected.read()
    checking = connected.connection().status
    connected.turn()

    connection = connected.connection()
    assert checking == "checking"
    assert (connection.status, connection.error) == ("reconnect", "unauthorized")
    assert not is_reading_due(connected)
    with connected.database.reading() as session:
        assert [event.type for event in session.scalars(select(Event))] == ["crm.push_failed"]


def test_a_token_that_is_revoked_between_two_requests_is_not_taken_for_a_missing_permission(
    connected: CrmHarness,
) -> None:
    has(connected.crm, 1, NOW, hubspot_owner_id="6")
    connected.crm.fail(401, {"category": "INVALID_AUTHENTICATION"}, path="/owners")

    connected.read()

    assert (connected.reading().error, connected.connection().status) == ("unauthorized", "checking")


def test_a_crm_that_is_connected_again_is_read_on(connected: CrmHarness) -> None:
    has(connected.crm, 1, NOW)
    connected.crm.token = "another"
    connected.read()
    connected.turn()

    connected.replace_token("another")
    connected.read()

    assert people(connected) == ["Ada Person1"]


def test_credentials_that_only_the_reading_refuses_are_not_checked_again_and_again(
    connected: CrmHarness,
) -> None:
    refusal = Failure(401, {"category": "INVALID_AUTHENTICATION"}, path="/contacts")
    connected.crm.failures.append(refusal)
    connected.read()
    connected.turn()
    connected.crm.failures.append(refusal)

    connected.read()

    assert connected.connection().status == "connected"
    assert (connected.reading().error, due_in(connected)) == ("unauthorized", timedelta(hours=1))


@pytest.mark.parametrize("vendor", ["salesforce"])
def test_an_org_that_refuses_the_session_has_it_renewed(connected: CrmHarness) -> None:
    with connected.database.transaction() as session:
        connection = connections.get(session, connected.workspace_id, connected.connection_id, lock=True)
        renewable = Credentials(token="expired", refresh_token="refresh-1")
        connections.store_credentials(session, connection, renewable)
    has(connected.crm, 1, NOW)

    connected.read()
    connected.turn()
    connected.read()

    assert people(connected) == ["Ada Person1"]


def test_a_token_that_expires_is_renewed_by_a_turn_of_pushes(connected: CrmHarness) -> None:
    with connected.database.transaction() as session:
        connection = connections.get(session, connected.workspace_id, connected.connection_id, lock=True)
        old = Credentials(token="old", refresh_token="refresh-1", expires_at=1.0)
        connections.store_credentials(session, connection, old)
    has(connected.crm, 1, NOW)

    connected.read()
    waits = due_in(connected)
    connected.turn()
    connected.later(seconds=5)
    connected.read()

    assert waits == timedelta(seconds=5)
    assert people(connected) == ["Ada Person1"]


def test_credentials_of_another_account_are_not_read(connected: CrmHarness) -> None:
    with connected.database.transaction() as session:
        session.get_one(CrmConnection, connected.connection_id).account = "1"
    connected.crm.account, connected.crm.token = "2", "another"
    has(connected.crm, 1, NOW)

    connected.replace_token("another")
    connected.read()

    assert connected.connection().error == "other_account"
    assert connected.indexed() == []


def test_credentials_of_a_replaced_key_are_not_read_and_say_so(connected: CrmHarness) -> None:
    keys = DigestKeys(b"other" * 8, b"other" * 8)
    other = Database(connected.settings.database_url, keys=keys)

    with other.transaction() as session:
        turn = readings.begin(session, reading_id(connected.connection_id), now=connected.now)
    other.close()

    assert turn is None
    assert connected.connection().status == "checking"


def test_a_crm_that_is_disconnected_during_a_turn_stores_nothing_more(connected: CrmHarness) -> None:
    work_id = reading_id(connected.connection_id)
    with connected.database.transaction() as session:
        turn = readings.begin(session, work_id, now=connected.now)
        assert turn is not None
    with connected.database.transaction() as session:
        connections.delete(session, connected.workspace_id, connected.connection_id)

    with pytest.raises(LeaseLost), connected.database.transaction() as session:
        readings.store(session, turn, Page(people=[], position=None), now=connected.now)
    connected.read()

    with connected.database.reading() as session:
        assert session.get(WorkItem, work_id) is None
        assert session.scalars(select(CrmReading)).all() == []


def test_a_turn_whose_connection_was_refused_meanwhile_stores_nothing(connected: CrmHarness) -> None:
    with connected.database.transaction() as session:
        turn = readings.begin(session, reading_id(connected.connection_id), now=connected.now)
        assert turn is not None
        session.get_one(CrmConnection, connected.connection_id).status = "reconnect"

    with pytest.raises(LeaseLost), connected.database.transaction() as session:
        readings.store(session, turn, Page(people=[], position=None), now=connected.now)


def test_the_reading_of_a_connection_that_needs_to_be_connected_again_ends(connected: CrmHarness) -> None:
    with connected.database.transaction() as session:
        session.get_one(CrmConnection, connected.connection_id).status = "reconnect"

    connected.read()

    with connected.database.reading() as session:
        assert session.get(WorkItem, reading_id(connected.connection_id)) is None


def test_a_reading_at_which_every_worker_fails_stops_and_says_why(connected: CrmHarness) -> None:
    for _ in range(READING.max_attempts):
        with connected.database.transaction() as session:
            assert readings.begin(session, reading_id(connected.connection_id), now=connected.now)
        connected.later(seconds=READING.lease.seconds + 1)

    connected.read()

    assert (connected.reading().error, connected.connection().status) == ("turns_failed", "connected")
    with connected.database.reading() as session:
        assert items.failed_counts(session, now=connected.now)["crm_reading"] == 1
    connected.replace_token(connected.crm.token)
    connected.read()
    assert connected.reading().error is None


def test_a_message_that_comes_late_does_nothing(connected: CrmHarness) -> None:
    connected.read_to_the_end()
    before = len(connected.crm.requests)

    connected.read()

    assert len(connected.crm.requests) == before


def test_two_workspaces_on_one_account_are_read_independently(
    connected: CrmHarness, settings: Settings, database: Database
) -> None:
    crm = connected.crm
    has(crm, 1, NOW)
    other = CrmHarness.connected(settings, database, crm, "hubspot")
    other.turn()
    connected.read_to_the_end()
    before = other.indexed()

    other.read_to_the_end()
    with database.transaction() as session:
        connections.delete(session, connected.workspace_id, connected.connection_id)

    assert before == []
    assert people(other) == ["Ada Person1"]
    assert connected.indexed() == []


def test_an_erasure_waits_for_the_people_whom_workers_are_storing(connected: CrmHarness) -> None:
    with connected.database.transaction() as session:
        assert readings.begin(session, reading_id(connected.connection_id), now=connected.now)

    with connected.database.transaction() as session:
        readings.await_writers(session)

    assert connected.reading().started_at is not None
