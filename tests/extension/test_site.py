"""A click on a website: the company behind it and its people, asked by hash or by prefix."""

from __future__ import annotations

import re
import threading
from hashlib import sha256

from chromium_support import Person
from people_support import Company, company_of_three, employ
from playwright.sync_api import Locator, Page, expect
from proxy_support import Reply, Sent, problem

CARD = "/api/ext/company-by-hash"
LEADS = "/api/ext/leads-by-website-hash"
PREFIX_DIGITS = 4
NINE = ("Abel", "Baker", "Conti", "Dubois", "Eklund", "Fischer", "Garcia", "Hansen", "Ito")


def leads(popup: Page) -> Locator:
    return popup.get_by_role("listitem").get_by_role("button")


def page_of(person: Person, company: Company) -> str:
    """Let the network have the company's page; give its address."""
    url = f"https://www.linkedin.com/company/{company.domain.removesuffix('.test')}/about/"
    html = "<!doctype html><html lang=en><title>About</title>"
    person.tabs()[0].route(url, lambda route: route.fulfill(body=html, content_type="text/html"))
    return url


def test_a_companys_website_shows_its_card_and_its_people_most_senior_first(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()

    popup = person.look_at(company.website)

    expect(leads(popup)).to_have_count(3)
    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
    for fact in (company.domain, "Machinery", "51-200 employees", "London, GB", "3 people known"):
        expect(popup.locator(".company")).to_contain_text(fact)
    expect(leads(popup).locator("strong")).to_have_text(["Ada Lovelace", "Bob Babbage", "Cleo Clarke"])
    expect(leads(popup).nth(0)).to_contain_text(
        re.compile("Chief Engineer.*E-mail known.*Phone known", re.DOTALL)
    )
    expect(leads(popup).nth(1)).to_contain_text(re.compile("Sales Manager.*E-mail known", re.DOTALL))
    expect(leads(popup).nth(2)).not_to_contain_text("known")
    expect(popup.locator(".company")).to_contain_text(f"addresses look like {{first}}@{company.domain}")
    assert not [address for address in company.emails.values() if address in popup.content()]


def test_a_deeper_host_finds_the_company_and_only_hashes_of_it_leave(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()

    popup = person.look_at(f"http://www.shop.{company.domain}/cart?item=7#top")

    expect(leads(popup)).to_have_count(3)
    [asked] = person.network.to_api(CARD)
    hosts = [f"www.shop.{company.domain}", f"shop.{company.domain}", company.domain]
    hashes = [sha256(host.encode()).hexdigest() for host in hosts]
    assert asked.json == {"kind": "website", "hashes": hashes}
    assert not [
        sent for sent in person.network.to_api() if company.domain in sent.text or "cart" in sent.text
    ]


def test_people_are_shown_of_one_department_and_of_all_again(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(company.website)
    chooser = popup.get_by_label("Department")
    expect(chooser.get_by_role("option")).to_have_text(
        ["All departments (3)", "Engineering (2)", "Sales (1)"]
    )

    chooser.select_option(label="Sales (1)")

    expect(leads(popup).locator("strong")).to_have_text(["Bob Babbage"])
    chooser.select_option(label="Engineering (2)")
    expect(leads(popup).locator("strong")).to_have_text(["Ada Lovelace", "Cleo Clarke"])
    chooser.select_option(label="All departments (3)")
    expect(leads(popup)).to_have_count(3)


def test_the_department_chosen_last_is_the_one_that_is_shown(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    popup = person.look_at(company.website)
    may_answer = threading.Event()

    def dawdle(sent: Sent) -> Reply | None:
        if b'"engineering"' in sent.body:
            may_answer.wait(10)
        return None

    person.network.faults.append(dawdle)
    chooser = popup.get_by_label("Department")

    chooser.focus()
    with popup.expect_response(lambda response: '"engineering"' in (response.request.post_data or "")):
        chooser.select_option(label="Engineering (2)")
        chooser.select_option(label="Sales (1)")
        expect(leads(popup).locator("strong")).to_have_text(["Bob Babbage"])
        may_answer.set()

    expect(leads(popup).locator("strong")).to_have_text(["Bob Babbage"])
    expect(chooser).to_be_focused()


def test_people_who_could_not_be_listed_are_asked_for_again(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()
    with person.network.failing(LEADS, problem(503, "unavailable")):
        popup = person.look_at(company.website)
        expect(popup.get_by_role("alert").first).to_contain_text("The server cannot take this just now")

    popup.get_by_role("button", name="Try again").click()

    expect(leads(popup)).to_have_count(3)
    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)


def test_more_than_a_page_of_people_is_shown_on_request_each_once(person: Person) -> None:
    company = company_of_three(person.stack)
    employ(person.stack, company, *(f"{first} {last}" for first in ("Kim", "Lee", "Mia") for last in NINE))
    person.sign_in()
    popup = person.look_at(company.website)
    expect(leads(popup)).to_have_count(25)

    popup.get_by_role("button", name="Show more").click()

    expect(leads(popup)).to_have_count(30)
    names = leads(popup).locator("strong").all_inner_texts()
    assert len(set(names)) == 30
    expect(popup.get_by_role("button", name="Show more")).to_have_count(0)
    expect(leads(popup).nth(25)).to_be_focused()


def test_a_companys_page_on_the_network_finds_it_by_the_hash_of_that_page(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in()

    popup = person.look_at(page_of(person, company))

    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
    expect(leads(popup)).to_have_count(3)
    [asked] = person.network.to_api(CARD)
    url = f"https://www.linkedin.com/company/{company.domain.removesuffix('.test')}"
    assert asked.json == {"kind": "linkedin", "hashes": [sha256(url.encode()).hexdigest()]}


def test_an_unknown_site_is_named_with_what_to_do(person: Person) -> None:
    person.sign_in()

    popup = person.look_at("http://www.nobody-knows-this.test/")

    expect(popup.get_by_role("heading")).to_have_text("No company is known for www.nobody-knows-this.test")
    expect(popup.locator("main")).to_contain_text("Search for one of its people")
    expect(popup.get_by_role("searchbox", name="Find a person")).to_be_visible()
    assert not person.network.to_api(LEADS)
    assert not [sent for sent in person.network.to_api() if "nobody-knows-this" in sent.text]


def test_a_page_that_is_no_website_is_not_asked_about(person: Person) -> None:
    person.sign_in()

    for url in ("about:blank", "chrome://version/", "http://127.0.0.1:1/"):
        popup = person.click_icon(person.tabs()[0]) if url == "about:blank" else look_at_once(person, url)

        expect(popup.get_by_role("heading")).to_have_text("Nothing to look up here")
        expect(popup.locator("main")).to_contain_text("click the toolbar icon")
        popup.close()

    assert {sent.path for sent in person.network.to_api()} == {"/api/ext/session"}


def look_at_once(person: Person, url: str) -> Page:
    """Click the icon on a page that may be none that loads."""
    tab = person.tabs()[0]
    tab.route(url, lambda route: route.fulfill(body="<p>here", content_type="text/html"))
    tab.goto(url)
    return person.click_icon(tab)


def test_by_prefix_only_a_few_digits_leave_until_the_people_are_asked_for(person: Person) -> None:
    company = company_of_three(person.stack)
    person.sign_in(ask="prefix")

    popup = person.look_at(f"http://shop.{company.domain}/")

    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
    expect(popup.locator("main")).to_contain_text(f"the whole fingerprint of {company.domain}.")
    asked = [sent.json for sent in person.network.to_api(CARD)]
    digests = [sha256(host.encode()).hexdigest() for host in (f"shop.{company.domain}", company.domain)]
    assert asked == [{"prefix": digest[:PREFIX_DIGITS]} for digest in digests]
    assert not person.network.to_api(LEADS)
    assert not [sent for sent in person.network.to_api() for digest in digests if digest[:12] in sent.text]
    popup.get_by_role("button", name="Show the people").click()
    expect(leads(popup)).to_have_count(3)
    assert [sent.json["hash"] for sent in person.network.to_api(LEADS)] == [digests[1]]


def test_by_prefix_an_unknown_site_tells_no_more_than_its_prefixes(person: Person) -> None:
    person.sign_in(ask="prefix")

    popup = person.look_at("http://deep.shop.nobody-knows-this.test/")

    expect(popup.get_by_role("heading")).to_contain_text("No company is known for")
    asked = [sent.json for sent in person.network.to_api(CARD)]
    assert len(asked) == 3
    assert all(list(one) == ["prefix"] and len(one["prefix"]) == PREFIX_DIGITS for one in asked)
