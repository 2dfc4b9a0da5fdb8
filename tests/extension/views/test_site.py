"""A click on a website: its company and people, looked up by hash or by prefix."""

from __future__ import annotations

import re
import threading
from hashlib import sha256

import pytest
from chromium_support import BrowserUser
from company_support import Company, add_employees, create_company
from playwright.sync_api import Locator, Page, expect
from proxy_support import CannedReply, RecordedRequest, problem_reply

COMPANY = "/api/ext/company-by-hash"
LEADS = "/api/ext/leads-by-website-hash"
PREFIX_DIGITS = 2
FAILED_JOB = CannedReply(
    200,
    {
        "job": {
            "id": "job_1",
            "status": "failed",
            "outcome": None,
            "finished_at": "2026-11-20T09:30:00.000Z",
            "error": problem_reply(504, "job_expired").body,
        },
        "result": None,
        "trace": [],
        "credits": {"charged": 0, "reserved": 0, "balance": 100, "already_owned": False},
    },
)
NINE = ("Abel", "Baker", "Conti", "Dubois", "Eklund", "Fischer", "Garcia", "Hansen", "Ito")


def leads(popup: Page) -> Locator:
    return popup.get_by_role("listitem").get_by_role("button")


def page_of(user: BrowserUser, company: Company) -> str:
    """Serve the company's LinkedIn page; return its URL."""
    url = f"https://www.linkedin.com/company/{company.domain.removesuffix('.test')}/about/"
    html = "<!doctype html><html lang=en><title>About</title>"
    user.tabs()[0].route(url, lambda route: route.fulfill(body=html, content_type="text/html"))
    return url


