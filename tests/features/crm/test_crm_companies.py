"""The account of a person in Salesforce: by website before by name, and a choice if several fit."""

from __future__ import annotations

from typing import Any

import pytest
from crm_index_support import a_crm
from crm_support import CrmHarness
from fake_crms import FakeSalesforce
from page_support import Visitor
from sqlalchemy import update
from stored_support import a_company, a_contact, an_email, own
from users_support import SignedInUser
from werkzeug.test import TestResponse

from app.features.crm.pushes import PushItem

NAME = "Acme Engines"
BY_WEBSITE = {
    "001A": {"Name": NAME, "Website": "https://acme.example"},
    "001B": {"Name": "ACME Holding", "Website": "https://www.acme.com/en"},
    "001C": {"Name": "ACME Nordic", "Website": "acme.com"},
}
COMPANIES = [{"id": "001B", "name": "ACME Holding"}, {"id": "001C", "name": "ACME Nordic"}]


@pytest.fixture
def vendor() -> str:
    return "salesforce"


@pytest.fixture
def org(harness: CrmHarness) -> FakeSalesforce:
    assert isinstance(harness.crm, FakeSalesforce)
    return harness.crm


def accounts(org: FakeSalesforce) -> list[str | None]:
    return [one.get("AccountId") for one in org.people.values()]


def notes(item: PushItem) -> list[str]:
    return [note["code"] for note in item.notes or ()]


@pytest.mark.parametrize(
    ("companies", "account"),
    [
        ({"001A": BY_WEBSITE["001A"], "001C": BY_WEBSITE["001C"]}, "001C"),
        ({"001A": BY_WEBSITE["001A"]}, "001A"),
        ({"001D": {"Name": NAME, "Website": None}}, "001D"),
        ({"001D": {"Name": NAME, "Website": "not acme.com"}}, "001D"),
        ({"001E": {"Name": "Other", "Website": "notacme.com"}, "001D": {"Name": NAME}}, "001D"),
    ],
)
def test_the_account_with_the_website_comes_before_the_one_of_the_name(
    harness: CrmHarness, org: FakeSalesforce, companies: dict[str, Any], account: str
) -> None:
    org.companies |= companies

    [item] = harness.pushed(harness.owned_contact())

    assert accounts(org) == [account]
    assert (item.companies, notes(item)) == ([], [])


def test_a_website_that_the_user_may_not_see_leaves_the_name(
    harness: CrmHarness, org: FakeSalesforce
) -> None:
    org.companies |= BY_WEBSITE
    org.unseen = {"Website"}

    harness.pushed(harness.owned_contact())

    assert accounts(org) == ["001A"]


def test_a_company_without_a_domain_is_found_by_its_name(harness: CrmHarness, org: FakeSalesforce) -> None:
    org.companies |= BY_WEBSITE
    contact_id = harness.owned_contact()
    harness.change_company(domain=None)

    harness.pushed(contact_id)

    assert accounts(org) == ["001A"]


def test_a_preview_shows_the_accounts_that_fit(harness: CrmHarness, org: FakeSalesforce) -> None:
    org.companies |= BY_WEBSITE

    [item] = harness.pushed(harness.owned_contact(), dry_run=True)

    assert item.companies == COMPANIES
    assert "other_companies" in notes(item)
    assert org.people == {}


def test_the_account_that_is_named_is_linked_and_stays(harness: CrmHarness, org: FakeSalesforce) -> None:
    org.companies |= BY_WEBSITE
    contact_id = harness.owned_contact()

    [named] = harness.pushed(contact_id, company_id="001C")
    [again] = harness.pushed(contact_id)

    assert accounts(org) == ["001C"]
    assert (named.actions["AccountId"], again.actions["AccountId"]) == ("fill", "same")
    assert (named.companies, again.companies) == ([], [])


