"""The search by name alone, and the marks of owned people in every list."""

from __future__ import annotations

from typing import Any

import pytest
from chromium_support import BrowserUser
from company_support import Company, add_employees, create_company
from e2e_stack import Stack
from playwright.sync_api import Locator, Page, expect
from vendors_support import NO_MATCH, FakeVendors
from werkzeug import Request

from app.domain.findings import FoundContact, Source, SourceKind
from app.engine.contacts import contacts
from app.infra import clock

LOOKUP = "/api/ext/lookup"


@pytest.fixture
def company(stack: Stack) -> Company:
    return create_company(stack)


def heading(popup: Page) -> Locator:
    return popup.get_by_role("heading", level=1)


def search(popup: Page, text: str) -> None:
    popup.get_by_role("searchbox", name="Find a person").fill(text)
    popup.keyboard.press("Enter")


def row(popup: Page, name: str) -> Locator:
    return popup.locator("li").filter(has_text=name)


def nameless(stack: Stack, url: str) -> None:
    """Store a contact without a name."""
    now = clock.now()
    source = Source("profiles.csv", SourceKind.IMPORT, now)
    with stack.database.transaction() as session:
        contacts.upsert(session, FoundContact(source=source, linkedin_url=url, title="Baker"), now=now)


def reveal_ada(popup: Page) -> None:
    row(popup, "Ada Lovelace").get_by_role("button").click()
    popup.get_by_role("button", name="Reveal e-mail").click()
    expect(popup.get_by_text("Receipt")).to_be_visible()
    popup.get_by_role("button", name="Back").click()
    expect(row(popup, "Ada Lovelace")).to_be_visible()


def test_a_name_alone_finds_a_listed_person_of_the_company_on_the_page(
    user: BrowserUser, company: Company
) -> None:
    add_employees(user.stack, company, "Zoë Ångström", "Adalbert Stifter")
    user.sign_in()
    popup = user.open_popup_on(company.website)
    expect(popup.locator("li")).to_have_count(5)

    for typed, found in (
        ("Ada Lovelace", "Ada Lovelace"),
        (" bob ", "Bob Babbage"),
        ("zoe angstrom", "Zoë Ångström"),
        ("Clarke", "Cleo Clarke"),
    ):
        search(popup, typed)
        expect(heading(popup)).to_have_text(found)
        popup.get_by_role("button", name="Back").click()
        expect(popup.locator("li")).to_have_count(5)
    search(popup, "ada")
    expect(heading(popup)).to_have_text("Which person do you mean?")
    expect(popup.locator("li strong")).to_have_text(["Ada Lovelace", "Adalbert Stifter"])


def test_an_unlisted_full_name_is_looked_up_at_the_company_and_a_single_name_is_not(
    user: BrowserUser, company: Company
) -> None:
    user.sign_in()
    popup = user.open_popup_on(company.website)
    expect(popup.locator("li")).to_have_count(3)

    search(popup, "Nora Nobody")
    expect(heading(popup)).to_have_text("Nora Nobody")
    expect(popup.get_by_role("button", name="Find e-mail")).to_be_visible()
    popup.get_by_role("button", name="Back").click()
    expect(popup.locator("li")).to_have_count(3)
    search(popup, "Nora")
    expect(heading(popup)).to_have_text(f"No one named Nora is listed at {company.domain}")

    [request] = user.proxy.api_requests(LOOKUP)
    assert request.json == {"subject": {"full_name": "Nora Nobody", "company_domain": company.domain}}


