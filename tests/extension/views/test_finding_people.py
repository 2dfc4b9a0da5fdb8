"""The search for further people of a company: stored ones at once, others for credits, only by a click."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chromium_support import BrowserUser
from company_support import Company, create_company
from people_page_support import hunter_finds_people
from playwright.sync_api import Locator, Page, expect
from polling import wait_until
from proxy_support import problem_reply
from vendors_support import FakeVendors
from werkzeug import Request

SEARCH = "/api/people-searches"
NAMES = ("Dora Engel", "Emil Fabre", "Fay Greco")


@pytest.fixture
def company(user: BrowserUser) -> Company:
    user.sign_in()
    return create_company(user.stack)


@pytest.fixture
def may_reply(vendors: FakeVendors) -> Iterator[threading.Event]:
    """Let Hunter find three people at every domain, once the event is set."""
    event = threading.Event()

    def reply(request: Request) -> tuple[int, Any]:
        if not request.path.endswith("/domain-search"):
            return 200, {"data": {"email": None, "score": None}, "meta": {}}
        event.wait(30)
        limit = 0 if request.args.get("offset", "0") != "0" else int(request.args["limit"])
        return hunter_finds_people(request.args["domain"], "Engines", NAMES[:limit])

    vendors.responders["hunter"] = reply
    vendors.responders["prospeo"] = lambda _request: (200, {"error": False, "results": []})
    yield event
    event.set()


def open_offer(popup: Page) -> Locator:
    offer = popup.locator("details", has=popup.get_by_text("Find more people", exact=True))
    offer.locator("summary").click()
    return offer


def row(page: Page, name: str) -> Locator:
    return page.locator(".people-on-page li").filter(has=page.get_by_text(name, exact=True))


def searches(user: BrowserUser) -> list[Any]:
    return user.proxy.api_requests(SEARCH)


def test_stored_people_are_listed_at_once_and_others_when_they_are_found(
    user: BrowserUser, company: Company, may_reply: threading.Event
) -> None:
    popup = user.open_popup_on(company.website)
    offer = open_offer(popup)
    expect(offer).to_contain_text(f"Names {company.domain} to your server and to the data providers")
    assert searches(user) == []
    offer.get_by_label("Credits, at most").fill("10")

    offer.get_by_role("button", name="Find more people · at most 10 credits").click()

    expect(popup.get_by_role("heading", level=1)).to_have_text(f"People at {company.name}")
    expect(row(popup, "Ada Lovelace")).to_contain_text("a•••••@")
    expect(row(popup, NAMES[0])).to_have_count(0)
    may_reply.set()
    for name in NAMES:
        expect(row(popup, name)).to_contain_text(f"{name[0].lower()}•••••@")
    expect(popup.locator(".people-search .success")).to_have_text(
        "3 found, and 3 stored before. Charged: 3 credits."
    )
    assert user.balance() == 97
    [search] = searches(user)
    assert search.json == {"company_domain": company.domain, "limit": 10, "max_credits": 10}
    row(popup, NAMES[0]).get_by_role("checkbox").check()
    expect(popup.get_by_text("1 person picked · at most 1 credit")).to_be_visible()


def test_a_search_goes_on_while_the_popup_is_closed(
    user: BrowserUser, company: Company, may_reply: threading.Event
) -> None:
    popup = user.open_popup_on(company.website)
    offer = open_offer(popup)
    offer.get_by_role("button", name="Find more people").click()
    expect(row(popup, "Ada Lovelace")).to_be_visible()
    popup.close()
    may_reply.set()
    user.trigger_alarm_until(lambda: user.badge_text() == "1")

    popup = user.open_popup_on("http://elsewhere.test/")
    others = popup.get_by_role("region", name="Other requests")
    others.get_by_role("button", name=f"People at {company.name}").click()
    expect(row(popup, NAMES[0])).to_be_visible()
    popup.close()
    popup = user.open_popup_on(company.website)
    open_offer(popup).get_by_role("button", name="Show the latest search").click()

    expect(row(popup, NAMES[1])).to_be_visible()
    assert len({sent.headers["Idempotency-Key"] for sent in searches(user)}) == 1
    assert user.balance() == 97


def test_a_search_is_offered_once_the_people_above_it_are_there(
    user: BrowserUser, company: Company, may_reply: threading.Event
) -> None:
    with user.proxy.holding("/api/ext/leads-by-website-hash"):
        popup = user.open_popup_on(company.website)
        expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
        offer = popup.locator("details", has_text="Find more people")
        expect(offer).to_be_attached()
        expect(offer).to_be_hidden()

    expect(popup.get_by_text("Ada Lovelace")).to_be_visible()
    expect(offer).to_be_visible()


def test_the_result_of_a_search_stays_as_it_is_when_its_request_changes(
    user: BrowserUser, company: Company, may_reply: threading.Event
) -> None:
    may_reply.set()
    popup = user.open_popup_on(company.website)
    open_offer(popup).get_by_role("button", name="Find more people").click()
    result = popup.locator(".people-search .success")
    result.evaluate("element => element.classList.add('first')")
    wait_until(lambda: user.badge_text() == "")

    user.change_request(popup, failures=1)

    expect(popup.locator(".people-search .first")).to_be_visible()


def test_no_more_is_bought_than_the_user_allows(
    user: BrowserUser, company: Company, may_reply: threading.Event
) -> None:
    may_reply.set()
    popup = user.open_popup_on(company.website)
    offer = open_offer(popup)
    for text in ("0", "-3", ""):
        offer.get_by_label("Credits, at most").fill(text)
        expect(offer.locator("button[type=submit]")).to_be_disabled()
    offer.get_by_label("Credits, at most").fill("2")
    offer.get_by_label("Job titles").fill("engineer, , head of sales")

    offer.get_by_role("button", name="Find more people · at most 2 credits").click()

    expect(popup.locator(".people-search .success")).to_contain_text("Charged: 2 credits.")
    [search] = searches(user)
    assert search.json["titles"] == ["engineer", "head of sales"]
    assert (search.json["limit"], search.json["max_credits"]) == (2, 2)
    assert user.balance() == 98


def test_an_unknown_website_can_be_searched_for_people(user: BrowserUser, may_reply: threading.Event) -> None:
    user.sign_in()
    may_reply.set()
    domain = f"nobody-knows-{secrets.token_hex(4)}.test"
    popup = user.open_popup_on(f"http://www.{domain}/")
    expect(popup.get_by_text("Find more people", exact=True)).to_be_visible()
    sent = [request.text for request in user.proxy.api_requests() if domain in request.text]
    assert sent == []

    open_offer(popup).get_by_role("button", name="Find more people").click()

    expect(row(popup, NAMES[2])).to_be_visible()
    assert searches(user)[0].json["company_domain"] == domain


def test_a_search_that_finds_nobody_says_what_to_try_next(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on(f"http://www.nobody-at-all-{secrets.token_hex(4)}.test/")

    open_offer(popup).get_by_role("button", name="Find more people").click()

    nobody = popup.locator(".people-search .empty")
    expect(nobody.get_by_role("heading")).to_have_text("Nobody found")
    expect(nobody).to_contain_text("Nothing was charged. Try other job titles, or none.")
    expect(popup.locator("#announcements")).to_have_text("Nobody found")
    assert user.balance() == 100


def without_providers(session: dict[str, Any]) -> dict[str, Any]:
    return session | {"people_search": False}


def of_a_narrow_key(session: dict[str, Any]) -> dict[str, Any]:
    return session | {"auth": session["auth"] | {"scopes": ["lookup"]}}


@pytest.mark.parametrize("changed", [without_providers, of_a_narrow_key])
def test_without_a_provider_that_can_search_or_the_right_to_nothing_is_offered(
    user: BrowserUser, company: Company, changed: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    session = changed(user.get_storage("session")["session"])
    with user.proxy.replying("/api/ext/session", problem_reply(503, "unavailable")):
        user.set_storage("session", session=session)

        popup = user.open_popup_on(company.website)

        expect(popup.get_by_text("Ada Lovelace")).to_be_visible()
        expect(popup.get_by_text("Find more people", exact=True)).to_have_count(0)


def test_a_refusal_is_shown(user: BrowserUser, company: Company) -> None:
    popup = user.open_popup_on(company.website)
    with user.proxy.replying(SEARCH, problem_reply(403, "spending_limit_reached")):
        open_offer(popup).get_by_role("button", name="Find more people").click()

        expect(popup.get_by_role("alert")).to_contain_text("Your spending limit is reached")

    assert user.balance() == 100
