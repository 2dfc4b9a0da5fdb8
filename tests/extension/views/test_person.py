"""The view of a person: masked values, prices, reveals, receipts; and the search."""

from __future__ import annotations

import re

from chromium_support import BrowserUser
from company_support import add_employees, create_company
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import select
from vendors_support import FakeVendors, prospeo_finds

from app.domain.exclusions import Kind, Reason
from app.engine.accounts.accounts import Account
from app.engine.exclusions import exclusions
from app.engine.exclusions.exclusions import Entry
from app.infra import clock
from app.web.pages import value_words

LOOKUP = "/api/ext/lookup"
REVEAL = "/api/ext/reveal/"
LINK_TO = """async (email) => {
  const { revealedValue } = await import("/views/results.js");
  const value = { email, type: "work", status: "valid", verified_at: null, sources: [] };
  return revealedValue(value).querySelector("a").getAttribute("href");
}"""
NUMBER = re.compile(r"\+?44 ?20 ?7946 ?0123|020 ?7946 ?0123|442079460123")


def part(popup: Page, name: str) -> Locator:
    return popup.get_by_role("region", name=name, exact=True)


def search(popup: Page, text: str) -> None:
    popup.get_by_role("searchbox", name="Find a person").fill(text)
    popup.get_by_role("button", name="Find", exact=True).click()


def heading(popup: Page) -> Locator:
    return popup.get_by_role("heading", level=1)


def test_a_known_person_is_shown_masked_with_the_price_on_the_button(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()

    popup = user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))

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
    assert not user.proxy.api_requests(REVEAL)


def test_a_reveal_shows_the_address_its_receipt_and_one_credit_less(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))
    email = part(popup, "E-mail")
    expect(popup.locator("header")).to_contain_text("100 credits")

    email.get_by_role("button", name="Reveal e-mail").click()

    expect(email.get_by_role("link")).to_have_text(company.emails["Ada"])
    expect(email.get_by_role("link")).to_have_attribute("href", f"mailto:{company.emails['Ada']}")
    expect(email).to_contain_text(re.compile(r"Verified \w+ \d+, \d{4}"))
    expect(popup.locator("header")).to_contain_text("99 credits")
    assert user.balance() == 99
    receipt = email.locator("details.receipt")
    expect(receipt.get_by_text("Already known; no provider was searched")).to_be_hidden()
    email.get_by_text("Receipt").click()
    expect(receipt.get_by_text("Already known; no provider was searched")).to_be_visible()
    expect(receipt).to_contain_text("Charged: 1 credit")
    expect(receipt).to_contain_text("Imported from people.csv")
    expect(receipt).to_contain_text(re.compile(r"Job job_\w{24}"))


def test_a_revealed_value_stays_revealed_and_can_be_copied_for_free(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    url = user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace")
    popup = user.open_popup_on(url)
    part(popup, "E-mail").get_by_role("button", name="Reveal e-mail").click()
    expect(part(popup, "E-mail").get_by_role("link")).to_be_visible()
    popup.close()

    popup = user.open_popup_on(url)

    email = part(popup, "E-mail")
    expect(email.get_by_role("link")).to_have_text(company.emails["Ada"])
    expect(email.get_by_role("button", name="Reveal")).to_have_count(0)
    assert len(user.proxy.api_requests(REVEAL)) == 1
    assert user.balance() == 99
    email.get_by_role("button", name=f"Copy {company.emails['Ada']}").click()
    expect(email.get_by_role("button", name="Copied")).to_be_visible()
    box = popup.get_by_role("searchbox", name="Find a person")
    box.press("Control+V")
    expect(box).to_have_value(company.emails["Ada"])


def test_the_link_to_an_address_writes_to_that_address_only(user: BrowserUser) -> None:
    panel = user.open_panel()

    href = panel.evaluate(LINK_TO, "a?bcc=eve&b#c%41+d@acme.test")

    assert href == "mailto:a%3Fbcc=eve%26b%23c%2541+d@acme.test"


def test_a_phone_number_is_revealed_like_an_address(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))
    phone = part(popup, "Phone")

    phone.get_by_role("button", name="Reveal phone").click()

    expect(phone.get_by_role("link")).to_have_text(NUMBER)
    expect(phone.get_by_role("link")).to_have_attribute("href", "tel:+442079460123")
    expect(phone.get_by_role("button", name="Copy +442079460123")).to_be_visible()
    expect(phone).to_contain_text("Imported")
    expect(popup.locator("header")).to_contain_text("99 credits")
    expect(part(popup, "E-mail").get_by_role("button")).to_have_text("Reveal e-mail · 1 credit")


def test_a_risky_address_is_labelled_and_can_be_revealed(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile(company.profiles["Bob"].rpartition("/")[2], "Bob Babbage"))
    email = part(popup, "E-mail")
    expect(email).to_contain_text("Risky")

    email.get_by_role("button", name="Reveal e-mail · 1 credit").click()

    expect(email.get_by_role("link")).to_have_text(company.emails["Bob"])
    expect(email).to_contain_text("Risky")
    expect(email).not_to_contain_text("Verified")
    [request] = user.proxy.api_requests(f"{REVEAL}email")
    assert request.json["min_status"] == "any"