def test_an_account_that_a_person_chose_is_kept_although_another_is_named(
    harness: CrmHarness, org: FakeSalesforce
) -> None:
    org.companies |= BY_WEBSITE
    org.people["003A"] = {"Email": "ada@acme.com", "LastName": "Lovelace", "AccountId": "001A"}

    [item] = harness.pushed(harness.owned_contact(), company_id="001C")

    assert accounts(org) == ["001A"]
    assert item.actions["AccountId"] == "keep"


def a_salesforce(user: SignedInUser, vendor: str = "salesforce") -> str:
    with user.database.transaction() as session:
        return a_crm(session, user.workspace_id, vendor, mapping={"email": "Email"}).id


def owned_contacts(user: SignedInUser) -> list[str]:
    with user.database.transaction() as session:
        company, ids = a_company(session), []
        for name in ("ada", "bob"):
            contact = a_contact(session, company, name.title())
            an_email(session, contact, f"{name}@acme.com")
            own(session, user.workspace_id, contact, "email")
            ids.append(contact.id)
        return ids


def push(user: SignedInUser, connection_id: str, ids: list[str], **body: Any) -> TestResponse:
    body |= {"connection_id": connection_id, "contact_ids": ids}
    return user.client.post("/api/crm/pushes", json=body, headers=user.headers)


@pytest.mark.parametrize(
    ("vendor", "people", "company_id", "part"),
    [
        ("salesforce", 2, "001C", "one contact at a time"),
        ("hubspot", 1, "001C", "the company as a text"),
        ("salesforce", 1, "001C' OR", "as the preview shows it"),
    ],
)
def test_a_company_that_cannot_be_linked_is_refused(
    user: SignedInUser, vendor: str, people: int, company_id: str, part: str
) -> None:
    connection_id, ids = a_salesforce(user, vendor), owned_contacts(user)[:people]

    response = push(user, connection_id, ids, company_id=company_id)

    [error] = response.get_json()["errors"]
    assert (response.status_code, error["pointer"]) == (422, "/company_id")
    assert part in error["detail"]


def test_the_receipt_has_the_companies_with_their_pages(user: SignedInUser) -> None:
    connection_id, [contact_id, _other] = a_salesforce(user), owned_contacts(user)
    push_id = push(user, connection_id, [contact_id], company_id="001C").get_json()["push"]["id"]
    with user.database.transaction() as session:
        session.execute(update(PushItem).values(companies=COMPANIES))

    [item] = user.client.get(f"/api/crm/pushes/{push_id}", headers=user.headers).get_json()["items"]

    assert item["companies"] == [
        one | {"url": f"https://login.salesforce.com/{one['id']}"} for one in COMPANIES
    ]


@pytest.mark.parametrize("vendor", ["twenty"])
def test_a_crm_whose_company_pages_are_not_known_shows_none(user: SignedInUser, vendor: str) -> None:
    connection_id, [contact_id, _other] = a_salesforce(user, vendor), owned_contacts(user)
    push_id = push(user, connection_id, [contact_id]).get_json()["push"]["id"]
    with user.database.transaction() as session:
        session.execute(update(PushItem).values(companies=COMPANIES[:1]))

    [item] = user.client.get(f"/api/crm/pushes/{push_id}", headers=user.headers).get_json()["items"]

    assert item["companies"] == [COMPANIES[0] | {"url": None}]


def test_the_page_of_a_preview_offers_the_accounts(user: SignedInUser, browser: Visitor) -> None:
    connection_id, [contact_id, _other] = a_salesforce(user), owned_contacts(user)
    push_id = push(user, connection_id, [contact_id], dry_run=True).get_json()["push"]["id"]
    with user.database.transaction() as session:
        session.execute(update(PushItem).values(outcome="would_create", companies=COMPANIES))

    page = browser.open(f"/crm/pushes/{push_id}")
    sent = browser.send("/crm/pushes", connection_id=connection_id, contact_id=contact_id, company_id="001C")

    assert 'name="company_id" value="001B" checked' in page.text
    assert "ACME Nordic" in page.text
    assert "https://login.salesforce.com/001C" in page.text
    assert sent.status_code == 200
