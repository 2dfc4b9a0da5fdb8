"""The line above the prices that says that the person is in the workspace's CRM already."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from chromium_support import BrowserUser
from company_support import Company, create_company
from crm_index_support import a_crm, in_crm
from playwright.sync_api import Locator, Page, expect
from polling import wait_until

from app.features.crm.index.crm_people import RecordKind
from app.infra import clock

NUMBER = "+447400123456"
STRANGER = "https://www.linkedin.com/in/a-stranger-of-the-crm"
LINES = """async (records) => {
  const { crmRecords } = await import("/views/crm_records.js");
  return crmRecords(records ?? undefined).map((line) => line.outerHTML).join("");
}"""


@pytest.fixture
def company(user: BrowserUser) -> Company:
    user.sign_in()
    return create_company(user.stack)


def store(user: BrowserUser, *people: dict[str, Any]) -> None:
    with user.stack.database.transaction() as session:
        in_crm(session, a_crm(session, user.workspace), *people)


def popup_of_ada(user: BrowserUser, company: Company) -> Page:
    return user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))


def line(popup: Page) -> Locator:
    return popup.get_by_role("region", name="In HubSpot")


def test_a_person_in_the_crm_is_shown_before_the_price_with_a_link_to_the_record(
    user: BrowserUser, company: Company
) -> None:
    ada = {"profiles": [company.profiles["Ada"]], "emails": ["a@b.example"], "owner": "Kim <b>Lee</b>"}
    store(user, ada | {"company": company.name})

    popup = popup_of_ada(user, company)

    expect(line(popup)).to_have_text("In HubSpot · owner Kim <b>Lee</b> · has e-mail · Open")
    shown = popup.locator("section").evaluate_all("all => all.map((one) => one.className)")
    assert shown.index("crm-records") < shown.index("card email")
    link = line(popup).get_by_role("link", name="Open in HubSpot")
    expect(link).to_have_attribute("href", "https://app.hubspot.com/contacts/4242/record/0-1/1")
    expect(link).to_have_attribute("target", "_blank")


def test_several_records_are_counted_and_each_can_be_opened(user: BrowserUser, company: Company) -> None:
    ada = {"profiles": [company.profiles["Ada"]], "company": company.name}
    store(user, ada | {"owner": "Kim Lee"}, ada | {"phones": ["+442079460999"], "kind": RecordKind.LEAD})

    popup = popup_of_ada(user, company)

    expect(line(popup)).to_contain_text("2 records in HubSpot")
    expect(line(popup).get_by_role("listitem")).to_have_text(
        ["contact · owner Kim Lee · Open", "lead · has phone · Open"]
    )


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
    expect(phone.locator("details")).to_contain_text("Charged: 0 credits")
    expect(phone.locator("details")).to_contain_text("From Hubspot, last seen")
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


@pytest.mark.parametrize("url", ["javascript:alert(1)", "http://crm.example/1", "no URL", None])
def test_a_record_whose_address_is_not_https_has_no_link(user: BrowserUser, url: str | None) -> None:
    record = {"vendor": "acme", "vendor_title": "Acme <CRM>", "kind": "contact", "owner": None, "url": url}
    panel = user.open_panel()

    html = panel.evaluate(LINES, [record | {"has": ["email", "phone"], "is_outdated": False}])

    assert "In Acme &lt;CRM&gt;" in html
    assert "has e-mail and phone" in html
    assert "<a" not in html
    assert "Open" not in html


def test_an_older_server_returns_no_records(user: BrowserUser) -> None:
    assert user.open_panel().evaluate(LINES) == ""
