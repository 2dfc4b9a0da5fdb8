"""A name alone finds people of the company that is shown; what is owned looks owned in every list."""

from __future__ import annotations

from typing import Any

import pytest
from chromium_support import Person
from e2e_stack import Stack
from people_support import Company, company_of_three, employ
from playwright.sync_api import Locator, Page, expect
from vendors_support import NO_MATCH, Vendors
from werkzeug import Request

from app.core.contacts import contacts
from app.domain.findings import FoundContact, Source, SourceKind
from app.infra import clock

LOOKUP = "/api/ext/lookup"


@pytest.fixture
def company(stack: Stack) -> Company:
    return company_of_three(stack)


def heading(popup: Page) -> Locator:
    return popup.get_by_role("heading", level=1)


def search(popup: Page, text: str) -> None:
    popup.get_by_role("searchbox", name="Find a person").fill(text)
    popup.keyboard.press("Enter")


def row(popup: Page, name: str) -> Locator:
    return popup.locator("li").filter(has_text=name)


def nameless(stack: Stack, url: str) -> None:
    """Store a profile of which nobody has said the name."""
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


def test_a_name_alone_finds_the_listed_person_of_the_company_that_is_shown(
    person: Person, company: Company
) -> None:
    employ(person.stack, company, "Zoë Ångström", "Adalbert Stifter")
    person.sign_in()
    popup = person.look_at(company.website)
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
    expect(heading(popup)).to_have_text("Which of these?")
    expect(popup.locator("li strong")).to_have_text(["Ada Lovelace", "Adalbert Stifter"])


def test_a_name_that_is_not_listed_is_looked_up_at_the_company_and_half_a_name_is_not(
    person: Person, company: Company
) -> None:
    person.sign_in()
    popup = person.look_at(company.website)
    expect(popup.locator("li")).to_have_count(3)

    search(popup, "Nora Nobody")
    expect(heading(popup)).to_have_text("Nora Nobody")
    expect(popup.get_by_role("button", name="Find e-mail")).to_be_visible()
    popup.get_by_role("button", name="Back").click()
    expect(popup.locator("li")).to_have_count(3)
    search(popup, "Nora")
    expect(heading(popup)).to_have_text(f"Nobody called Nora is listed at {company.domain}")

    [asked] = person.network.to_api(LOOKUP)
    assert asked.json == {"subject": {"full_name": "Nora Nobody", "company_domain": company.domain}}


def test_on_an_unknown_website_a_name_is_looked_up_at_that_website(person: Person) -> None:
    person.sign_in()
    popup = person.look_at("http://www.nobody-knows-this.test/")
    expect(heading(popup)).to_contain_text("No company is known")

    search(popup, "Nora Nobody")

    expect(heading(popup)).to_have_text("Nora Nobody")
    [asked] = person.network.to_api(LOOKUP)
    assert asked.json == {
        "subject": {"full_name": "Nora Nobody", "company_domain": "www.nobody-knows-this.test"}
    }


def test_who_is_owned_looks_owned_among_the_people_of_a_company(person: Person, company: Company) -> None:
    person.sign_in()
    popup = person.look_at(company.website)
    expect(row(popup, "Ada Lovelace").locator(".owned")).to_have_count(0)

    reveal_ada(popup)

    expect(row(popup, "Ada Lovelace").locator(".owned")).to_have_text("E-mail revealed")
    expect(row(popup, "Ada Lovelace").locator(".mark:not(.owned)")).to_have_text("Phone known")
    expect(row(popup, "Bob Babbage").locator(".owned")).to_have_count(0)


