"""Lookups show who is in the workspace's CRM already, before anything is paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from crm_index_support import a_crm, in_crm
from jobs_support import a_workspace
from stored_support import (
    ADA_URL,
    PRICES,
    STAMP,
    a_company,
    a_contact,
    a_phone,
    an_email,
    own,
    statements,
    suppress,
)

from app.domain.records.subjects import Subject
from app.engine.contacts.contacts import Contact
from app.engine.lookups import lookups
from app.engine.lookups.lookup_parts import Find, LookedUp
from app.engine.matching import reverse_lookups
from app.features.crm import lookup
from app.features.crm.connections import CrmConnection
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.settings import CrmAccess
from app.features.crm.vendors import registry
from app.features.crm.vendors.salesforce.salesforce import Salesforce
from app.features.crm.vendors.zoho.zoho import Zoho
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.settings import Settings

MEMBER_URL = "https://www.linkedin.com/in/ACoAAAEBUAMBnTEIjYSAEkNZgV5ifGLmwCPn7dY"
ADA = Subject(linkedin_url=ADA_URL)
NAMED: dict[str, Any] = {"name": "Ada Lovelace", "company": "Acme Engines"}


@pytest.fixture
def find(settings: Settings) -> Find:
    return lookup.LOOKUP.load(settings)


@pytest.fixture
def crm(session: Session, workspace_id: str) -> CrmConnection:
    return a_crm(session, workspace_id)


@pytest.fixture
def ada(session: Session) -> Contact:
    contact = a_contact(session, a_company(session), linkedin_url=ADA_URL, member_url=MEMBER_URL)
    an_email(session, contact, "ada@acme.com")
    a_phone(session, contact, "+12025550143")
    return contact


def found(
    session: Session, find: Find, workspace_id: str, subject: Subject = ADA, *, is_told: bool = True
) -> list[dict[str, Any]]:
    """Return the records that a lookup shows of the person."""
    if is_told:
        reverse_lookups.admit(session, workspace_id, [subject], now=database_clock.now())
    [result] = lookups.look_up(session, workspace_id, [subject], prices=PRICES, finds=[find])
    records: list[dict[str, Any]] = result["crm"]
    return records


def matched_on(*arguments: Any, **options: Any) -> list[list[str]]:
    return [record["matched_on"] for record in found(*arguments, **options)]


@pytest.mark.usefixtures("ada")
def test_a_person_in_the_crm_is_shown_with_what_the_crm_says(
    session: Session, find: Find, crm: CrmConnection
) -> None:
    person = {"profiles": [ADA_URL], "emails": ["ada@home.example"], "owner": "Kim Lee", "stage": "Customer"}
    in_crm(session, crm, person | NAMED)

    records = found(session, find, crm.workspace_id)

    assert records == [
        {
            "vendor": "hubspot",
            "vendor_title": "HubSpot",
            "kind": "contact",
            "url": "https://app.hubspot.com/contacts/4242/record/0-1/1",
            "owner": "Kim Lee",
            "stage": "Customer",
            "matched_on": ["linkedin_url", "name"],
            "has": ["email"],
            "emails": ["ada@home.example"],
            "phones": [],
            "do_not_call_phones": [],
            "changed_at": STAMP,
            "is_outdated": False,
        }
    ]


@pytest.mark.usefixtures("ada")
def test_what_the_crm_does_not_say_is_null(session: Session, find: Find, crm: CrmConnection) -> None:
    crm.account = None
    in_crm(session, crm, {"profiles": [ADA_URL], "phones": ["+12025550199"], "changed_at": None})

    [record] = found(session, find, crm.workspace_id)

    assert [record[name] for name in ("url", "owner", "stage", "changed_at")] == [None] * 4
    assert record["has"] == ["phone"]
    assert record["phones"] == ["+12025550199"]


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("in_the_crm", "names"),
    [
        ({"profiles": [ADA_URL]}, ["linkedin_url"]),
        ({"profiles": [MEMBER_URL]}, ["linkedin_url"]),
        ({"name": "Ada Lovelace", "company": "Acme Engines Ltd."}, ["name"]),
        ({"name": "Ada Lovelace", "domain": "https://www.acme.com"}, ["name"]),
    ],
)
def test_a_contact_is_found_by_what_is_shown_of_it_for_free(
    session: Session, find: Find, crm: CrmConnection, *, in_the_crm: dict[str, Any], names: list[str]
) -> None:
    in_crm(session, crm, in_the_crm)

    assert matched_on(session, find, crm.workspace_id) == [names]


@pytest.mark.parametrize(
    ("subject", "in_the_crm", "names"),
    [
        ({"linkedin_url": ADA_URL}, {"profiles": [ADA_URL]}, ["linkedin_url"]),
        ({"email": "grace@navy.example"}, {"emails": ["Grace@navy.example"]}, ["email"]),
        ({"phone": "+12025550188"}, {"phones": ["+1 202 555 0188"]}, ["phone"]),
        (
            {"full_name": "Grace Hopper", "company_name": "Navy"},
            {"name": "Grace Hopper", "company": "Navy Inc."},
            ["name"],
        ),
        (
            {"first_name": "Grace", "last_name": "Hopper", "company_domain": "navy.example"},
            {"name": "Grace Hopper", "domain": "navy.example"},
            ["name"],
        ),
    ],
)
def test_a_person_who_is_not_stored_is_found_by_each_identifier_of_the_subject(
    session: Session,
    find: Find,
    crm: CrmConnection,
    *,
    subject: dict[str, str],
    in_the_crm: dict[str, Any],
    names: list[str],
) -> None:
    in_crm(session, crm, in_the_crm)

    assert matched_on(session, find, crm.workspace_id, Subject(**subject)) == [names]


@pytest.mark.parametrize(
    ("field", "in_the_crm"),
    [("email", {"emails": ["ada@acme.com"]}), ("phone", {"phones": ["+12025550143"]})],
)
def test_a_stored_value_finds_a_record_only_for_the_workspace_that_owns_it(
    session: Session, find: Find, crm: CrmConnection, ada: Contact, *, field: str, in_the_crm: dict[str, Any]
) -> None:
    in_crm(session, crm, in_the_crm)

    before = found(session, find, crm.workspace_id)
    own(session, crm.workspace_id, ada, field)
    after = matched_on(session, find, crm.workspace_id)

    assert (before, after) == ([], [[field]])


@pytest.mark.usefixtures("ada")
def test_an_address_above_the_limit_finds_no_record(session: Session, find: Find, crm: CrmConnection) -> None:
    in_crm(session, crm, {"emails": ["ada@acme.com"]})
    subject = Subject(email="ada@acme.com")

    assert found(session, find, crm.workspace_id, subject, is_told=False) == []


@pytest.mark.parametrize("is_stored", [True, False])
def test_nothing_is_shown_of_a_suppressed_person(
    session: Session, find: Find, crm: CrmConnection, *, is_stored: bool
) -> None:
    in_crm(session, crm, {"profiles": [ADA_URL]} | NAMED)
    if is_stored:
        an_email(session, a_contact(session, a_company(session), linkedin_url=ADA_URL), "ada@acme.com")
    suppress(session, *(("email", "ada@acme.com") if is_stored else ("linkedin_url", ADA_URL)))

    assert found(session, find, crm.workspace_id) == []


@pytest.mark.usefixtures("ada")
def test_several_records_are_shown_the_most_certain_first(
    session: Session, find: Find, crm: CrmConnection
) -> None:
    in_crm(session, crm, NAMED, {"kind": RecordKind.LEAD, "profiles": [ADA_URL]})

    records = found(session, find, crm.workspace_id)

    assert [(record["kind"], record["matched_on"]) for record in records] == [
        ("lead", ["linkedin_url"]),
        ("contact", ["name"]),
    ]


def test_of_many_records_the_first_are_shown(session: Session, find: Find, crm: CrmConnection) -> None:
    in_crm(session, crm, *[{"phones": ["+12025550188"]}] * (lookup.MAX_RECORDS + 1))

    records = found(session, find, crm.workspace_id, Subject(phone="+12025550188"))

    assert len(records) == lookup.MAX_RECORDS


@pytest.mark.usefixtures("ada")
def test_a_colleague_of_the_same_name_with_another_profile_is_not_shown(
    session: Session, find: Find, crm: CrmConnection
) -> None:
    in_crm(session, crm, NAMED | {"profiles": ["https://www.linkedin.com/in/other-ada"]})

    assert found(session, find, crm.workspace_id) == []


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize(
    ("company", "is_outdated"),
    [
        ({"company": "Babbage & Co", "domain": "babbage.example"}, True),
        ({"company": "Babbage & Co"}, True),
        ({"domain": "babbage.example"}, True),
        ({"company": "Acme Engines GmbH", "domain": "acme.example"}, False),
        ({"company": "ACME", "domain": "acme.com"}, False),
        ({}, False),
    ],
)
def test_a_record_with_another_company_is_out_of_date(
    session: Session, find: Find, crm: CrmConnection, company: Mapping[str, str], *, is_outdated: bool
) -> None:
    in_crm(session, crm, {"profiles": [ADA_URL], **company})

    [record] = found(session, find, crm.workspace_id)

    assert record["is_outdated"] is is_outdated


@pytest.mark.parametrize("company", [None, {"name": None, "domain": "acme.com"}])
def test_a_company_that_is_not_stored_puts_no_record_out_of_date(
    session: Session, find: Find, crm: CrmConnection, company: dict[str, Any] | None
) -> None:
    employer = a_company(session, **company) if company else None
    a_contact(session, employer, linkedin_url=ADA_URL)
    in_crm(session, crm, {"profiles": [ADA_URL], "company": "Babbage & Co"})

    [record] = found(session, find, crm.workspace_id)

    assert record["is_outdated"] is False


@pytest.mark.usefixtures("ada")
def test_each_workspace_of_a_group_sees_its_own_crm(session: Session, find: Find, crm: CrmConnection) -> None:
    other, without = a_crm(session, a_workspace(session)), a_workspace(session)
    in_crm(session, crm, {"profiles": [ADA_URL], "owner": "Kim Lee"})
    in_crm(session, other, {"profiles": [ADA_URL], "owner": "Jo Park"})

    results = lookups.look_up_by_key(
        session,
        [(crm.workspace_id, ADA), (other.workspace_id, ADA), (without, ADA)],
        prices=PRICES,
        finds=[find],
    )

    owners = [[record["owner"] for record in result["crm"]] for result in results if result]
    assert owners == [["Kim Lee"], ["Jo Park"], []]


def test_without_a_connected_crm_a_process_asks_once_in_a_while(session: Session, find: Find) -> None:
    counts = []
    for _ in range(2):
        with statements(session.get_bind()) as executed:  # type: ignore[arg-type]
            found = find(session, [LookedUp(workspace_id="wks_1", profiles=[ADA_URL])])
        counts.append(len(executed))

    assert list(found) == [{"crm": []}]
    assert counts == [1, 0]


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("size", [1, 20])
@pytest.mark.parametrize(("profiles", "more"), [([ADA_URL], 2), (["https://www.linkedin.com/in/grace"], 1)])
def test_a_group_takes_one_statement_more_and_one_if_anybody_is_found(
    session: Session, find: Find, crm: CrmConnection, *, size: int, profiles: list[str], more: int
) -> None:
    in_crm(session, crm, {"profiles": profiles})
    wanted = [(crm.workspace_id, ADA)] * size
    find(session, [LookedUp(workspace_id=crm.workspace_id)])  # learns that it has a CRM

    counts = []
    for finds in ([], [find]):
        with statements(session.get_bind()) as executed:  # type: ignore[arg-type]
            lookups.look_up_by_key(session, wanted, prices=PRICES, finds=finds)
        counts.append(len(executed))

    assert counts[1] - counts[0] == more


@pytest.mark.parametrize(
    ("vendor", "kind", "base_url", "account", "url"),
    [
        ("hubspot", RecordKind.CONTACT, None, "42", "https://app.hubspot.com/contacts/42/record/0-1/a%2Fb"),
        ("hubspot", RecordKind.LEAD, None, "42", "https://app.hubspot.com/contacts/42/record/0-136/a%2Fb"),
        ("hubspot", RecordKind.CONTACT, None, "", None),
        ("pipedrive", RecordKind.CONTACT, None, "42", "https://app.pipedrive.com/person/a%2Fb"),
        ("salesforce", RecordKind.LEAD, None, "00D", "https://login.salesforce.com/a%2Fb"),
        ("zoho", RecordKind.CONTACT, None, "42", "https://crm.zoho.com/crm/tab/Contacts/a%2Fb"),
        ("zoho", RecordKind.LEAD, None, None, "https://crm.zoho.com/crm/tab/Leads/a%2Fb"),
        (
            "twenty",
            RecordKind.CONTACT,
            "https://crm.acme.example",
            "w",
            "https://crm.acme.example/object/person/a%2Fb",
        ),
        (
            "twenty",
            RecordKind.CONTACT,
            "https://api.twenty.com/",
            "w",
            "https://app.twenty.com/object/person/a%2Fb",
        ),
        ("twenty", RecordKind.CONTACT, "http://10.0.0.1:3000", "w", None),
        ("twenty", RecordKind.CONTACT, None, None, None),
    ],
)
def test_the_address_of_a_record_is_https_and_the_crms(
    settings: Settings,
    *,
    vendor: str,
    kind: RecordKind,
    base_url: str | None,
    account: str | None,
    url: str | None,
) -> None:
    crm = registry.load(settings)[vendor]

    assert crm.record_url(base_url, account, kind, "a/b") == url


@pytest.mark.parametrize(
    ("accounts", "url"),
    [
        ("https://accounts.zoho.eu/", "https://crm.zoho.eu/crm/tab/Contacts/1"),
        ("https://accounts.zoho.com.au", "https://crm.zoho.com.au/crm/tab/Contacts/1"),
        ("https://accounts.zohocloud.ca", "https://crm.zohocloud.ca/crm/tab/Contacts/1"),
        ("https://zoho.acme.example", None),
        ("http://accounts.acme.example", None),
    ],
)
def test_the_record_of_zoho_is_in_the_data_center_of_the_operators_settings(
    accounts: str, url: str | None
) -> None:
    crm = Zoho(CrmAccess(base_url=accounts))

    assert crm.record_url(None, None, RecordKind.CONTACT, "1") == url


def test_the_record_of_a_sandbox_is_at_the_address_of_the_operators_settings() -> None:
    sandbox = Salesforce(CrmAccess(base_url="https://test.salesforce.com"))

    url = sandbox.record_url(None, "00D", RecordKind.CONTACT, "003A")

    assert url == "https://test.salesforce.com/003A"
