"""Enrichment of an unknown person, in the open popup and in the background."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from chromium_support import BrowserUser, layout
from playwright.sync_api import Locator, Page, expect
from polling import wait_until
from vendors_support import FakeVendors, prospeo_finds
from werkzeug import Request

REQUEST = "/api/ext/enrichment-request"
PRICE = "Look up everything · at most 2 credits"


@dataclass
class Prospeo:
    """Prospeo with an address for every person, which it returns once `may_reply` is set."""

    address: str
    may_reply: threading.Event


@pytest.fixture
def prospeo(vendors: FakeVendors) -> Iterator[Prospeo]:
    vendor = Prospeo(f"ada.{secrets.token_hex(4)}@northwind.dev", threading.Event())
    knows = prospeo_finds(vendor.address)

    def reply(request: Request) -> tuple[int, Any]:
        vendor.may_reply.wait(30)
        return knows(request)

    vendors.responders["prospeo"] = reply
    yield vendor
    vendor.may_reply.set()


def stranger(user: BrowserUser) -> str:
    return user.serve_profile(f"stranger-{secrets.token_hex(4)}", "Ada Lovelace", "Engineer at Northwind")


def part(popup: Page, name: str = "Full profile") -> Locator:
    return popup.get_by_role("region", name=name, exact=True)


def test_the_price_of_an_enrichment_is_on_its_button_and_the_estimate_is_free(user: BrowserUser) -> None:
    user.sign_in()

    popup = user.open_popup_on(stranger(user))

    expect(part(popup).get_by_role("button")).to_have_text(PRICE)
    [estimate] = user.proxy.api_requests(REQUEST)
    assert estimate.json["dry_run"] is True
    assert user.balance() == 100
    assert user.stored_requests() == []


def test_the_enrichment_button_is_disabled_until_its_price_is_known_and_nothing_moves_then(
    user: BrowserUser,
) -> None:
    user.sign_in()
    with user.proxy.holding(REQUEST):
        popup = user.open_popup_on(stranger(user))
        expect(part(popup).get_by_role("button")).to_be_disabled()
        before = layout(popup)

    expect(part(popup).get_by_role("button", name=PRICE)).to_be_enabled()
    assert layout(popup) == before


def test_an_enrichment_continues_while_the_popup_is_closed_and_its_end_is_on_the_badge(
    user: BrowserUser, vendors: FakeVendors, prospeo: Prospeo
) -> None:
    user.sign_in()
    url = stranger(user)
    popup = user.open_popup_on(url)
    part(popup).get_by_role("button", name=PRICE).click()
    expect(part(popup)).to_contain_text("You can close this")
    wait_until(lambda: vendors.calls("prospeo"))
    popup.close()
    assert user.badge_text() == ""
    prospeo.may_reply.set()
    user.trigger_alarm_until(lambda: user.badge_text() == "1")

    popup = user.open_popup_on(url)

    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    expect(part(popup, "E-mail").get_by_role("link")).to_have_text(prospeo.address)
    expect(popup.locator("main")).not_to_contain_text("Not known yet")
    expect(part(popup)).to_have_count(0)
    expect(popup.locator("header")).to_contain_text("99 credits")
    wait_until(lambda: user.badge_text() == "")
    assert user.stored_requests() == []
    assert user.balance() == 99
    assert vendors.calls("prospeo") == 1


def test_an_enrichment_opens_the_person_it_found(user: BrowserUser, prospeo: Prospeo) -> None:
    user.sign_in()
    popup = user.open_popup_on(stranger(user))
    part(popup).get_by_role("button", name=PRICE).click()
    expect(part(popup)).to_contain_text("Searching Prospeo")

    prospeo.may_reply.set()

    expect(part(popup, "E-mail").get_by_role("link")).to_have_text(prospeo.address)
    expect(popup.locator("header")).to_contain_text("99 credits")
    assert user.badge_text() == ""


@pytest.mark.own_browser
def test_an_enrichment_in_progress_is_shown_again_and_not_requested_twice(
    user: BrowserUser, vendors: FakeVendors, prospeo: Prospeo
) -> None:
    user.sign_in()
    url = stranger(user)
    popup = user.open_popup_on(url)
    part(popup).get_by_role("button", name=PRICE).click()
    wait_until(lambda: vendors.calls("prospeo"))
    popup.close()
    user.stop_worker(user.tabs()[0])

    popup = user.open_popup_on(url)

    expect(part(popup).get_by_role("status")).to_contain_text("Prospeo")
    expect(part(popup).get_by_role("button")).to_have_count(0)
    prospeo.may_reply.set()
    expect(part(popup, "E-mail").get_by_role("link")).to_have_text(prospeo.address)
    requests = [request for request in user.proxy.api_requests(REQUEST) if "dry_run" not in request.json]
    assert len({request.headers["Idempotency-Key"] for request in requests}) == 1
    assert vendors.calls("prospeo") == 1


def test_an_enrichment_without_a_result_shows_a_message_and_is_not_charged(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on(stranger(user))

    part(popup).get_by_role("button", name=PRICE).click()

    expect(part(popup)).to_contain_text("No provider knows this person. Nothing was charged.")
    part(popup).get_by_text("Receipt").click()
    expect(part(popup).get_by_role("row").filter(has_text="Hunter").first).to_contain_text("not found")
    expect(part(popup).locator("details.receipt")).to_contain_text("Charged: 0 credits")
    expect(popup.locator("header")).to_contain_text("100 credits")
    assert user.balance() == 100


def test_an_enrichment_that_found_no_one_while_the_popup_was_closed_is_shown_at_the_next_opening(
    user: BrowserUser,
) -> None:
    user.sign_in()
    url = stranger(user)
    popup = user.open_popup_on(url)
    with user.proxy.holding("/api/ext/jobs"):
        part(popup).get_by_role("button", name=PRICE).click()
        expect(part(popup)).to_contain_text("You can close this")
        popup.close()
    user.trigger_alarm_until(lambda: user.badge_text() == "1")

    popup = user.open_popup_on(url)

    expect(part(popup)).to_contain_text("No provider knows this person. Nothing was charged.")
    wait_until(lambda: user.badge_text() == "")
    popup.close()
    popup = user.open_popup_on(url)
    expect(part(popup).get_by_role("button")).to_have_text(PRICE)
