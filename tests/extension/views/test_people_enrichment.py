"""The request for the picked people of a page: price, cap, progress in every window, and result."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from chromium_support import BrowserUser
from people_page_support import FindsEverybody, Somebody, own, put_into_crm, serve_people, somebodies
from playwright.sync_api import Error, Locator, Page, expect
from polling import wait_until
from proxy_support import problem_reply
from vendors_support import FakeVendors
from werkzeug import Request

REQUEST = "/api/ext/enrichment-request"
USED_UP = "The credits were used up before"


@pytest.fixture
def prospeo(vendors: FakeVendors) -> FindsEverybody:
    return FindsEverybody(vendors)


@pytest.fixture
def may_reply(vendors: FakeVendors, prospeo: FindsEverybody) -> Iterator[threading.Event]:
    """Make Prospeo wait until the event is set."""
    event = threading.Event()

    def reply(request: Request) -> tuple[int, Any]:
        event.wait(30)
        return prospeo.reply(request)

    vendors.responders["prospeo"] = reply
    yield event
    event.set()


def row(page: Page, one: Somebody) -> Locator:
    return page.locator(".people-on-page li").filter(has=page.get_by_text(one.name, exact=True))


def open_side_panel_from(user: BrowserUser, popup: Page) -> Page:
    """Press the popup's button for the side panel, which closes the popup; return the panel."""
    with (
        user.context.expect_page(lambda page: page.url.endswith("panel.html?side")) as opened,
        suppress(Error),  # the popup may be closed before the click is confirmed; its effects are awaited
    ):
        popup.get_by_role("button", name="Open in the side panel").click()
    opened.value.wait_for_load_state()
    return opened.value


def actions(page: Page) -> Locator:
    return page.get_by_role("region", name="With the people you picked")


def pick(page: Page, people: list[Somebody]) -> None:
    """Pick people, and open the form that finds their addresses."""
    for one in people:
        row(page, one).get_by_role("checkbox").check()
    actions(page).get_by_role("button", name="Find contacts").click()


def submit(page: Page) -> Locator:
    return actions(page).locator("button.primary:visible")


def bought(user: BrowserUser) -> list[Any]:
    return [sent.json for sent in user.proxy.api_requests(REQUEST) if not sent.json.get("dry_run")]


def clicks(user: BrowserUser) -> set[str]:
    """Return the idempotency keys: a request is sent again if a window closes before the response."""
    sent = [request for request in user.proxy.api_requests(REQUEST) if not request.json.get("dry_run")]
    return {request.headers["Idempotency-Key"] for request in sent}


def shows_result(page: Page, people: list[Somebody]) -> None:
    for one in people:
        expect(row(page, one).get_by_role("link", name=one.email)).to_be_visible()


def test_a_request_continues_while_the_popup_is_closed_and_its_result_is_there_again(
    user: BrowserUser, prospeo: FindsEverybody, may_reply: threading.Event
) -> None:
    people = somebodies(3)
    prospeo.people = {one.profile: one for one in people[:2]}
    user.sign_in()
    url = serve_people(user, people)
    popup = user.open_popup_on(url)
    pick(popup, people)
    submit(popup).click()
    expect(row(popup, people[0])).to_contain_text("In progress")
    expect(row(popup, people[0]).get_by_role("checkbox")).to_be_disabled()
    popup.close()

    popup = user.open_popup_on(url)
    expect(row(popup, people[0])).to_contain_text("In progress")
    popup.close()
    may_reply.set()
    user.trigger_alarm_until(lambda: user.badge_text() == "1")
    for _ in range(2):
        popup = user.open_popup_on(url)
        shows_result(popup, people[:2])
        expect(row(popup, people[2])).to_contain_text("Not found")
        expect(actions(popup)).to_contain_text("2 of 3 found or revealed already. Charged: 2 credits.")
        wait_until(lambda: user.badge_text() == "")
        popup.close()

    assert len(clicks(user)) == 1
    assert user.balance() == 98


