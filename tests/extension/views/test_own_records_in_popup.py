"""The lines above the prices that say what the workspace's CRMs and address books have of the person."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import count
from typing import Any

import pytest
from address_book_support import a_book
from chromium_support import BrowserUser
from company_support import Company, create_company
from crm_index_support import a_crm, in_crm
from playwright.sync_api import Locator, Page, expect
from polling import wait_until

from app.features.crm.index.crm_people import RecordKind
from app.infra import clock

NUMBER = "+447400123456"
STRANGER = "https://www.linkedin.com/in/a-stranger-of-the-crm"
LINES = """async (result) => {
  const { ownRecords } = await import("/views/own_records.js");
  return ownRecords(result).map((line) => line.outerHTML).join("");
}"""


@pytest.fixture
def company(user: BrowserUser) -> Company:
    user.sign_in()
    return create_company(user.stack)


def store(user: BrowserUser, *people: dict[str, Any]) -> None:
    with user.stack.database.transaction() as session:
        in_crm(session, a_crm(session, user.workspace), *people)
    wait_until_shown(user, "crm", people)


def popup_of_ada(user: BrowserUser, company: Company) -> Page:
    return user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))


def line(popup: Page, place: str = "In HubSpot") -> Locator:
    return popup.get_by_role("region", name=place, exact=True)


def store_in_book(user: BrowserUser, *entries: dict[str, Any], title: str = "Contacts") -> None:
    with user.stack.database.transaction() as session:
        a_book(session, user.workspace, *entries, title=title)
    wait_until_shown(user, "address_books", entries)


def wait_until_shown(user: BrowserUser, field: str, people: Sequence[dict[str, Any]]) -> None:
    """Wait for the server: it remembers for a few seconds that no workspace has a system of its own."""
    body = {"subject": {"linkedin_url": people[0]["profiles"][0]}}
    lookup = partial(user.stack.call, "POST", "/api/ext/lookup", body, Authorization=user.token)
    wait_until(lambda: lookup().body[field])


def test_a_person_in_the_crm_is_shown_before_the_price_with_a_link_to_the_record(
    user: BrowserUser, company: Company
) -> None:
    ada = {"profiles": [company.profiles["Ada"]], "emails": ["a@b.example"], "owner": "Kim <b>Lee</b>"}
    store(user, ada | {"company": company.name})

    popup = popup_of_ada(user, company)

    expect(line(popup)).to_have_text("In HubSpot · owner Kim <b>Lee</b> · Opena@b.example")
    shown = popup.locator("section").evaluate_all("all => all.map((one) => one.className)")
    assert shown.index("own-records") < shown.index("card email")
    link = line(popup).get_by_role("link", name="Open in HubSpot")
    expect(link).to_have_attribute("href", "https://app.hubspot.com/contacts/4242/record/0-1/1")
    expect(link).to_have_attribute("target", "_blank")


def test_several_records_are_counted_and_each_can_be_opened(user: BrowserUser, company: Company) -> None:
    ada = {"profiles": [company.profiles["Ada"]], "company": company.name}
    store(user, ada | {"owner": "Kim Lee"}, ada | {"phones": ["+442079460999"], "kind": RecordKind.LEAD})

    popup = popup_of_ada(user, company)

    expect(line(popup)).to_contain_text("In HubSpot · 2 records")
    expect(line(popup).get_by_role("listitem")).to_have_text(
        ["contact · owner Kim Lee · Open", "lead · Open+442079460999"]
    )


@pytest.mark.parametrize("is_side", [False, True])
def test_an_entry_of_an_address_book_is_shown_before_the_price_with_values_to_copy(
    user: BrowserUser, company: Company, *, is_side: bool
) -> None:
    ada = {"profiles": [company.profiles["Ada"]], "emails": ["ada@b.example"], "phones": [NUMBER]}
    store_in_book(user, ada, title="Fair <b>2026</b>")
    popup = user.open_panel(side=True) if is_side else popup_of_ada(user, company)
    if is_side:
        popup.get_by_role("searchbox").fill(company.profiles["Ada"])
        popup.get_by_role("searchbox").press("Enter")

    book = line(popup, "In your address book Fair <b>2026</b>")
    expect(book).to_have_text(f"In your address book Fair <b>2026</b>ada@b.example{NUMBER}")
    shown = popup.locator("section").evaluate_all("all => all.map((one) => one.className)")
    assert shown.index("own-records") < shown.index("card email")
    links = book.get_by_role("link").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    assert links == ["mailto:ada@b.example", f"tel:{NUMBER}"]

    popup.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    book.get_by_role("button", name=f"Copy {NUMBER}").click()

    expect(book.get_by_role("button", name="Copied")).to_be_visible()
    assert popup.evaluate("window.copied") == NUMBER


def test_a_person_in_the_crm_and_in_two_address_books_has_a_line_for_each(
    user: BrowserUser, company: Company
) -> None:
    ada = {"profiles": [company.profiles["Ada"]]}
    store(user, ada)
    store_in_book(user, ada | {"phones": [NUMBER]}, ada | {"name": "A. Lovelace"}, title="Phone")
    store_in_book(user, ada, title="Outlook")

    popup = popup_of_ada(user, company)

    expect(line(popup)).to_be_visible()
    expect(line(popup, "In your address book Outlook")).to_have_text("In your address book Outlook")
    several = line(popup, "In your address book Phone")
    expect(several).to_contain_text("In your address book Phone · 2 records")
    expect(several.get_by_role("listitem")).to_have_count(2)
    expect(several.get_by_role("listitem").filter(has_text=NUMBER)).to_have_text(f"entry{NUMBER}")


def test_a_number_of_the_crm_is_free_and_can_be_bought_all_the_same(
    user: BrowserUser, company: Company
) -> None:
    fresh = {"phones": [NUMBER], "changed_at": clock.now()}
    store(user, fresh | {"profiles": [company.profiles["Ada"]]}, fresh | {"profiles": [STRANGER]})
    attempts = count(1)
    wait_until(lambda: "source" in str(reveal_stranger(user, next(attempts))))  # workers look now and then
    phone = popup_of_ada(user, company).get_by_role("region", name="Phone", exact=True)

    phone.get_by_role("button", name="Reveal phone").click()
    expect(phone.get_by_role("link")).to_have_attribute("href", f"tel:{NUMBER}")
    phone.get_by_text("Receipt").click()
    expect(phone.locator("details.receipt")).to_contain_text("Charged: 0 credits")
    expect(phone.locator("details.receipt")).to_contain_text("From Hubspot, last seen")
    before = user.balance()
    phone.get_by_role("button", name="Buy all the same").click()

    expect(phone.get_by_role("link")).not_to_have_attribute("href", f"tel:{NUMBER}")
    assert user.balance() < before


def test_a_number_of_an_address_book_is_free_and_can_be_bought_all_the_same(
    user: BrowserUser, company: Company
) -> None:
    fresh = {"phones": [NUMBER], "changed_at": clock.now()}
    store_in_book(user, fresh | {"profiles": [company.profiles["Ada"]]}, fresh | {"profiles": [STRANGER]})
    attempts = count(1)
    wait_until(lambda: "source" in str(reveal_stranger(user, next(attempts))))
    phone = popup_of_ada(user, company).get_by_role("region", name="Phone", exact=True)

    phone.get_by_role("button", name="Reveal phone").click()
    expect(phone.get_by_role("link")).to_have_attribute("href", f"tel:{NUMBER}")
    phone.get_by_text("Receipt").click()
    expect(phone.locator("details.receipt")).to_contain_text("Charged: 0 credits")
    expect(phone.get_by_role("cell", name="Address book")).to_be_visible()
    expect(phone.locator("details.receipt")).to_contain_text("From Address book, last seen")
    before = user.balance()
    phone.get_by_role("button", name="Buy all the same").click()

    expect(phone.get_by_role("link")).not_to_have_attribute("href", f"tel:{NUMBER}")
    assert user.balance() < before


def reveal_stranger(user: BrowserUser, attempt: int) -> Any:
    """Ask for the number of a person whom only the CRM has; return the receipt of a request of its own."""
    body = {"subject": {"linkedin_url": STRANGER}, "max_age_days": attempt}
    return user.stack.call("POST", "/api/ext/reveal/phone", body, Authorization=user.token).body["trace"]


def test_a_record_at_another_company_is_out_of_date(user: BrowserUser, company: Company) -> None:
    store(user, {"profiles": [company.profiles["Ada"]], "company": "Babbage & Co"})

    popup = popup_of_ada(user, company)

    expect(line(popup)).to_contain_text("Out of date in HubSpot: another company")


def test_a_person_whom_only_an_address_book_has_is_not_called_unknown(user: BrowserUser) -> None:
    user.sign_in()
    store_in_book(user, {"profiles": [STRANGER], "phones": [NUMBER]})

    popup = user.open_popup_on(user.serve_profile(STRANGER.rpartition("/")[2], "Zoe Stranger"))

    expect(line(popup, "In your address book Contacts")).to_be_visible()
    expect(popup.get_by_role("heading", name="Zoe Stranger")).to_be_visible()
    expect(popup.get_by_text("Not known yet")).to_have_count(0)
    expect(popup.get_by_text("Your team has no data about this person")).to_have_count(0)


def test_a_person_who_is_not_in_the_crm_has_no_line(user: BrowserUser, company: Company) -> None:
    store(user, {"profiles": [company.profiles["Bob"]]})

    popup = popup_of_ada(user, company)

    expect(popup.get_by_role("button", name="Reveal e-mail")).to_be_visible()
    expect(line(popup)).to_have_count(0)


def test_the_list_of_a_companys_people_marks_those_in_the_crm(user: BrowserUser, company: Company) -> None:
    store(user, {"profiles": [company.profiles["Ada"]]}, {"name": "Bob Babbage", "domain": company.domain})

    popup = user.open_popup_on(company.website)

    for name, is_in_crm in (("Ada Lovelace", True), ("Bob Babbage", True), ("Cleo Clarke", False)):
        row = popup.get_by_role("button", name=name)
        expect(row).to_be_visible()
        expect(row.get_by_title("In HubSpot")).to_have_count(int(is_in_crm))


def test_the_list_of_a_companys_people_marks_those_in_an_address_book(
    user: BrowserUser, company: Company
) -> None:
    store_in_book(user, {"profiles": [company.profiles["Ada"]]}, title="Phone")

    popup = user.open_popup_on(company.website)

    for name, is_in_book in (("Ada Lovelace", True), ("Bob Babbage", False)):
        row = popup.get_by_role("button", name=name)
        expect(row).to_be_visible()
        expect(row.get_by_title("In your address book Phone")).to_have_count(int(is_in_book))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "http://crm.example/1", "no URL", None])
def test_a_record_whose_address_is_not_https_has_no_link(user: BrowserUser, url: str | None) -> None:
    record = {"vendor": "acme", "vendor_title": "Acme <CRM>", "kind": "contact", "owner": None, "url": url}
    panel = user.open_panel()

    html = panel.evaluate(LINES, {"crm": [record | {"emails": [], "phones": [], "is_outdated": False}]})

    assert "In Acme &lt;CRM&gt;" in html
    assert "<a" not in html
    assert "Open" not in html


def test_an_older_server_returns_no_records(user: BrowserUser) -> None:
    assert user.open_panel().evaluate(LINES, {}) == ""