def test_a_company_website_shows_the_company_and_its_people_most_senior_first(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()

    popup = user.open_popup_on(company.website)

    expect(leads(popup)).to_have_count(3)
    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
    for fact in (company.domain, "Machinery", "51-200 employees", "London, United Kingdom", "3 people known"):
        expect(popup.locator(".company")).to_contain_text(fact)
    expect(leads(popup).locator("strong")).to_have_text(["Ada Lovelace", "Bob Babbage", "Cleo Clarke"])
    expect(leads(popup).nth(0)).to_contain_text(
        re.compile("Chief Engineer.*E-mail known.*Phone known", re.DOTALL)
    )
    expect(leads(popup).nth(1)).to_contain_text(re.compile("Sales Manager.*E-mail known", re.DOTALL))
    expect(leads(popup).nth(2)).not_to_contain_text("known")
    expect(popup.locator(".company")).to_contain_text(f"addresses look like {{first}}@{company.domain}")
    assert not [address for address in company.emails.values() if address in popup.content()]


def test_a_subdomain_finds_the_company_and_only_hashes_are_sent(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()

    popup = user.open_popup_on(f"http://www.shop.{company.domain}/cart?item=7#top")

    expect(leads(popup)).to_have_count(3)
    [request] = user.proxy.api_requests(COMPANY)
    hosts = [f"www.shop.{company.domain}", f"shop.{company.domain}", company.domain]
    hashes = [sha256(host.encode()).hexdigest() for host in hosts]
    assert request.json == {"kind": "website", "hashes": hashes}
    assert not [
        sent for sent in user.proxy.api_requests() if company.domain in sent.text or "cart" in sent.text
    ]


def test_people_can_be_filtered_by_department(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(company.website)
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


def test_a_late_response_for_another_department_is_discarded(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(company.website)
    may_reply = threading.Event()

    def dawdle(sent: RecordedRequest) -> CannedReply | None:
        if b'"engineering"' in sent.body:
            may_reply.wait(60)
        return None

    user.proxy.before_api.append(dawdle)
    chooser = popup.get_by_label("Department")

    chooser.focus()
    with popup.expect_response(lambda response: '"engineering"' in (response.request.post_data or "")):
        chooser.select_option(label="Engineering (2)")
        chooser.select_option(label="Sales (1)")
        expect(leads(popup).locator("strong")).to_have_text(["Bob Babbage"])
        may_reply.set()

    expect(leads(popup).locator("strong")).to_have_text(["Bob Babbage"])
    expect(chooser).to_be_focused()


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (problem_reply(503, "unavailable"), "The server is temporarily unavailable"),
        (FAILED_JOB, "The request was not processed in time."),
    ],
    ids=["refused", "a failed job"],
)
def test_listing_people_can_be_retried_after_a_failure(
    user: BrowserUser, reply: CannedReply, text: str
) -> None:
    company = create_company(user.stack)
    user.sign_in()
    with user.proxy.replying(LEADS, reply):
        popup = user.open_popup_on(company.website)
        expect(popup.get_by_role("alert").first).to_contain_text(text)

    popup.get_by_role("button", name="Try again").click()

    expect(leads(popup)).to_have_count(3)
    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)


def test_further_people_are_shown_on_request_without_duplicates(user: BrowserUser) -> None:
    company = create_company(user.stack)
    add_employees(
        user.stack, company, *(f"{first} {last}" for first in ("Kim", "Lee", "Mia") for last in NINE)
    )
    user.sign_in()
    popup = user.open_popup_on(company.website)
    expect(leads(popup)).to_have_count(25)

    popup.get_by_role("button", name="Show more").click()

    expect(leads(popup)).to_have_count(30)
    names = leads(popup).locator("strong").all_inner_texts()
    assert len(set(names)) == 30
    expect(popup.get_by_role("button", name="Show more")).to_have_count(0)
    expect(leads(popup).nth(25)).to_be_focused()


def test_a_linkedin_company_page_is_looked_up_by_the_hash_of_its_url(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()

    popup = user.open_popup_on(page_of(user, company))

    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
    expect(leads(popup)).to_have_count(3)
    [request] = user.proxy.api_requests(COMPANY)
    url = f"https://www.linkedin.com/company/{company.domain.removesuffix('.test')}"
    assert request.json == {"kind": "linkedin", "hashes": [sha256(url.encode()).hexdigest()]}


def test_an_unknown_website_is_named_with_what_to_do(user: BrowserUser) -> None:
    user.sign_in()

    popup = user.open_popup_on("http://www.nobody-knows-this.test/")

    expect(popup.get_by_role("heading")).to_have_text("No company is known for www.nobody-knows-this.test")
    expect(popup.locator("main")).to_contain_text("Search for one of its people")
    expect(popup.get_by_role("searchbox", name="Find a person")).to_be_visible()
    assert not user.proxy.api_requests(LEADS)
    assert not [sent for sent in user.proxy.api_requests() if "nobody-knows-this" in sent.text]


def test_a_page_that_is_not_a_website_is_not_looked_up(user: BrowserUser) -> None:
    user.sign_in()

    for url in ("about:blank", "chrome://version/", "http://127.0.0.1:1/"):
        popup = (
            user.click_icon(user.tabs()[0]) if url == "about:blank" else open_popup_on_routed_page(user, url)
        )

        expect(popup.get_by_role("heading")).to_have_text("Nothing to look up here")
        expect(popup.locator("main")).to_contain_text("click the toolbar icon")
        popup.close()

    assert {sent.path for sent in user.proxy.api_requests()} == {"/api/ext/session"}


def open_popup_on_routed_page(user: BrowserUser, url: str) -> Page:
    """Open the popup on a page that is served by a route, because it would not load."""
    tab = user.tabs()[0]
    tab.route(url, lambda route: route.fulfill(body="<p>here", content_type="text/html"))
    tab.goto(url)
    return user.click_icon(tab)


def test_by_prefix_the_full_hash_is_sent_only_when_people_are_requested(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in(look_up_by="prefix")

    popup = user.open_popup_on(f"http://shop.{company.domain}/")

    expect(popup.get_by_role("heading", level=1)).to_have_text(company.name)
    expect(popup.locator("main")).to_contain_text(f"the full hash of {company.domain} to")
    bodies = [sent.json for sent in user.proxy.api_requests(COMPANY)]
    digests = [sha256(host.encode()).hexdigest() for host in (f"shop.{company.domain}", company.domain)]
    assert bodies == [{"prefix": digest[:PREFIX_DIGITS]} for digest in digests]
    assert not user.proxy.api_requests(LEADS)
    assert not [sent for sent in user.proxy.api_requests() for digest in digests if digest[:12] in sent.text]
    popup.get_by_role("button", name="Show people").click()
    expect(leads(popup)).to_have_count(3)
    assert [sent.json["hash"] for sent in user.proxy.api_requests(LEADS)] == [digests[1]]


def test_by_prefix_only_the_prefixes_of_an_unknown_website_are_sent(user: BrowserUser) -> None:
    user.sign_in(look_up_by="prefix")

    popup = user.open_popup_on("http://deep.shop.nobody-knows-this.test/")

    expect(popup.get_by_role("heading")).to_contain_text("No company is known for")
    bodies = [sent.json for sent in user.proxy.api_requests(COMPANY)]
    assert len(bodies) == 3
    assert all(list(body) == ["prefix"] and len(body["prefix"]) == PREFIX_DIGITS for body in bodies)
