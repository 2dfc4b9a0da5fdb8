"""The page of a company: what is known of it, how its addresses are written, and its people."""

from __future__ import annotations

import re

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from stored_support import NOW, a_company, a_contact, an_email, exclude, own, suppress
from users_support import SignedInUser, create_user

from app.domain.email_patterns.patterns import LearnedPattern
from app.domain.ids import new_id
from app.domain.providers.website_pages import PageState, RoleAddress
from app.engine.contacts import website_readings
from app.engine.contacts.companies import Company
from app.pages import companies


@pytest.fixture
def company(user: SignedInUser) -> Company:
    """A company with two people whose addresses are known."""
    with user.database.transaction() as session:
        company = a_company(session)
        company.provenance = {
            "*": {"source": "people.csv", "at": "2026-11-02T08:00:00Z"},
            "industry": {"source": "people.csv", "at": "2026-11-04T08:00:00Z"},
            "headcount": {"source": "hunter", "at": "2026-11-03T08:00:00Z"},
            "city": {},
        }
        for name, rank in (("Dora Diaz", "c_suite"), ("Bob Ray", "staff")):
            contact = a_contact(session, company, name, title="Engineer", seniority=rank)
            an_email(session, contact, f"{name.replace(' ', '.').lower()}@acme.com", form="{first}.{last}")
        return company


def test_a_company_is_shown_in_words(browser: Visitor, company: Company) -> None:
    page = browser.open(f"/companies/{company.id}").text

    assert '<dd dir="auto">Machinery</dd>' in page
    assert "51\u2013200 employees" in page
    assert "London, United Kingdom" in page
    assert "people.csv, 2026-11-04; hunter, 2026-11-03" in page
    assert "Most look like <strong>jane.doe@acme.com</strong>: first name, a dot, last name." in page
    assert "Seen in 2 addresses." in page
    assert "{first}" not in page


def test_a_company_is_found_by_its_website(browser: Visitor, company: Company) -> None:
    assert '<h1 dir="auto">Acme Engines</h1>' in browser.open(f"/companies/{company.domain}").text


def test_people_are_masked_until_they_are_owned(
    browser: Visitor, user: SignedInUser, company: Company
) -> None:
    before = browser.open(f"/companies/{company.id}").text
    with user.database.transaction() as session:
        contact = a_contact(session, company, "Cleo Clarke")
        an_email(session, contact, "cleo.clarke@acme.com")
        own(session, user.workspace_id, contact, "email")
    after = browser.open(f"/companies/{company.id}").text

    assert "2 people whom we know" in before
    assert before.index("Dora Diaz") < before.index("Bob Ray")
    assert "diaz@acme.com" not in before
    assert "cleo.clarke@acme.com" in after


def test_another_workspace_sees_no_owned_value(app: APIFlask, user: SignedInUser, company: Company) -> None:
    with user.database.transaction() as session:
        contact = a_contact(session, company, "Cleo Clarke")
        an_email(session, contact, "cleo.clarke@acme.com")
        own(session, user.workspace_id, contact, "email")
    stranger = visitor(app, create_user(app, email="eve@babbage.example"))

    page = stranger.open(f"/companies/{company.id}").text

    assert "cleo.clarke@acme.com" not in page
    assert "Cleo Clarke" in page


def test_nothing_is_offered_of_who_is_excluded(
    browser: Visitor, user: SignedInUser, company: Company
) -> None:
    with user.database.transaction() as session:
        exclude(session, user.workspace_id, "domain", "acme.com")

    page = browser.open(f"/companies/{company.id}").text

    assert "Excluded: customer" in page
    assert "•" not in page


def test_pages_of_people_follow_one_another(
    browser: Visitor, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.pages.companies.ROWS", 1)

    first = browser.open(f"/companies/{company.id}").text
    found = re.search(r'href="([^"]+)">Next people', first)
    assert found
    second = browser.open(found[1]).text
    restarted = browser.open(f"/companies/{company.id}?after={new_id('con')}").text

    assert ("Dora Diaz" in first, "Bob Ray" in first) == (True, False)
    assert ("Dora Diaz" in second, "Bob Ray" in second) == (False, True)
    assert "Next people" not in second
    assert "Dora Diaz" in restarted


def test_many_people_are_counted_up_to_a_bound(
    browser: Visitor, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.engine.lookups.company_pages.MOST_COUNTED", 1)

    assert "More than 1 people" in browser.open(f"/companies/{company.id}").text


def test_a_company_without_people_says_how_to_find_some(browser: Visitor, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        lone = a_company(session, "Lone Works", domain=None, industry=None, headcount=None)

    page = browser.open(f"/companies/{lone.id}").text

    assert "We know nobody at this company yet" in page
    assert "Too few are known" in page


@pytest.mark.parametrize("key", ["nowhere.example", "com_000000000000000000000000", "x" * 400, "a%00b"])
def test_an_unknown_company_is_not_found(browser: Visitor, key: str) -> None:
    page = browser.open(f"/companies/{key}")

    assert page.status_code == 404
    assert "Nothing is stored about this company" in page.text


def test_a_company_that_opted_out_is_not_shown(
    browser: Visitor, user: SignedInUser, company: Company
) -> None:
    with user.database.transaction() as session:
        suppress(session, "domain", "acme.com")

    assert browser.open(f"/companies/{company.id}").status_code == 404


@pytest.mark.parametrize(
    ("form", "words", "address"),
    [
        ("{f}{last}", "first letter of the first name and last name", "jdoe@acme.com"),
        ("{last}", "last name", "doe@acme.com"),
        ("{first}_{l}", "first name, an underscore, first letter of the last name", "jane_d@acme.com"),
        ("{last}-{f}", "last name, a hyphen, first letter of the first name", "doe-j@acme.com"),
    ],
)
def test_the_form_of_addresses_is_said_in_words(form: str, words: str, address: str) -> None:
    learned = LearnedPattern(form, 0.9, 9)

    assert (companies.in_words(learned), companies.example(learned, "acme.com")) == (words, address)


def test_addresses_of_roles_are_shown_free_with_their_page(
    browser: Visitor, user: SignedInUser, company: Company
) -> None:
    with user.database.transaction() as session:
        website_readings.claim(session, "acme.com", fresh_since=NOW, now=NOW)
        found = [RoleAddress("info@acme.com", "https://acme.com/contact")]
        website_readings.store(session, "acme.com", [PageState(url="x", digest="1")], [], found, now=NOW)

    page = browser.open(f"/companies/{company.id}").text

    assert ">info@acme.com</bdi>" in page
    assert '<a href="https://acme.com/contact" rel="noopener noreferrer" dir="ltr">' in page
    assert ", 2026-11-20</span>" in page
