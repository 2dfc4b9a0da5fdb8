"""The search and the page of a contact say that the person is in the CRM already."""

from __future__ import annotations

import re
from typing import Any

import pytest
from crm_index_support import a_crm, in_crm
from page_support import Visitor
from stored_support import ADA_URL, a_company, a_contact, an_email, own
from users_support import SignedInUser

from app.features.crm.connections import CrmConnection
from app.features.crm.index.crm_people import RecordKind

LINK = (
    '<a href="https://app.hubspot.com/contacts/4242/record/0-1/1" target="_blank" rel="noopener noreferrer">'
)


@pytest.fixture
def contact_id(user: SignedInUser) -> str:
    """Store Ada, whose address the workspace owns; return the id."""
    with user.database.transaction() as session:
        ada = a_contact(session, a_company(session), linkedin_url=ADA_URL)
        an_email(session, ada, "ada@acme.com")
        own(session, user.workspace_id, ada, "email")
        return ada.id


def store(user: SignedInUser, *people: dict[str, Any], **connection: Any) -> CrmConnection:
    with user.database.transaction() as session:
        crm = a_crm(session, user.workspace_id, **connection)
        in_crm(session, crm, *people)
        return crm


def lines(text: str) -> list[str]:
    """Return the lines about the CRM, without their tags."""
    found = re.findall(r'<p class="crm">(.*?)</p>', text, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]*>", "", line).split()) for line in found]


@pytest.mark.usefixtures("contact_id")
def test_the_search_shows_the_record_before_the_price(browser: Visitor, user: SignedInUser) -> None:
    store(
        user,
        {"profiles": [ADA_URL], "emails": ["a@b.example"], "phones": ["+12025550143"], "owner": "Kim Lee"},
    )

    page = browser.send("/", linkedin_url=ADA_URL).text

    assert lines(page) == [
        "In HubSpot · owner Kim Lee · has e-mail and phone: a@b.example, +12025550143 · Open in HubSpot"
    ]
    assert page.index('class="crm"') < page.index("Find phone")
    assert LINK in page


def test_the_page_of_a_contact_shows_the_records(
    browser: Visitor, user: SignedInUser, contact_id: str
) -> None:
    store(
        user,
        {"emails": ["ada@acme.com"], "company": "Babbage & Co"},
        {"profiles": [ADA_URL], "kind": RecordKind.LEAD, "owner": "<b>Kim</b>"},
    )

    page = browser.open(f"/contacts/{contact_id}").text

    assert lines(page) == [
        "In HubSpot · lead · owner &lt;b&gt;Kim&lt;/b&gt; · Open in HubSpot",
        "Out of date in HubSpot: another company · has e-mail: ada@acme.com · Open in HubSpot",
    ]


def test_a_record_without_an_address_has_no_link(
    browser: Visitor, user: SignedInUser, contact_id: str
) -> None:
    store(user, {"profiles": [ADA_URL]}, vendor="twenty", base_url="http://10.0.0.1")

    page = browser.open(f"/contacts/{contact_id}").text

    assert lines(page) == ["In Twenty"]


def test_a_person_who_is_in_no_crm_has_no_line(browser: Visitor, user: SignedInUser, contact_id: str) -> None:
    store(user, {"profiles": ["https://www.linkedin.com/in/bob"]})

    pages = [browser.send("/", linkedin_url=ADA_URL), browser.open(f"/contacts/{contact_id}")]

    assert [(page.status_code, lines(page.text)) for page in pages] == [(200, []), (200, [])]


@pytest.mark.usefixtures("contact_id")
@pytest.mark.parametrize(
    ("records", "badges"),
    [
        ([{"profiles": [ADA_URL]}, {"emails": ["ada@acme.com"], "kind": RecordKind.LEAD}], 1),
        ([{"name": "Ada Lovelace", "company": "Acme Engines"}], 1),
        ([{"profiles": ["https://www.linkedin.com/in/bob"], "phones": ["+12025550143"]}], 0),
    ],
)
def test_the_table_of_contacts_says_who_is_in_the_crm(
    browser: Visitor, user: SignedInUser, records: list[dict[str, Any]], badges: int
) -> None:
    store(user, *records)

    page = browser.open("/contacts").text

    assert "Ada Lovelace" in page
    assert page.count("In HubSpot") == badges