def test_a_person_opens_from_the_list_and_back_returns_to_it(user: BrowserUser) -> None:
    company = create_company(user.stack)
    add_employees(
        user.stack,
        company,
        *(f"{first} Smith" for first in ("Amy", "Ben", "Dan", "Eve", "Fay", "Gus", "Hal")),
    )
    user.sign_in()
    popup = user.open_popup_on(company.website)
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


def test_one_of_two_people_with_the_same_name_can_be_chosen(user: BrowserUser) -> None:
    company = create_company(user.stack)
    add_employees(user.stack, company, "Jo Twin", title="Pilot")
    add_employees(user.stack, company, "Jo Twin", title="Cook")
    user.sign_in()
    popup = user.open_popup_on(company.website)

    search(popup, f"Jo Twin, {company.domain}")

    expect(heading(popup)).to_have_text("Which person do you mean?")
    rows = popup.get_by_role("listitem")
    expect(rows).to_have_count(2)
    rows.filter(has_text="Cook").get_by_role("button").click()
    expect(heading(popup)).to_have_text("Jo Twin")
    expect(popup.locator("main")).to_contain_text(f"Cook · {company.name}")
    expect(part(popup, "E-mail").get_by_role("button")).to_have_text("Reveal e-mail · 1 credit")


def test_a_person_is_found_by_profile_url_by_address_and_by_name_with_company(user: BrowserUser) -> None:
    company = create_company(user.stack)
    slug = company.profiles["Ada"].rpartition("/")[2]
    user.sign_in()
    popup = user.click_icon(user.tabs()[0])

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

    subjects = [sent.json["subject"] for sent in user.proxy.api_requests(LOOKUP)]
    assert [sorted(subject) for subject in subjects] == [
        ["linkedin_url"],
        ["linkedin_url"],
        ["email"],
        ["company_domain", "full_name"],
        ["company_domain", "full_name"],
        ["company_name", "full_name"],
    ]


def test_an_invalid_search_shows_the_expected_format_and_sends_nothing(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.click_icon(user.tabs()[0])
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
            "Enter a profile URL, an e-mail address, or a name and a company separated by a comma."
        )
        expect(box).to_be_focused()
        expect(box).to_have_attribute("aria-invalid", "true")
        expect(box).to_have_value(rubbish)
    assert not user.proxy.api_requests(LOOKUP)


def test_a_search_for_an_address_without_a_result_is_not_charged(user: BrowserUser) -> None:
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile("nobody-knows-her-a1", "Una Known", "Baker at Crust"))
    expect(heading(popup)).to_have_text("Una Known")
    expect(popup.locator("main")).to_contain_text("Baker at Crust")
    expect(popup.locator("main")).to_contain_text("Not known yet")
    email = part(popup, "E-mail")

    email.get_by_role("button", name="Find e-mail · 1 credit if found").click()

    expect(email).to_contain_text("Nothing found. Nothing was charged.")
    expect(popup.locator("header")).to_contain_text("100 credits")
    assert user.balance() == 100
    email.get_by_text("Receipt").click()
    expect(email.get_by_role("row", name="Hunter not found")).to_be_visible()


def test_finding_an_address_of_a_known_person_is_charged(user: BrowserUser, vendors: FakeVendors) -> None:
    company = create_company(user.stack)
    vendors.responders["prospeo"] = prospeo_finds(f"cleo@{company.domain}")
    user.sign_in()
    popup = user.open_popup_on(user.serve_profile(company.profiles["Cleo"].rpartition("/")[2], "Cleo Clarke"))
    email = part(popup, "E-mail")
    expect(email).to_contain_text("None known yet")

    email.get_by_role("button", name="Find e-mail · 1 credit if found").click()

    expect(email.get_by_role("link")).to_have_text(f"cleo@{company.domain}")
    expect(popup.locator("header")).to_contain_text("99 credits")


def test_an_excluded_person_is_shown_with_the_reason_and_without_a_button(user: BrowserUser) -> None:
    company = create_company(user.stack)
    entry = Entry(Kind.DOMAIN, company.domain, Reason.OWN_COMPANY, "colleagues")
    with user.stack.database.transaction() as session:
        mine = select(Account.workspace_id).where(Account.email == user.email)
        workspace_id = session.scalars(mine).one()
        exclusions.add(session, workspace_id, [entry], created_by="acc_1", now=clock.now())
    user.sign_in()

    popup = user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))

    expect(heading(popup)).to_have_text("Ada Lovelace")
    for name in ("E-mail", "Phone"):
        expect(part(popup, name)).to_contain_text("Excluded: own company")
        expect(part(popup, name)).to_contain_text(
            "colleagues · Your workspace reveals nothing of this person."
        )
        expect(part(popup, name).get_by_role("button")).to_have_count(0)


def test_the_badges_of_statuses_have_the_words_and_colours_of_the_pages(user: BrowserUser) -> None:
    popup = user.open_panel()

    badges = popup.evaluate(
        """async (statuses) => {
          const { statusBadge } = await import("/views/results.js");
          const shown = (badge) => [badge.textContent, badge.className.replace("badge", "").trim()];
          return [...statuses.map((status) => shown(statusBadge(status, null, "provider"))),
            shown(statusBadge("valid", null, "import")), shown(statusBadge("valid", null, "masked"))];
        }""",
        list(value_words.EMAIL_STATUS),
    )

    imported = list(value_words.IMPORTED)
    assert badges == [*map(list, value_words.EMAIL_STATUS.values()), imported, imported]
