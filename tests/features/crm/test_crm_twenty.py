"""Tests of pushes to Twenty: websites as people write them, the trash, and numbers that it splits."""

from __future__ import annotations

from typing import Any

import pytest
from crm_support import EMAIL, CrmHarness

from app.features.crm.vendors import registry
from app.features.crm.vendors.exchange import Response
from app.features.crm.vendors.person import Employer, Person
from app.features.crm.vendors.twenty import records
from app.settings import Settings

pytestmark = pytest.mark.any_database

DELETED = "2026-11-19T08:00:00.000Z"


@pytest.fixture
def vendor() -> str:
    return "twenty"


def company(link: str | None, **changes: Any) -> dict[str, Any]:
    return {"name": "Acme Engines Ltd.", "domainName": {"primaryLinkUrl": link}} | changes


@pytest.mark.parametrize(
    "link",
    [
        "https://acme.com",
        "https://www.acme.com",
        "http://acme.com/",
        "http://www.acme.com",
        "acme.com",
        "www.acme.com",
        "https://acme.com/en/about",
        "HTTPS://WWW.Acme.com/",
        "https://acme.com/?utm_source=mail",
    ],
)
def test_a_company_is_found_however_its_website_is_written(harness: CrmHarness, link: str) -> None:
    harness.crm.companies["c-1"] = company(link)

    [item] = harness.pushed(harness.owned_contact())

    assert item.outcome == "created"
    assert list(harness.crm.companies) == ["c-1"]
    assert [one["companyId"] for one in harness.crm.people.values()] == ["c-1"]


@pytest.mark.parametrize(
    "link", ["https://notacme.com/acme.com/", "https://shop.acme.com", "https://acme.com.mx", "", "Acme"]
)
def test_a_company_with_another_website_is_another_one(harness: CrmHarness, link: str) -> None:
    harness.crm.companies["c-1"] = company(link)

    harness.pushed(harness.owned_contact())

    assert len(harness.crm.companies) == 2


def test_a_company_without_a_website_is_found_by_its_name(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.change_company(domain=None)
    harness.crm.companies["c-1"] = {"name": "Acme Engines"}

    harness.pushed(contact_id)

    assert [one["companyId"] for one in harness.crm.people.values()] == ["c-1"]


@pytest.mark.parametrize("link", ["https://acme.com", "http://www.acme.com/"])
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_company_in_the_trash_is_said_and_does_not_stop_the_person(
    harness: CrmHarness, link: str, *, dry_run: bool
) -> None:
    harness.crm.companies["c-1"] = company(link, deletedAt=DELETED)

    [item] = harness.pushed(harness.owned_contact(), dry_run=dry_run)

    assert (item.outcome, item.error) == ("would_create" if dry_run else "created", None)
    assert item.notes == [{"code": "company_in_trash", "property": "companyId"}]
    assert item.actions["companyId"] == "refused"
    assert list(harness.crm.companies) == ["c-1"]
    assert not any("companyId" in one for one in harness.crm.people.values())


def test_a_company_that_was_put_into_the_trash_later_does_not_stop_the_person(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    [(company_id, stored)] = harness.crm.companies.items()
    stored["deletedAt"] = DELETED
    harness.change(contact_id, title="Chief Engineer")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions["companyId"]) == ("updated", "refused")
    assert [one["companyId"] for one in harness.crm.people.values()] == [company_id]


@pytest.mark.parametrize("message", ["Duplicate Domain Name. Please set a unique one.", "Invalid domain"])
def test_a_company_that_cannot_be_created_does_not_stop_the_person(harness: CrmHarness, message: str) -> None:
    harness.crm.fail(400, {"messages": [message]}, method="POST", path="/rest/companies")

    [item] = harness.pushed(harness.owned_contact())

    assert item.outcome == "created"
    assert item.notes == [{"code": "company_refused", "property": "companyId"}]


def test_a_company_that_the_key_may_not_create_does_not_stop_the_person(harness: CrmHarness) -> None:
    harness.crm.fail(403, {"messages": ["Forbidden"]}, method="POST", path="/rest/companies")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, harness.connection().status) == ("created", "connected")


def test_a_key_that_ends_at_the_company_stops_the_connection(harness: CrmHarness) -> None:
    harness.crm.fail(401, {"messages": ["Token has expired"]}, method="POST", path="/rest/companies")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, harness.connection().error) == (None, "unauthorized")


def test_a_company_that_somebody_created_at_the_same_moment_is_linked(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.crm.fail(
        400,
        {"messages": "A duplicate entry was detected"},
        method="POST",
        path="/rest/companies",
        after_the_write=True,
    )

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.notes) == ("created", [])
    assert {one["companyId"] for one in harness.crm.people.values()} == set(harness.crm.companies)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_person_in_the_trash_is_said_and_stays_there(harness: CrmHarness, *, dry_run: bool) -> None:
    trashed = {"emails": {"primaryEmail": EMAIL}, "deletedAt": DELETED}
    harness.crm.people["p-1"] = dict(trashed)

    [item] = harness.pushed(harness.owned_contact(), dry_run=dry_run)

    assert (item.outcome, item.error) == ("failed", "person_in_trash")
    assert harness.crm.people == {"p-1": trashed}


