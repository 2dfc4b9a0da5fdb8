"""The list of the people on a page: looked up by one click."""

from __future__ import annotations

import pytest
from chromium_support import BrowserUser
from company_support import Company, create_company
from people_page_support import of_company, serve_people, somebodies
from playwright.sync_api import Locator, Page, expect

LOOKUP = "/api/ext/lookup"


@pytest.fixture
def company(user: BrowserUser) -> Company:
    user.sign_in()
    return create_company(user.stack)


def row(page: Page, name: str) -> Locator:
    return page.locator(".people-on-page li").filter(has=page.get_by_text(name, exact=True))


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
