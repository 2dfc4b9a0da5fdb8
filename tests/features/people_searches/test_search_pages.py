"""The pages of searches for people."""

from __future__ import annotations

import re
from typing import Any

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from people_search_support import ADA, BOB, run_search
from settings_support import change_settings, require_purpose
from users_support import CREDITS, SignedInUser, create_user

from app.domain.kinds import Kind
from app.engine.contacts import contacts
from app.engine.jobs.jobs import Job
from app.infra import clock


def job_id_of(page: Any) -> str:
    return str(page.request.path).rpartition("/")[2]


def test_a_search_shows_stored_people_at_once_and_found_ones_with_their_price(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    with user.database.transaction() as session:
        contacts.upsert(session, ADA, now=clock.now())

    waiting = browser.send("/people-searches", company="acme.com", titles="engineer, cto", limit="5")
    run_search(app, user, job_id_of(waiting), ADA, BOB)
    found = browser.open(waiting.request.path)

    assert ("The providers are asked" in waiting.text, "Ada Lovelace" in waiting.text) == (True, True)
    assert "Found by the providers: 2, for 1 credit" in found.text
    assert "Bob Ray" in found.text


def test_past_searches_are_listed_with_their_criteria(browser: Visitor) -> None:
    empty = browser.open("/people-searches")
    browser.send(
        "/people-searches",
        company="Acme Inc",
        countries="Germany",
        seniorities="c_suite",
        departments="sales",
    )

    listed = browser.open("/people-searches")

    assert "No searches yet" in empty.text
    assert re.search(r"Acme Inc</th>\s*<td[^>]*>c suite, sales, DE", listed.text)


def test_further_people_are_a_search_of_the_next_page(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    waiting = browser.send("/people-searches", company="acme.com", seniorities="vp", departments="sales")
    run_search(app, user, job_id_of(waiting), ADA, has_more=True)
    found = browser.open(waiting.request.path)
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', found.text))

    further = browser.send("/people-searches", **fields)

    assert (fields["page"], fields["company"]) == ("2", "acme.com")
    with user.database.reading() as session:
        request = session.get_one(Job, job_id_of(further)).request
    assert (request["page"], request["seniorities"], request["departments"]) == (2, ["vp"], ["sales"])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Enter the name of a company or its website."),
        ({"company": "acme.com", "countries": "Atlantis"}, "not a country"),
        ({"company": "acme.com", "limit": "many"}, "integer"),
    ],
)
def test_an_invalid_form_says_what_to_change(browser: Visitor, fields: dict[str, str], message: str) -> None:
    page = browser.send("/people-searches", **fields)

    assert (page.status_code, message in page.text) == (422, True)


def test_without_credits_the_form_says_so(app: APIFlask, browser: Visitor) -> None:
    prices = app.extensions["services"].settings.prices
    change_settings(app, prices={**prices, Kind.PEOPLE_SEARCH: CREDITS})

    page = browser.send("/people-searches", company="acme.com", limit="2")

    assert (page.status_code, "credits" in page.text) == (402, True)


def test_a_search_without_a_required_purpose_is_refused(app: APIFlask, browser: Visitor) -> None:
    require_purpose(app, "*")

    page = browser.send("/people-searches", company="acme.com")

    assert (page.status_code, "Choose what you need the data for." in page.text) == (422, True)


def test_a_search_that_found_nobody_says_that_nothing_was_charged(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    waiting = browser.send("/people-searches", company="acme.com")
    run_search(app, user, job_id_of(waiting))

    assert "nothing was charged" in browser.open(waiting.request.path).text
    assert "Show the people" in browser.open(f"/history/{job_id_of(waiting)}").text


def test_the_search_of_another_workspace_does_not_exist(app: APIFlask, browser: Visitor) -> None:
    path = browser.send("/people-searches", company="acme.com").request.path
    other = visitor(app, create_user(app, email="other@other.example"))

    assert other.open(path).status_code == 404