def test_a_trashed_company_without_a_website_is_said(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.change_company(domain=None)
    harness.crm.companies["c-1"] = {"name": "Acme Engines", "deletedAt": DELETED}

    [item] = harness.pushed(contact_id, dry_run=True)

    assert item.notes == [{"code": "company_in_trash", "property": "companyId"}]


@pytest.mark.parametrize("link", ["Acme", "", None])
def test_a_link_that_is_no_address_is_not_a_website(link: str | None) -> None:
    assert not records.is_website(company(link), "acme.com")


def test_a_person_who_was_put_into_the_trash_after_a_push_is_said(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.pushed(contact_id)
    [stored] = harness.crm.people.values()
    stored["deletedAt"] = DELETED

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.error) == ("failed", "person_in_trash")


def test_a_person_whose_address_has_capitals_is_found(harness: CrmHarness) -> None:
    harness.crm.people["p-1"] = {"emails": {"primaryEmail": "Ada@Acme.com"}}

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, list(harness.crm.people)) == ("updated", ["p-1"])


def test_a_deleted_person_is_not_taken_for_a_live_one_nor_the_reverse(settings: Settings) -> None:
    twenty = registry.load(settings)["twenty"]
    person = Person(values={}, employer=Employer(None, None), emails=[EMAIL])
    live: dict[str, Any] = {"id": "p-1", "emails": {"primaryEmail": EMAIL}}
    answers = [Response(200, {"data": {"people": [one]}}) for one in (live, live | {"deletedAt": DELETED})]

    assert not twenty.is_in_trash(lambda _request: answers[0], person)
    assert twenty.is_in_trash(lambda _request: answers[1], person)
    assert twenty.find(lambda _request: answers[1], {}, person) is None


def test_a_person_in_the_trash_under_another_owned_address_is_said(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.has_email(contact_id, "ada.lovelace@acme.com", confidence=0.5)
    harness.crm.people["p-1"] = {"emails": {"primaryEmail": "ada.lovelace@acme.com"}, "deletedAt": DELETED}

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.error) == ("failed", "person_in_trash")


def test_a_server_that_cannot_search_its_trash_is_pushed_to(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.turn()
    for _ in range(2):
        harness.crm.fail(200, {"data": {"people": []}}, path="/rest/people", method="GET")
    harness.crm.fail(400, {"messages": ["Unknown operator"]}, path="/rest/people", method="GET")

    [item] = harness.pushed(contact_id)

    assert (item.outcome, harness.crm.failures) == ("created", [])


def test_a_duplicate_that_cannot_be_found_is_not_taken_for_the_trash(harness: CrmHarness) -> None:
    harness.crm.fail(400, {"messages": ["Duplicate Emails."]}, method="POST", path="/rest/people")

    [item] = harness.pushed(harness.owned_contact())

    assert (item.outcome, item.error) == ("failed", "duplicate")


@pytest.mark.parametrize("number", ["+12025550102", "+442071838750", "+41446681800", "+390612345678"])
def test_a_number_that_twenty_splits_is_unchanged_at_the_second_push(
    harness: CrmHarness, number: str
) -> None:
    contact_id = harness.owned_contact()
    harness.has_phone(contact_id, number)
    harness.pushed(contact_id)
    writes = len(harness.crm.writes)

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions["phones.primaryPhoneNumber"]) == ("unchanged", "same")
    assert len(harness.crm.writes) == writes


@pytest.mark.parametrize(
    ("phones", "number"),
    [
        ({"primaryPhoneNumber": "2025550102", "primaryPhoneCallingCode": "+1"}, "+12025550102"),
        ({"primaryPhoneNumber": "(202) 555-0102", "primaryPhoneCallingCode": "1"}, "+12025550102"),
        ({"primaryPhoneNumber": "020 7183 8750", "primaryPhoneCountryCode": "GB"}, "+442071838750"),
        ({"primaryPhoneNumber": "020 7183 8750", "primaryPhoneCallingCode": "+44"}, "+442071838750"),
        ({"primaryPhoneNumber": "+442071838750", "primaryPhoneCallingCode": "+44"}, "+442071838750"),
        ({"primaryPhoneNumber": "reception", "primaryPhoneCountryCode": "GB"}, "reception"),
        ({"primaryPhoneCallingCode": "+1", "primaryPhoneCountryCode": "US"}, None),
        (None, None),
    ],
)
def test_a_number_is_joined_from_its_parts(phones: dict[str, str] | None, number: str | None) -> None:
    name = "phones.primaryPhoneNumber"

    found = records.record({"id": "p-1", "phones": phones}, [name])

    assert found.values.get(name) == number


def test_a_number_that_twenty_refuses_is_left_out(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact()
    harness.has_phone(contact_id, "+12025550102")
    harness.crm.refusals = {"phones": "Provided phone number is invalid +12025550102"}

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions["phones.primaryPhoneNumber"]) == ("created", "refused")


@pytest.mark.parametrize(
    ("emails", "addresses"),
    [
        ({"primaryEmail": "a@x.com", "additionalEmails": ["b@x.com"]}, ["a@x.com", "b@x.com"]),
        ({"primaryEmail": "a@x.com", "additionalEmails": '["b@x.com"]'}, ["a@x.com", "b@x.com"]),
        ({"primaryEmail": "a@x.com", "additionalEmails": ""}, ["a@x.com"]),
        ({"primaryEmail": "a@x.com", "additionalEmails": None}, ["a@x.com"]),
        (None, [""]),
    ],
)
def test_additional_addresses_may_be_a_list_or_its_json(
    emails: dict[str, Any] | None, addresses: list[str]
) -> None:
    assert records.addresses({"emails": emails}) == addresses


def test_a_value_that_the_crm_stores_in_its_own_form_is_unchanged(harness: CrmHarness) -> None:
    contact_id = harness.owned_contact(linkedin_url="https://www.linkedin.com/in/ada-lovelace")
    harness.crm.stored_form = {"linkedinLink": {"primaryLinkUrl": "https://linkedin.com/in/ada-lovelace"}}
    harness.pushed(contact_id)

    [item] = harness.pushed(contact_id)

    assert (item.outcome, item.actions["linkedinLink.primaryLinkUrl"]) == ("unchanged", "same")