def test_on_an_unknown_website_a_name_is_looked_up_at_that_website(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on("http://www.nobody-knows-this.test/")
    expect(heading(popup)).to_contain_text("No company is known")

    search(popup, "Nora Nobody")

    expect(heading(popup)).to_have_text("Nora Nobody")
    [request] = user.proxy.api_requests(LOOKUP)
    assert request.json == {
        "subject": {"full_name": "Nora Nobody", "company_domain": "www.nobody-knows-this.test"}
    }


def test_an_owned_person_is_marked_among_the_people_of_a_company(user: BrowserUser, company: Company) -> None:
    user.sign_in()
    popup = user.open_popup_on(company.website)
    expect(row(popup, "Ada Lovelace").locator(".owned")).to_have_count(0)

    reveal_ada(popup)

    expect(row(popup, "Ada Lovelace").locator(".owned")).to_have_text("E-mail revealed")
    expect(row(popup, "Ada Lovelace").locator(".status-icon:not(.owned)")).to_have_text("Phone known")
    expect(row(popup, "Bob Babbage").locator(".owned")).to_have_count(0)


def test_an_owned_person_is_marked_among_people_of_the_same_name(user: BrowserUser, company: Company) -> None:
    add_employees(user.stack, company, "Ada Lovelace", title="Cook")
    user.sign_in()
    popup = user.open_popup_on(company.website)
    row(popup, "Chief Engineer").get_by_role("button").click()
    popup.get_by_role("button", name="Reveal e-mail").click()
    expect(popup.get_by_text("Receipt")).to_be_visible()
    popup.get_by_role("button", name="Back").click()

    search(popup, f"Ada Lovelace, {company.domain}")

    expect(heading(popup)).to_have_text("Which person do you mean?")
    expect(row(popup, "Chief Engineer").locator(".owned")).to_have_text("E-mail revealed")
    expect(row(popup, "Cook").locator(".owned")).to_have_count(0)


def test_the_history_shows_person_charge_and_requester_and_copies_values(
    user: BrowserUser, company: Company
) -> None:
    user.sign_in()
    popup = user.open_popup_on(company.website)
    reveal_ada(popup)
    popup.close()
    popup = user.open_popup_on(user.serve_profile("nobody-knows-him", "Egon Unseen", "Baker"))
    popup.get_by_role("button", name="Find e-mail").click()
    expect(popup.locator("main")).to_contain_text("Nothing found")

    popup.get_by_role("button", name="History").click()

    expect(row(popup, "Ada Lovelace")).to_contain_text("E-mail found · 1 credit · you")
    expect(row(popup, "Ada Lovelace").locator(".owned")).to_have_count(1)
    expect(row(popup, "Egon Unseen")).to_contain_text("E-mail not found · free · you")
    expect(row(popup, "Egon Unseen").get_by_role("button", name="Copy")).to_have_count(0)
    row(popup, "Ada Lovelace").get_by_role("button", name=f"Copy {company.emails['Ada']}").click()
    expect(popup.get_by_role("button", name="Copied")).to_be_visible()
    row(popup, "Egon Unseen").locator(".row").click()
    popup.get_by_role("button", name="Open profile").click()
    expect(heading(popup)).to_have_text("Egon Unseen")


def test_the_name_on_the_profile_page_is_shown_and_sent_to_the_providers(
    user: BrowserUser, stack: Stack, vendors: FakeVendors
) -> None:
    received: list[str] = []

    def record(request: Request) -> tuple[int, Any]:
        received.append(request.get_data(as_text=True))
        return NO_MATCH

    vendors.responders["prospeo"] = record
    url = user.serve_profile("nameless-but-shown", "Nell Nameless", "Baker")
    nameless(stack, url.rstrip("/"))
    user.sign_in()

    popup = user.open_popup_on(url)

    expect(heading(popup)).to_have_text("Nell Nameless")
    expect(popup.get_by_text("Name unknown")).to_have_count(0)
    popup.get_by_role("button", name="Find e-mail").click()
    expect(popup.locator("main")).to_contain_text("Nothing found")
    [request] = user.proxy.api_requests("/api/ext/reveal/email")
    assert request.json["subject"]["full_name"] == "Nell Nameless"
    assert request.json["subject"]["contact_id"].startswith("con_")
    assert "Nell Nameless" in received[0]


def test_one_button_of_a_person_is_highlighted(user: BrowserUser, company: Company) -> None:
    user.sign_in()
    popup = user.open_popup_on(company.website)
    row(popup, "Ada Lovelace").get_by_role("button").click()
    expect(popup.get_by_role("button", name="Reveal phone")).to_be_visible()

    assert standing_out(popup) == ["Reveal e-mail · 1 credit"]
    popup.get_by_role("button", name="Reveal e-mail").click()
    expect(popup.get_by_text("Receipt")).to_be_visible()
    assert standing_out(popup) == ["Reveal phone · 1 credit"]


def standing_out(popup: Page) -> list[str]:
    """Return the highlighted buttons: those with the accent colour of the sign-in button."""
    names: list[str] = popup.evaluate("""() => {
      const probe = document.body.appendChild(document.createElement("button"));
      probe.className = "primary";
      const accent = getComputedStyle(probe).backgroundColor;
      probe.remove();
      const all = [...document.querySelectorAll("button")].filter((element) => element.checkVisibility());
      const highlighted = all.filter((element) => getComputedStyle(element).backgroundColor === accent);
      return highlighted.map((element) => element.textContent);
    }""")
    return names
