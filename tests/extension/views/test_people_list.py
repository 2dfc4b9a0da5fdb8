"""The list of the people on a page: looked up by one click, picked, put on a list, and enriched."""

from __future__ import annotations

import re

import pytest
from chromium_support import BrowserUser
from company_support import Company, create_company
from people_page_support import FindsEverybody, of_company, own, put_into_crm, serve_people, somebodies
from playwright.sync_api import Locator, Page, expect
from vendors_support import FakeVendors

LOOKUP = "/api/ext/lookup"
REQUEST = "/api/ext/enrichment-request"


@pytest.fixture
def company(user: BrowserUser) -> Company:
    user.sign_in()
    return create_company(user.stack)


@pytest.fixture
def prospeo(vendors: FakeVendors) -> FindsEverybody:
    return FindsEverybody(vendors)


def row(page: Page, name: str) -> Locator:
    return page.locator(".people-on-page li").filter(has=page.get_by_text(name, exact=True))


def pick(page: Page, *names: str) -> None:
    for name in names:
        row(page, name).get_by_role("checkbox").check()


def result(page: Page) -> Locator:
    return page.get_by_role("region", name="With the people you picked").locator(".success")


def bought(user: BrowserUser) -> list[dict[str, object]]:
    return [sent.json for sent in user.proxy.api_requests(REQUEST) if not sent.json.get("dry_run")]


def test_a_click_on_a_page_of_people_looks_them_up_in_one_request(
    user: BrowserUser, company: Company
) -> None:
    stranger = somebodies(1)

    popup = user.open_popup_on(serve_people(user, [*of_company(company), *stranger]))

    expect(popup.get_by_role("heading", level=1)).to_have_text("4 people on this page")
    expect(row(popup, "Ada Lovelace")).to_contain_text("a•••••@")
    expect(row(popup, "Ada Lovelace")).to_contain_text("1 credit")
    expect(row(popup, stranger[0].name)).to_contain_text("Not known yet")
    [lookup] = user.proxy.api_requests(LOOKUP)
    assert [sorted(subject) for subject in lookup.json["subjects"]] == [["full_name", "linkedin_url"]] * 4


def test_the_walk_of_a_recruiter(user: BrowserUser, prospeo: FindsEverybody) -> None:
    people = somebodies(25)
    owned, in_crm, found, others = people[:4], people[4:7], people[7:12], people[12:]
    user.sign_in()
    own(user, owned)
    put_into_crm(user, in_crm)
    prospeo.know(found)
    before = user.balance()

    popup = user.open_popup_on(serve_people(user, people))
    expect(row(popup, owned[0].name)).to_contain_text("Revealed")
    expect(row(popup, in_crm[0].name)).to_contain_text("In HubSpot")
    expect(row(popup, others[0].name)).to_contain_text("Not known yet")
    pick(popup, *(one.name for one in [*owned, *in_crm, *found]))
    expect(popup.get_by_text("12 people picked · at most 5 credits")).to_be_visible()
    popup.get_by_role("button", name="Find contacts").click()
    expect(popup.get_by_text("4 revealed already, 3 left out, 5 to find.")).to_be_visible()
    popup.get_by_role("button", name="Find 5 people · at most 5 credits").click()

    expect(result(popup)).to_have_text("9 of 12 found or revealed already. Charged: 5 credits.")
    for one in found:
        expect(row(popup, one.name).get_by_role("link", name=one.email)).to_be_visible()
        expect(row(popup, one.name)).to_contain_text("Cost 1 credit")
    expect(row(popup, in_crm[0].name)).to_contain_text("Skipped")
    assert before - user.balance() == 5
    [request] = bought(user)
    assert (len(request["items"]), request["max_credits"], request["skip"]) == (12, 5, ["crm"])
    receipt = popup.get_by_role("link", name="Receipt")
    expect(receipt).to_have_attribute("href", re.compile(rf"^{user.server}/history/job_\w+$"))
    popup.get_by_role("button", name="History").click()
    expect(popup.get_by_role("button", name="12 people")).to_contain_text("5 credits")
