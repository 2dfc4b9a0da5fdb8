"""What was asked so far, what a person can choose, and the way out."""

from __future__ import annotations

import re
import secrets

from chromium_support import Person, pressed, until
from people_support import company_of_three
from playwright.sync_api import Locator, Page, expect

CARD = "/api/ext/company-by-hash"
DAY = re.compile(r"\w+ \d+, \d{4}")
TIME = re.compile(r"\d+:\d\d")
DATE = re.compile(r"\w+ \d+, \d{4}, \d+:\d\d")


def rows(popup: Page) -> Locator:
    return popup.locator(".row")


def open_history(popup: Page) -> None:
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_role("heading", level=1)).to_have_text("History")


def reveal(popup: Page, name: str, field: str) -> Locator:
    """Reveal from the list of a company's people, and go back to it; give where the value was."""
    popup.locator(".people").get_by_role("button", name=name).click()
    part = popup.get_by_role("region", name=field, exact=True)
    part.get_by_role("button", name=re.compile("^(Reveal|Find)")).click()
    expect(part.locator("details")).to_be_visible()
    return part


def test_reveals_are_listed_with_names_outcomes_and_dates_the_newest_first(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(company.website)
    for name, field in (("Ada", "E-mail"), ("Ada", "Phone"), ("Cleo", "E-mail")):
        reveal(popup, name, field)
        popup.get_by_role("button", name="Back").click()

    open_history(popup)

    expect(rows(popup).locator("strong")).to_have_text(["Cleo Clarke", "Ada Lovelace", "Ada Lovelace"])
    expect(rows(popup).nth(0)).to_contain_text("E-mail not found")
    expect(rows(popup).nth(1)).to_contain_text("Phone found")
    expect(rows(popup).nth(2)).to_contain_text("E-mail found")
    for row in rows(popup).all():
        expect(row).to_contain_text(TIME)
    expect(popup.locator("main h2")).to_have_text(DAY)
    expect(popup.locator("main")).not_to_contain_text("@")


def test_a_row_of_the_history_opens_the_answer_with_its_receipt_and_the_person(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(company.website)
    reveal(popup, "Ada", "E-mail")
    open_history(popup)

    rows(popup).click()

    expect(popup.get_by_role("link")).to_have_text(company.emails["Ada"])
    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    expect(popup.get_by_role("heading", level=1)).to_be_focused()
    expect(popup.locator("main")).to_contain_text(DATE)
    popup.get_by_text("Receipt").click()
    expect(popup.locator("details")).to_contain_text("Known already; nobody was asked")
    expect(popup.locator("details")).to_contain_text(re.compile(r"Job job_\w{24}"))
    assert person.balance() == 99
    popup.get_by_role("button", name="Open profile").click()
    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    for _step in ("the answer", "the history", "the company"):
        popup.get_by_role("button", name="Back").click()
    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)


def test_an_empty_history_says_so(person: Person) -> None:
    person.sign_in()
    popup = person.look_at("http://www.nobody-knows-this.test/")

    popup.get_by_role("button", name="History").click()

    expect(popup.get_by_role("heading", name="History")).to_be_visible()
    expect(popup.locator("main")).to_contain_text("Nothing was revealed so far.")


def test_what_was_looked_for_in_vain_is_told_by_the_history_too(person: Person) -> None:
    person.sign_in()
    popup = person.look_at(person.plays_profile(f"nobody-{secrets.token_hex(4)}", "Una Known"))
    email = popup.get_by_role("region", name="E-mail", exact=True)
    email.get_by_role("button", name="Find e-mail").click()
    expect(email).to_contain_text("Nothing found")
    open_history(popup)
    expect(rows(popup)).to_contain_text("E-mail not found")

    rows(popup).click()

    expect(popup.locator("main")).to_contain_text("Nothing found. Nothing was charged.")
    popup.get_by_text("Receipt").click()
    expect(popup.get_by_role("row", name="Hunter does not know")).to_be_visible()


def test_a_button_that_is_pressed_while_the_credits_change_is_heard(person: Person) -> None:
    person.sign_in()
    popup = person.look_at("http://www.acme.test/")
    expect(popup.locator("header")).to_contain_text("100 credits")

    with pressed(popup, popup.get_by_role("button", name="Settings")):
        session = person.stored("session")["session"]
        session["credits"]["balance"] = 77
        person.store("session", session=session)
        expect(popup.locator("header")).to_contain_text("77 credits")

    expect(popup.get_by_role("heading", level=1)).to_have_text("Settings")


def test_the_choice_between_hash_and_prefix_changes_what_is_sent(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(company.website)
    popup.get_by_role("button", name="Settings").click()
    expect(popup.locator("main")).to_contain_text(person.email)
    expect(popup.get_by_label("Standard")).to_be_checked()

    popup.get_by_label("More private").check()
    until(lambda: person.stored("local")["settings"]["ask"] == "prefix")
    popup.close()
    popup = person.look_at(company.website)
    expect(popup.get_by_role("button", name="Show the people")).to_be_visible()
    popup.get_by_role("button", name="Settings").click()
    expect(popup.get_by_label("More private")).to_be_checked()
    popup.get_by_label("Standard").check()
    until(lambda: person.stored("local")["settings"]["ask"] == "hash")
    popup.get_by_role("button", name="Back").click()

    expect(rows(popup)).to_have_count(3)
    expect(popup.get_by_role("button", name="Show the people")).to_have_count(0)
    asked = [sorted(sent.json) for sent in person.network.to_api(CARD)]
    assert asked[0] == asked[-1] == ["hashes", "kind"]
    assert asked[1:-1] == [["prefix"]]


def test_signing_out_leads_to_the_form_and_ends_the_token(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in(lists=["Secret list"])
    popup = person.look_at(company.website)
    reveal(popup, "Ada", "E-mail")
    popup.get_by_role("button", name="Settings").click()

    popup.get_by_role("button", name="Sign out").click()

    expect(popup.get_by_label("Password")).to_be_visible()
    expect(popup.get_by_label("Server")).to_have_value(person.server)
    expect(popup.get_by_label("E-mail")).to_have_value(person.email)
    expect(popup.locator("body")).not_to_contain_text("credits")
    kept = str(person.stored("local")) + str(person.stored("session"))
    assert person.token.removeprefix("Bearer ") not in kept
    assert company.emails["Ada"] not in kept
    assert "Secret list" not in kept
    assert person.stack.call("GET", "/api/ext/session", Authorization=person.token).status == 401
    popup.close()
    sent = len(person.network.to_api())
    popup = person.look_at(company.website)
    expect(popup.get_by_role("button", name="Sign in")).to_be_visible()
    assert len(person.network.to_api()) == sent
