"""Requesting enrichment of somebody unknown, closing the popup, and finding it done by the icon's number."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from chromium_support import Person, until
from playwright.sync_api import Locator, Page, expect
from vendors_support import Vendors, prospeo_knows
from werkzeug import Request

REQUEST = "/api/ext/enrichment-request"
PRICE = "Look up everything · at most 2 credits"


@dataclass
class Prospeo:
    """Knows an address of whoever it is asked about, and may be told to take its time."""

    address: str
    may_answer: threading.Event


@pytest.fixture
def prospeo(vendors: Vendors) -> Iterator[Prospeo]:
    vendor = Prospeo(f"ada.{secrets.token_hex(4)}@northwind.dev", threading.Event())
    knows = prospeo_knows(vendor.address)

    def say(request: Request) -> tuple[int, Any]:
        vendor.may_answer.wait(30)
        return knows(request)

    vendors.says["prospeo"] = say
    yield vendor
    vendor.may_answer.set()


def stranger(person: Person) -> str:
    return person.plays_profile(f"stranger-{secrets.token_hex(4)}", "Ada Lovelace", "Engineer at Northwind")


def part(popup: Page, name: str = "Full profile") -> Locator:
    return popup.get_by_role("region", name=name, exact=True)


def driven_until(person: Person, badge: str) -> None:
    """Let the worker's alarm ring until the icon has that number."""
    until(lambda: person.ring_alarm() or person.badge() == badge, 30)


def test_the_price_of_an_enrichment_is_on_its_button_and_asking_for_it_costs_nothing(person: Person) -> None:
    person.sign_in()

    popup = person.look_at(stranger(person))

    expect(part(popup).get_by_role("button")).to_have_text(PRICE)
    [asked] = person.network.to_api(REQUEST)
    assert asked.json["dry_run"] is True
    assert person.balance() == 100
    assert person.questions() == []


def test_until_its_price_is_known_it_cannot_be_asked_for_and_then_nothing_moves(person: Person) -> None:
    person.sign_in()
    with person.network.holding(REQUEST):
        popup = person.look_at(stranger(person))
        expect(part(popup).get_by_role("button")).to_be_disabled()
        before = layout(popup)

    expect(part(popup).get_by_role("button", name=PRICE)).to_be_enabled()
    assert layout(popup) == before


def layout(popup: Page) -> list[Any]:
    """Give where everything lies that is there to be pressed."""
    script = (
        "all => all.map(one => { const {x, y, height} = one.getBoundingClientRect(); return [x, y, height] })"
    )
    return list(popup.locator("main").locator("button:visible, summary:visible").evaluate_all(script))


def test_an_enrichment_goes_on_while_the_popup_is_closed_and_its_end_is_on_the_badge(
    person: Person, vendors: Vendors, prospeo: Prospeo
) -> None:
    person.sign_in()
    url = stranger(person)
    popup = person.look_at(url)
    part(popup).get_by_role("button", name=PRICE).click()
    expect(part(popup)).to_contain_text("You can close this")
    until(lambda: vendors.calls("prospeo"))
    popup.close()
    assert person.badge() == ""
    prospeo.may_answer.set()
    driven_until(person, "1")

    popup = person.look_at(url)

    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    expect(part(popup, "E-mail").get_by_role("link")).to_have_text(prospeo.address)
    expect(popup.locator("main")).not_to_contain_text("Not known yet")
    expect(part(popup)).to_have_count(0)
    expect(popup.locator("header")).to_contain_text("99 credits")
    until(lambda: person.badge() == "")
    assert person.questions() == []
    assert person.balance() == 99
    assert vendors.calls("prospeo") == 1


def test_an_enrichment_that_is_waited_for_ends_at_the_person(person: Person, prospeo: Prospeo) -> None:
    person.sign_in()
    popup = person.look_at(stranger(person))
    part(popup).get_by_role("button", name=PRICE).click()
    expect(part(popup)).to_contain_text("Asking Prospeo")

    prospeo.may_answer.set()

    expect(part(popup, "E-mail").get_by_role("link")).to_have_text(prospeo.address)
    expect(popup.locator("header")).to_contain_text("99 credits")
    assert person.badge() == ""


@pytest.mark.own_browser
def test_an_enrichment_under_way_is_found_again_and_not_asked_twice(
    person: Person, vendors: Vendors, prospeo: Prospeo
) -> None:
    person.sign_in()
    url = stranger(person)
    popup = person.look_at(url)
    part(popup).get_by_role("button", name=PRICE).click()
    until(lambda: vendors.calls("prospeo"))
    popup.close()
    person.stop_worker(person.tabs()[0])

    popup = person.look_at(url)

    expect(part(popup).get_by_role("status")).to_contain_text("Prospeo")
    expect(part(popup).get_by_role("button")).to_have_count(0)
    prospeo.may_answer.set()
    expect(part(popup, "E-mail").get_by_role("link")).to_have_text(prospeo.address)
    asked = [sent for sent in person.network.to_api(REQUEST) if "dry_run" not in sent.json]
    assert len({sent.headers["Idempotency-Key"] for sent in asked}) == 1
    assert vendors.calls("prospeo") == 1


def test_an_enrichment_that_finds_nobody_says_so_and_costs_nothing(person: Person) -> None:
    person.sign_in()
    popup = person.look_at(stranger(person))

    part(popup).get_by_role("button", name=PRICE).click()

    expect(part(popup)).to_contain_text("Nobody knows this person. Nothing was charged.")
    part(popup).get_by_text("Receipt").click()
    expect(part(popup).get_by_role("row").filter(has_text="Hunter").first).to_contain_text("does not know")
    expect(part(popup).locator("details")).to_contain_text("Charged: 0 credits")
    expect(popup.locator("header")).to_contain_text("100 credits")
    assert person.balance() == 100


def test_that_nobody_was_found_while_the_popup_was_closed_is_said_at_the_next_opening(person: Person) -> None:
    person.sign_in()
    url = stranger(person)
    popup = person.look_at(url)
    with person.network.holding("/api/ext/jobs"):
        part(popup).get_by_role("button", name=PRICE).click()
        expect(part(popup)).to_contain_text("You can close this")
        popup.close()
    driven_until(person, "1")

    popup = person.look_at(url)

    expect(part(popup)).to_contain_text("Nobody knows this person. Nothing was charged.")
    until(lambda: person.badge() == "")
    popup.close()
    popup = person.look_at(url)
    expect(part(popup).get_by_role("button")).to_have_text(PRICE)
