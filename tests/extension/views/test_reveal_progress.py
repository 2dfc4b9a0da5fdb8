"""A reveal in progress: the providers searched so far, and the receipt at the end."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from chromium_support import BrowserUser, mouse_held_down_on
from company_support import create_company
from playwright.sync_api import Locator, Page, expect
from polling import wait_until
from vendors_support import FakeVendors, prospeo_finds
from werkzeug import Request

POLL = "/api/ext/jobs"


@pytest.fixture
def prospeo_may_reply(vendors: FakeVendors) -> Iterator[threading.Event]:
    """Make Prospeo return an address for every person, once the event is set."""
    event = threading.Event()
    knows = prospeo_finds(f"ada.{secrets.token_hex(4)}@northwind.dev")

    def reply(request: Request) -> tuple[int, Any]:
        event.wait(30)
        return knows(request)

    vendors.responders["prospeo"] = reply
    yield event
    event.set()


def stranger(user: BrowserUser) -> str:
    return user.serve_profile(f"stranger-{secrets.token_hex(4)}", "Ada Lovelace", "Engineer at Northwind")


def reveal_and_close_popup(user: BrowserUser) -> str:
    """Search for a stranger's address, close the popup meanwhile, and return the profile URL."""
    user.sign_in()
    url = stranger(user)
    popup = user.open_popup_on(url)
    email_of(popup).get_by_role("button", name="Find e-mail").click()
    expect(email_of(popup)).to_contain_text("Searching Prospeo")
    popup.close()
    return url


def email_of(popup: Page) -> Locator:
    return popup.get_by_role("region", name="E-mail", exact=True)


def test_a_reveal_shows_the_providers_searched_and_ends_with_the_receipt(
    user: BrowserUser, prospeo_may_reply: threading.Event
) -> None:
    user.sign_in()
    popup = user.open_popup_on(stranger(user))
    email = email_of(popup)

    email.get_by_role("button", name="Find e-mail").click()

    expect(email.get_by_role("status")).to_have_text("Searched Hunter. Searching Prospeo…")
    expect(email).to_contain_text("You can close this")
    expect(email.get_by_role("button")).to_have_count(0)
    prospeo_may_reply.set()
    expect(email.get_by_role("link")).to_contain_text("@northwind.dev")
    expect(popup.locator("header")).to_contain_text("99 credits")
    expect(popup.get_by_text("Not known yet")).to_have_count(0)
    email.get_by_text("Receipt").click()
    rows = email.get_by_role("row")
    expect(rows.filter(has_text="Hunter")).to_contain_text("not found")
    expect(rows.filter(has_text="Prospeo")).to_contain_text("found")
    expect(rows.filter(has_text="Prospeo").get_by_role("cell").last).to_contain_text(" s")
    expect(email.locator("details.receipt")).to_contain_text("Charged: 1 credit")
    expect(email.locator("details.receipt")).to_contain_text("From Prospeo, last seen")


def test_the_progress_is_shown_again_after_the_popup_was_closed_and_then_the_result(
    user: BrowserUser, vendors: FakeVendors, prospeo_may_reply: threading.Event
) -> None:
    url = reveal_and_close_popup(user)

    popup = user.open_popup_on(url)

    expect(email_of(popup).get_by_role("status")).to_have_text("Searched Hunter. Searching Prospeo…")
    prospeo_may_reply.set()
    expect(email_of(popup).get_by_role("link")).to_contain_text("@northwind.dev")
    assert vendors.calls("prospeo") == 1
    assert user.balance() == 99


def test_another_request_opens_although_it_changes_while_its_row_is_pressed(
    user: BrowserUser, prospeo_may_reply: threading.Event
) -> None:
    reveal_and_close_popup(user)
    popup = user.open_popup_on("http://www.acme.test/")
    row = popup.get_by_role("region", name="Other requests").get_by_role("button")
    expect(row).to_contain_text("in progress")

    [request] = user.stored_requests()
    polls = len(user.proxy.api_requests(POLL))
    with mouse_held_down_on(popup, row):
        user.set_storage("local", **{f"request:{request['key']}": request | {"failures": 1}})
        wait_until(lambda: len(user.proxy.api_requests(POLL)) > polls + 1)

    expect(email_of(popup)).to_contain_text("Searching Prospeo")
    prospeo_may_reply.set()
    expect(email_of(popup).get_by_role("link")).to_contain_text("@northwind.dev")


def test_other_requests_are_shown_once_the_people_above_them_are_there(
    user: BrowserUser, prospeo_may_reply: threading.Event
) -> None:
    company = create_company(user.stack)
    reveal_and_close_popup(user)
    with user.proxy.holding("/api/ext/leads-by-website-hash"):
        popup = user.open_popup_on(company.website)
        expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
        others = popup.get_by_role("region", name="Other requests")
        expect(others).to_have_count(0)

    expect(others.get_by_role("button")).to_contain_text("in progress")
    expect(popup.get_by_text("Bob Babbage")).to_be_visible()


def test_a_result_that_arrives_while_the_popup_is_closed_is_on_the_badge_until_it_is_shown(
    user: BrowserUser, prospeo_may_reply: threading.Event
) -> None:
    url = reveal_and_close_popup(user)
    prospeo_may_reply.set()
    user.trigger_alarm_until(lambda: user.badge_text() == "1")

    popup = user.open_popup_on(url)

    email = email_of(popup)
    expect(email.get_by_role("link")).to_contain_text("@northwind.dev")
    expect(email.locator("details.receipt")).to_contain_text("Charged: 1 credit")
    wait_until(lambda: user.badge_text() == "")
    assert user.balance() == 99


def test_address_and_number_are_requested_in_parallel_and_each_shows_its_own_result(
    user: BrowserUser, prospeo_may_reply: threading.Event
) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile(company.profiles["Cleo"].rpartition("/")[2], "Cleo Clarke"))
    phone = popup.get_by_role("region", name="Phone", exact=True)
    email_of(popup).get_by_role("button", name="Find e-mail").click()
    expect(email_of(popup)).to_contain_text("Searching Prospeo")

    phone.get_by_role("button", name="Find phone").click()

    expect(phone).to_contain_text("Nothing found. Nothing was charged.")
    expect(email_of(popup)).to_contain_text("Searching Prospeo")
    prospeo_may_reply.set()
    expect(email_of(popup).get_by_role("link")).to_be_visible()
    expect(phone).to_contain_text("Nothing found. Nothing was charged.")