def test_a_result_that_is_done_with_is_owned_at_the_next_lookup(
    user: BrowserUser, prospeo: FindsEverybody
) -> None:
    people = somebodies(2)
    prospeo.know(people)
    user.sign_in()
    popup = user.open_popup_on(serve_people(user, people))
    pick(popup, people)
    submit(popup).click()
    shows_result(popup, people)

    actions(popup).get_by_role("button", name="Done").click()

    expect(row(popup, people[0])).to_contain_text("free")
    shows_result(popup, people)
    assert user.stored_requests() == []


def test_a_result_stays_as_it_is_when_its_request_changes(user: BrowserUser, prospeo: FindsEverybody) -> None:
    people = somebodies(2)
    prospeo.know(people)
    user.sign_in()
    popup = user.open_popup_on(serve_people(user, people))
    pick(popup, people)
    submit(popup).click()
    shows_result(popup, people)
    done = actions(popup).get_by_role("button", name="Done")
    done.evaluate("element => element.classList.add('first')")
    wait_until(lambda: user.badge_text() == "")

    user.change_request(popup, failures=1)

    expect(done).to_have_class("done first")


def test_a_request_of_another_page_is_listed_and_opens_its_people(
    user: BrowserUser, prospeo: FindsEverybody, may_reply: threading.Event
) -> None:
    people = somebodies(2)
    prospeo.people = {one.profile: one for one in people}
    user.sign_in()
    popup = user.open_popup_on(serve_people(user, people))
    pick(popup, people)
    submit(popup).click()
    expect(row(popup, people[0])).to_contain_text("In progress")
    popup.close()

    popup = user.open_popup_on("http://elsewhere.test/")
    popup.get_by_role("region", name="Other requests").get_by_role("button", name="2 people").click()
    may_reply.set()

    shows_result(popup, people)


def test_two_windows_show_the_same_request_and_send_it_once(
    user: BrowserUser, prospeo: FindsEverybody, may_reply: threading.Event
) -> None:
    people = somebodies(2)
    prospeo.people = {one.profile: one for one in people}
    user.sign_in()
    panel = open_side_panel_from(user, user.open_popup_on(serve_people(user, people)))
    expect(row(panel, people[0])).to_contain_text("Not known yet")
    popup = user.click_icon(user.tabs()[0])
    for page in (popup, panel):
        expect(row(page, people[0])).to_contain_text("Not known yet")

    pick(panel, people)
    pick(popup, people)
    expect(submit(popup)).to_be_enabled()
    expect(submit(panel)).to_be_enabled()
    submit(panel).click()
    expect(row(popup, people[0])).to_contain_text("In progress")
    may_reply.set()

    for page in (popup, panel):
        shows_result(page, people)
        expect(page.locator("header")).to_contain_text("98 credits")
    assert len(clicks(user)) == 1


def test_no_more_is_spent_than_the_user_allows(user: BrowserUser, prospeo: FindsEverybody) -> None:
    people = somebodies(3)
    prospeo.know(people)
    user.sign_in()
    popup = user.open_popup_on(serve_people(user, people))
    pick(popup, people)
    expect(submit(popup)).to_have_text("Find 3 people · at most 3 credits")
    cap = actions(popup).get_by_label("Credits, at most")
    expect(cap).to_have_value("3")

    cap.fill("2")
    expect(submit(popup)).to_have_text("Find 3 people · at most 2 credits")
    submit(popup).click()

    shows_result(popup, people[:2])
    expect(row(popup, people[2])).to_contain_text(USED_UP)
    assert user.balance() == 98
    [request] = bought(user)
    assert request["max_credits"] == 2


def test_a_cap_of_nothing_sends_nothing(user: BrowserUser) -> None:
    user.sign_in()
    people = somebodies(2)
    popup = user.open_popup_on(serve_people(user, people))
    pick(popup, people)
    expect(submit(popup)).to_be_enabled()

    for text in ("0", "-3", ""):
        actions(popup).get_by_label("Credits, at most").fill(text)
        expect(submit(popup)).to_be_enabled() if text == "" else expect(submit(popup)).to_be_disabled()