def test_who_is_owned_looks_owned_among_people_of_the_same_name(person: Person, company: Company) -> None:
    employ(person.stack, company, "Ada Lovelace", title="Cook")
    person.sign_in()
    popup = person.look_at(company.website)
    row(popup, "Chief Engineer").get_by_role("button").click()
    popup.get_by_role("button", name="Reveal e-mail").click()
    expect(popup.get_by_text("Receipt")).to_be_visible()
    popup.get_by_role("button", name="Back").click()

    search(popup, f"Ada Lovelace, {company.domain}")

    expect(heading(popup)).to_have_text("Which of these?")
    expect(row(popup, "Chief Engineer").locator(".owned")).to_have_text("E-mail revealed")
    expect(row(popup, "Cook").locator(".owned")).to_have_count(0)


def test_the_history_says_whom_what_it_cost_and_who_asked_and_copies(
    person: Person, company: Company
) -> None:
    person.sign_in()
    popup = person.look_at(company.website)
    reveal_ada(popup)
    popup.close()
    popup = person.look_at(person.plays_profile("nobody-knows-him", "Egon Unknown", "Baker"))
    popup.get_by_role("button", name="Find e-mail").click()
    expect(popup.locator("main")).to_contain_text("Nothing found")

    popup.get_by_role("button", name="History").click()

    expect(row(popup, "Ada Lovelace")).to_contain_text("E-mail found · 1 credit · you")
    expect(row(popup, "Ada Lovelace").locator(".owned")).to_have_count(1)
    expect(row(popup, "Egon Unknown")).to_contain_text("E-mail not found · free · you")
    expect(row(popup, "Egon Unknown").get_by_role("button", name="Copy")).to_have_count(0)
    row(popup, "Ada Lovelace").get_by_role("button", name=f"Copy {company.emails['Ada']}").click()
    expect(popup.get_by_role("button", name="Copied")).to_be_visible()
    row(popup, "Egon Unknown").locator(".row").click()
    popup.get_by_role("button", name="Open profile").click()
    expect(heading(popup)).to_have_text("Egon Unknown")


def test_a_profile_whose_page_shows_the_name_has_that_name_and_the_providers_hear_it(
    person: Person, stack: Stack, vendors: Vendors
) -> None:
    heard: list[str] = []

    def note(request: Request) -> tuple[int, Any]:
        heard.append(request.get_data(as_text=True))
        return NO_MATCH

    vendors.says["prospeo"] = note
    url = person.plays_profile("nameless-but-shown", "Nell Nameless", "Baker")
    nameless(stack, url.rstrip("/"))
    person.sign_in()

    popup = person.look_at(url)

    expect(heading(popup)).to_have_text("Nell Nameless")
    expect(popup.get_by_text("Name unknown")).to_have_count(0)
    popup.get_by_role("button", name="Find e-mail").click()
    expect(popup.locator("main")).to_contain_text("Nothing found")
    [asked] = person.network.to_api("/api/ext/reveal/email")
    assert asked.json["subject"]["full_name"] == "Nell Nameless"
    assert asked.json["subject"]["contact_id"].startswith("con_")
    assert "Nell Nameless" in heard[0]


def test_one_button_of_a_person_stands_out(person: Person, company: Company) -> None:
    person.sign_in()
    popup = person.look_at(company.website)
    row(popup, "Ada Lovelace").get_by_role("button").click()
    expect(popup.get_by_role("button", name="Reveal phone")).to_be_visible()

    assert standing_out(popup) == ["Reveal e-mail · 1 credit"]
    popup.get_by_role("button", name="Reveal e-mail").click()
    expect(popup.get_by_text("Receipt")).to_be_visible()
    assert standing_out(popup) == ["Reveal phone · 1 credit"]


def standing_out(popup: Page) -> list[str]:
    """Give the buttons that have the accent's colour, as the one of the form to sign in has."""
    names: list[str] = popup.evaluate("""() => {
      const probe = document.body.appendChild(document.createElement("button"));
      probe.className = "primary";
      const accent = getComputedStyle(probe).backgroundColor;
      probe.remove();
      const all = [...document.querySelectorAll("button")].filter((one) => one.checkVisibility());
      const bright = all.filter((one) => getComputedStyle(one).backgroundColor === accent);
      return bright.map((one) => one.textContent);
    }""")
    return names
