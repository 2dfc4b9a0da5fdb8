"""One person: masked values and their price, the reveal, its receipt, and the ways to find somebody."""

from __future__ import annotations

import re

from chromium_support import Person
from people_support import company_of_three, employ
from playwright.sync_api import Locator, Page, expect
from vendors_support import Vendors, prospeo_knows

LOOKUP = "/api/ext/lookup"
REVEAL = "/api/ext/reveal/"
NUMBER = re.compile(r"\+?44 ?20 ?7946 ?0123|020 ?7946 ?0123|442079460123")


def part(popup: Page, name: str) -> Locator:
    return popup.get_by_role("region", name=name, exact=True)


def search(popup: Page, text: str) -> None:
    popup.get_by_role("searchbox", name="Find a person").fill(text)
    popup.get_by_role("button", name="Find", exact=True).click()


def heading(popup: Page) -> Locator:
    return popup.get_by_role("heading", level=1)


def test_a_known_person_is_shown_masked_with_the_price_on_the_button(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()

    popup = person.look_at(person.plays_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))

    expect(heading(popup)).to_have_text("Ada Lovelace")
    expect(popup.locator("main")).to_contain_text(f"Chief Engineer · {company.name}")
    email, phone = part(popup, "E-mail"), part(popup, "Phone")
    expect(email).to_contain_text(f"a•••••@{company.domain}")
    expect(email.get_by_role("button")).to_have_text("Reveal e-mail · 1 credit")
    expect(email).to_contain_text(re.compile(r"Verified \w+ \d+, \d{4}"))
    expect(phone).to_contain_text(re.compile(r"\+44 •+23"))
    expect(phone.get_by_role("button")).to_have_text("Reveal phone · 1 credit")
    assert company.emails["Ada"] not in popup.content()
    assert not NUMBER.search(popup.content())
    assert not person.network.to_api(REVEAL)


def test_a_reveal_shows_the_address_its_receipt_and_one_credit_less(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(person.plays_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))
    email = part(popup, "E-mail")
    expect(popup.locator("header")).to_contain_text("100 credits")

    email.get_by_role("button", name="Reveal e-mail").click()

    expect(email.get_by_role("link")).to_have_text(company.emails["Ada"])
    expect(email.get_by_role("link")).to_have_attribute("href", f"mailto:{company.emails['Ada']}")
    expect(email).to_contain_text(re.compile(r"Verified \w+ \d+, \d{4}"))
    expect(popup.locator("header")).to_contain_text("99 credits")
    assert person.balance() == 99
    receipt = email.locator("details")
    expect(receipt.get_by_text("Known already; nobody was asked")).to_be_hidden()
    email.get_by_text("Receipt").click()
    expect(receipt.get_by_text("Known already; nobody was asked")).to_be_visible()
    expect(receipt).to_contain_text("Charged: 1 credit")
    expect(receipt).to_contain_text("Imported from people.csv")
    expect(receipt).to_contain_text(re.compile(r"Job job_\w{24}"))


