"""While a reveal is under way: who was asked, who is being asked, and at the end the receipt."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from chromium_support import Person, pressed, until
from people_support import company_of_three
from playwright.sync_api import Locator, Page, expect
from vendors_support import Vendors, prospeo_knows
from werkzeug import Request

POLL = "/api/ext/jobs"


@pytest.fixture
def prospeo_may_answer(vendors: Vendors) -> Iterator[threading.Event]:
    """Let Prospeo know the address of whoever is asked about, and keep it to itself until told."""
    event = threading.Event()
    knows = prospeo_knows(f"ada.{secrets.token_hex(4)}@northwind.dev")

    def say(request: Request) -> tuple[int, Any]:
        event.wait(30)
        return knows(request)

    vendors.says["prospeo"] = say
    yield event
    event.set()


def stranger(person: Person) -> str:
    return person.plays_profile(f"stranger-{secrets.token_hex(4)}", "Ada Lovelace", "Engineer at Northwind")


def asked_and_closed(person: Person) -> str:
    """Ask for a stranger's address and close the popup while Prospeo is being asked; give the profile."""
    person.sign_in()
    url = stranger(person)
    popup = person.look_at(url)
    email_of(popup).get_by_role("button", name="Find e-mail").click()
    expect(email_of(popup)).to_contain_text("Asking Prospeo")
    popup.close()
    return url


def email_of(popup: Page) -> Locator:
    return popup.get_by_role("region", name="E-mail", exact=True)


def test_a_reveal_says_who_was_asked_and_who_is_being_asked_and_ends_with_the_receipt(
    person: Person, prospeo_may_answer: threading.Event
) -> None:
    person.sign_in()
    popup = person.look_at(stranger(person))
    email = email_of(popup)

    email.get_by_role("button", name="Find e-mail").click()

    expect(email.get_by_role("status")).to_have_text("Asked Hunter. Asking Prospeo…")
    expect(email).to_contain_text("You can close this")
    expect(email.get_by_role("button")).to_have_count(0)
    prospeo_may_answer.set()
    expect(email.get_by_role("link")).to_contain_text("@northwind.dev")
    expect(popup.locator("header")).to_contain_text("99 credits")
    expect(popup.get_by_text("Not known yet")).to_have_count(0)
    email.get_by_text("Receipt").click()
    rows = email.get_by_role("row")
    expect(rows.filter(has_text="Hunter")).to_contain_text("does not know")
    expect(rows.filter(has_text="Prospeo")).to_contain_text("found")
    expect(rows.filter(has_text="Prospeo").get_by_role("cell").last).to_contain_text(" s")
    expect(email.locator("details")).to_contain_text("Charged: 1 credit")
    expect(email.locator("details")).to_contain_text("From Prospeo, last seen")


def test_the_progress_is_shown_again_after_the_popup_was_closed_and_then_the_answer(
    person: Person, vendors: Vendors, prospeo_may_answer: threading.Event
) -> None:
    url = asked_and_closed(person)

    popup = person.look_at(url)

    expect(email_of(popup).get_by_role("status")).to_have_text("Asked Hunter. Asking Prospeo…")
    prospeo_may_answer.set()
    expect(email_of(popup).get_by_role("link")).to_contain_text("@northwind.dev")
    assert vendors.calls("prospeo") == 1
    assert person.balance() == 99


def test_a_question_under_way_elsewhere_is_opened_although_there_is_news_of_it_meanwhile(
    person: Person, prospeo_may_answer: threading.Event
) -> None:
    asked_and_closed(person)
    popup = person.look_at("http://www.acme.test/")
    asked = popup.get_by_role("region", name="Asked elsewhere").get_by_role("button")
    expect(asked).to_contain_text("under way")

    [question] = person.questions()
    polls = len(person.network.to_api(POLL))
    with pressed(popup, asked):
        person.store("local", **{f"question:{question['key']}": question | {"failures": 1}})
        until(lambda: len(person.network.to_api(POLL)) > polls + 1)

    expect(email_of(popup)).to_contain_text("Asking Prospeo")
    prospeo_may_answer.set()
    expect(email_of(popup).get_by_role("link")).to_contain_text("@northwind.dev")


def test_an_answer_that_came_while_the_popup_was_closed_is_on_the_badge_until_it_is_seen(
    person: Person, prospeo_may_answer: threading.Event
) -> None:
    url = asked_and_closed(person)
    prospeo_may_answer.set()
    until(lambda: person.ring_alarm() or person.badge() == "1", 30)

    popup = person.look_at(url)

    email = email_of(popup)
    expect(email.get_by_role("link")).to_contain_text("@northwind.dev")
    expect(email.locator("details")).to_contain_text("Charged: 1 credit")
    until(lambda: person.badge() == "")
    assert person.balance() == 99


def test_address_and_number_are_asked_for_at_once_and_each_shows_its_own_answer(
    person: Person, prospeo_may_answer: threading.Event
) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(person.plays_profile(company.profiles["Cleo"].rpartition("/")[2], "Cleo Clarke"))
    phone = popup.get_by_role("region", name="Phone", exact=True)
    email_of(popup).get_by_role("button", name="Find e-mail").click()
    expect(email_of(popup)).to_contain_text("Asking Prospeo")

    phone.get_by_role("button", name="Find phone").click()

    expect(phone).to_contain_text("Nothing found. Nothing was charged.")
    expect(email_of(popup)).to_contain_text("Asking Prospeo")
    prospeo_may_answer.set()
    expect(email_of(popup).get_by_role("link")).to_be_visible()
    expect(phone).to_contain_text("Nothing found. Nothing was charged.")