def test_with_too_few_credits_the_search_stops_when_they_are_used(
    user: BrowserUser, prospeo: FindsEverybody
) -> None:
    user.workspace, user.token = user.stack.create_workspace(grant=2)
    people = somebodies(3)
    prospeo.know(people)
    user.sign_in()
    popup = user.open_popup_on(serve_people(user, people))
    pick(popup, people)

    expect(actions(popup)).to_contain_text(
        "Your workspace has 2 credits: the search stops when they are used."
    )
    submit(popup).click()

    shows_result(popup, people[:2])
    expect(row(popup, people[2])).to_contain_text(USED_UP)
    actions(popup).get_by_role("button", name="Done").click()
    pick(popup, people[2:])
    expect(actions(popup)).to_contain_text("Not enough credits")
    expect(submit(popup)).to_be_disabled()


@pytest.mark.parametrize(
    ("choice", "price", "sent"),
    [
        ("Leave them out", "at most 2 credits", {"skip": ["crm"], "skip_when": "in_source"}),
        ("Find only what is missing there", "at most 3 credits", {"skip": ["crm"], "skip_when": "has_field"}),
        ("Find all of them", "at most 4 credits", {}),
    ],
)
def test_who_is_in_the_crm_is_left_out_or_filled_up_or_found_all_the_same(
    user: BrowserUser, choice: str, price: str, sent: dict[str, Any]
) -> None:
    user.sign_in()
    people = somebodies(2)
    put_into_crm(user, people[:1], emails=["known@crm.example"])
    popup = user.open_popup_on(serve_people(user, people))
    expect(row(popup, people[0])).to_contain_text("In HubSpot")
    pick(popup, people)

    actions(popup).get_by_label("Phone").check()
    actions(popup).get_by_label("People in your CRM and address books").select_option(choice)

    expect(submit(popup)).to_contain_text(price)
    last = user.proxy.api_requests(REQUEST)[-1].json
    assert last["fields"] == ["email", "phone"]
    assert {key: last[key] for key in ("skip", "skip_when") if key in last} == sent


def test_the_price_is_asked_for_once_while_people_are_picked(user: BrowserUser) -> None:
    user.sign_in()
    people = somebodies(20)
    popup = user.open_popup_on(serve_people(user, people))
    pick(popup, people[:1])
    expect(submit(popup)).to_be_enabled()

    popup.get_by_role("checkbox", name="1 of 20 picked").check()

    expect(submit(popup)).to_have_text("Find 20 people · at most 20 credits")
    assert len(user.proxy.api_requests(REQUEST)) == 2


def test_a_refusal_is_shown_and_the_people_can_be_picked_again(user: BrowserUser) -> None:
    user.sign_in()
    people = somebodies(2)
    popup = user.open_popup_on(serve_people(user, people))
    pick(popup, people)
    expect(submit(popup)).to_be_enabled()

    with user.proxy.replying(REQUEST, problem_reply(403, "spending_limit_reached")):
        submit(popup).click()
        expect(actions(popup).get_by_role("alert")).to_contain_text("Your spending limit is reached")

    expect(row(popup, people[0]).get_by_role("checkbox")).to_be_enabled()
    assert user.balance() == 100


def test_what_was_found_is_copied_and_downloaded_at_once(user: BrowserUser, tmp_path: Path) -> None:
    user.sign_in()
    hostile = Somebody(
        '=HYPERLINK("x"), Ada', "https://www.linkedin.com/in/hostile-of-the-csv", "h@northwind.dev"
    )
    people = [*somebodies(2), hostile]
    own(user, people)
    popup = user.open_popup_on(serve_people(user, people, "http://people.test/"))
    popup.get_by_role("button", name="3 people on this page").click()
    expect(row(popup, people[0])).to_contain_text("Revealed")
    popup.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")

    actions(popup).get_by_role("button", name="Copy the e-mail addresses").click()
    expect(actions(popup)).to_contain_text("3 e-mail addresses copied")
    with popup.expect_download() as started:
        actions(popup).get_by_role("button", name="Download as CSV").click()

    assert popup.evaluate("window.copied").split("\n") == [one.email for one in people]
    started.value.save_as(tmp_path / "people.csv")
    with (tmp_path / "people.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(one["Full name"], one["E-mail"]) for one in rows][:2] == [
        (one.name, one.email) for one in people[:2]
    ]
    assert rows[2]["Full name"] == "'" + hostile.name
    assert rows[2]["Title"] == "Recruiter"