def test_what_was_revealed_stays_revealed_and_is_copied_for_nothing(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    url = person.plays_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace")
    popup = person.look_at(url)
    part(popup, "E-mail").get_by_role("button", name="Reveal e-mail").click()
    expect(part(popup, "E-mail").get_by_role("link")).to_be_visible()
    popup.close()

    popup = person.look_at(url)

    email = part(popup, "E-mail")
    expect(email.get_by_role("link")).to_have_text(company.emails["Ada"])
    expect(email.get_by_role("button", name="Reveal")).to_have_count(0)
    assert len(person.network.to_api(REVEAL)) == 1
    assert person.balance() == 99
    email.get_by_role("button", name=f"Copy {company.emails['Ada']}").click()
    expect(email.get_by_role("button", name="Copied")).to_be_visible()
    box = popup.get_by_role("searchbox", name="Find a person")
    box.press("Control+V")
    expect(box).to_have_value(company.emails["Ada"])


def test_a_number_is_revealed_like_an_address(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(person.plays_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))
    phone = part(popup, "Phone")

    phone.get_by_role("button", name="Reveal phone").click()

    expect(phone.get_by_role("link")).to_have_text(NUMBER)
    expect(phone.get_by_role("link")).to_have_attribute("href", "tel:+442079460123")
    expect(phone.get_by_role("button", name="Copy +442079460123")).to_be_visible()
    expect(phone).to_contain_text("Imported")
    expect(popup.locator("header")).to_contain_text("99 credits")
    expect(part(popup, "E-mail").get_by_role("button")).to_have_text("Reveal e-mail · 1 credit")


def test_a_risky_address_says_so_and_is_revealed_all_the_same(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(person.plays_profile(company.profiles["Bob"].rpartition("/")[2], "Bob Babbage"))
    email = part(popup, "E-mail")
    expect(email).to_contain_text("Risky")

    email.get_by_role("button", name="Reveal e-mail · 1 credit").click()

    expect(email.get_by_role("link")).to_have_text(company.emails["Bob"])
    expect(email).to_contain_text("Risky")
    expect(email).not_to_contain_text("Verified")
    [asked] = person.network.to_api(f"{REVEAL}email")
    assert asked.json["min_status"] == "any"


def test_a_person_is_opened_from_the_list_and_the_way_back_leads_to_it(person: Person) -> None:
    company = company_of_three(person.stack)
    employ(
        person.stack,
        company,
        *(f"{first} Smith" for first in ("Amy", "Ben", "Dan", "Eve", "Fay", "Gus", "Hal")),
    )
    person.sign_in()
    popup = person.look_at(company.website)
    last = popup.get_by_role("button", name="Hal Smith")
    last.scroll_into_view_if_needed()
    assert popup.evaluate("() => scrollY") > 0

    last.click()

    expect(heading(popup)).to_have_text("Hal Smith")
    expect(heading(popup)).to_be_focused()
    assert popup.evaluate("() => scrollY") == 0
    popup.get_by_role("button", name="Back").click()
    expect(heading(popup)).to_have_text(company.name)
    expect(heading(popup)).to_be_focused()
    expect(popup.get_by_role("listitem")).to_have_count(10)
    expect(popup.get_by_role("button", name="Back")).to_have_count(0)


def test_of_two_people_with_one_name_the_right_one_is_chosen(person: Person) -> None:
    company = company_of_three(person.stack)
    employ(person.stack, company, "Jo Twin", title="Pilot")
    employ(person.stack, company, "Jo Twin", title="Cook")
    person.sign_in()
    popup = person.look_at(company.website)

    search(popup, f"Jo Twin, {company.domain}")

    expect(heading(popup)).to_have_text("Which of these?")
    rows = popup.get_by_role("listitem")
    expect(rows).to_have_count(2)
    rows.filter(has_text="Cook").get_by_role("button").click()
    expect(heading(popup)).to_have_text("Jo Twin")
    expect(popup.locator("main")).to_contain_text(f"Cook · {company.name}")
    expect(part(popup, "E-mail").get_by_role("button")).to_have_text("Reveal e-mail · 1 credit")


def test_a_person_is_found_by_profile_by_address_and_by_name_with_a_company(person: Person) -> None:
    company = company_of_three(person.stack)
    slug = company.profiles["Ada"].rpartition("/")[2]
    person.sign_in()
    popup = person.click_icon(person.tabs()[0])

    for typed in (
        f"https://www.linkedin.com/in/{slug}/?trk=mail",
        f" de.linkedin.com/in/{slug.upper()}",
        f" Ada@{company.domain.upper()} ",
        f"Ada Lovelace, {company.domain}",
        f"Ada Lovelace,https://www.{company.domain}/about",
        f"Ada Lovelace, {company.name}",
    ):
        search(popup, typed)

        expect(heading(popup)).to_have_text("Ada Lovelace")
        expect(popup.locator("main")).to_contain_text(f"Chief Engineer · {company.name}")
        popup.get_by_role("button", name="Back").click()

    subjects = [sent.json["subject"] for sent in person.network.to_api(LOOKUP)]
    assert [sorted(subject) for subject in subjects] == [
        ["linkedin_url"],
        ["linkedin_url"],
        ["email"],
        ["company_domain", "full_name"],
        ["company_domain", "full_name"],
        ["company_name", "full_name"],
    ]


def test_what_names_nobody_is_answered_with_how_to_write_it_and_not_sent(person: Person) -> None:
    person.sign_in()
    popup = person.click_icon(person.tabs()[0])
    box = popup.get_by_role("searchbox", name="Find a person")

    for rubbish in (
        "",
        "ada",
        "Ada Lovelace",
        ", acme.com",
        "Ada Lovelace,",
        "https://acme.com/in/ada",
        "ada@",
    ):
        search(popup, rubbish)

        expect(popup.get_by_role("alert")).to_have_text(
            "Write a profile's address, an e-mail address, or a name, a comma and a company."
        )
        expect(box).to_be_focused()
        expect(box).to_have_attribute("aria-invalid", "true")
        expect(box).to_have_value(rubbish)
    assert not person.network.to_api(LOOKUP)


def test_looking_for_somebodys_address_in_vain_costs_nothing(person: Person) -> None:
    person.sign_in()
    popup = person.look_at(person.plays_profile("nobody-knows-her-a1", "Una Known", "Baker at Crust"))
    expect(heading(popup)).to_have_text("Una Known")
    expect(popup.locator("main")).to_contain_text("Baker at Crust")
    expect(popup.locator("main")).to_contain_text("Not known yet")
    email = part(popup, "E-mail")

    email.get_by_role("button", name="Find e-mail · 1 credit if found").click()

    expect(email).to_contain_text("Nothing found. Nothing was charged.")
    expect(popup.locator("header")).to_contain_text("100 credits")
    assert person.balance() == 100
    email.get_by_text("Receipt").click()
    expect(email.get_by_role("row", name="Hunter does not know")).to_be_visible()


def test_a_known_person_without_an_address_is_looked_for_and_pays_if_found(
    person: Person, vendors: Vendors
) -> None:
    company = company_of_three(person.stack)
    vendors.says["prospeo"] = prospeo_knows(f"cleo@{company.domain}")
    person.sign_in()
    popup = person.look_at(person.plays_profile(company.profiles["Cleo"].rpartition("/")[2], "Cleo Clarke"))
    email = part(popup, "E-mail")
    expect(email).to_contain_text("None known yet")

    email.get_by_role("button", name="Find e-mail · 1 credit if found").click()

    expect(email.get_by_role("link")).to_have_text(f"cleo@{company.domain}")
    expect(popup.locator("header")).to_contain_text("99 credits")
