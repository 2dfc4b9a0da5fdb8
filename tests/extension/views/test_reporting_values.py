"""The menu that reports a revealed value, and what it says came of it."""

from __future__ import annotations

from chromium_support import BrowserUser
from company_support import create_company
from playwright.sync_api import Locator, Page, expect


def part(popup: Page, name: str) -> Locator:
    return popup.get_by_role("region", name=name, exact=True)


def reveal(user: BrowserUser) -> Page:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))
    part(popup, "E-mail").get_by_role("button", name="Reveal e-mail").click()
    part(popup, "Phone").get_by_role("button", name="Reveal phone").click()
    expect(part(popup, "E-mail").get_by_role("link")).to_be_visible()
    expect(part(popup, "Phone").get_by_role("link")).to_be_visible()
    return popup


def test_a_bounce_is_reported_where_the_address_is_shown(user: BrowserUser) -> None:
    popup = reveal(user)
    email = part(popup, "E-mail")

    email.get_by_text("Report…").click()
    email.get_by_role("button", name="Bounced").click()

    expect(email).to_contain_text("Reported.")
    expect(email.get_by_role("button", name="Bounced")).to_have_count(0)
    assert len(user.proxy.api_requests("/api/feedback")) == 1


def test_a_wrong_number_is_reported_and_not_refunded(user: BrowserUser) -> None:
    popup = reveal(user)
    phone = part(popup, "Phone")

    phone.get_by_text("Report…").click()
    phone.get_by_role("button", name="Wrong number").click()

    expect(phone).to_contain_text("Reported. Nothing is refunded: only addresses that bounce are.")
    assert user.balance() == 98


def open_from_history(popup: Page, row: int) -> Locator:
    """Open a job of the history; return what it shows."""
    popup.get_by_role("button", name="History").click()
    popup.locator(".row").nth(row).click()
    shown = popup.locator("main section.card")
    expect(shown.locator("details.receipt")).to_be_visible()
    return shown


def test_values_are_reported_from_the_history_and_marked_from_then_on(user: BrowserUser) -> None:
    popup = reveal(user)

    phone = open_from_history(popup, 0)
    phone.get_by_text("Report…").click()
    phone.get_by_role("button", name="Wrong number").click()
    expect(phone).to_contain_text("Reported. Nothing is refunded: only addresses that bounce are.")
    expect(phone.locator(".badge.bad")).to_contain_text("Reported: Wrong number · ")
    popup.get_by_role("button", name="Back").click()
    email = open_from_history(popup, 1)
    email.get_by_text("Report…").click()
    email.get_by_role("button", name="Has left the company").click()
    expect(email.locator(".badge.bad")).to_contain_text("Reported: Has left the company · ")

    popup.get_by_role("button", name="Back").click()
    again = open_from_history(popup, 0)
    expect(again.locator(".badge.bad")).to_contain_text("Reported: Wrong number · ")
    expect(again.get_by_text("Report…")).to_have_count(0)
    again.get_by_role("button", name="Open profile").click()
    expect(part(popup, "Phone").locator(".badge.bad")).to_contain_text("Reported: Wrong number · ")
    expect(part(popup, "E-mail").locator(".badge.bad")).to_contain_text("Reported: Has left the company · ")
    expect(popup.get_by_text("Report…")).to_have_count(0)
