"""The card that pushes a revealed person to the workspace's CRM."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from chromium_support import BrowserUser, layout
from company_support import create_company
from fake_crms import TOKEN, FakeTwenty
from playwright.sync_api import Page, expect
from pytest_httpserver import HTTPServer


@pytest.fixture
def crm() -> Iterator[FakeTwenty]:
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        yield FakeTwenty(server)


def connect(user: BrowserUser, crm: FakeTwenty) -> None:
    body = {"vendor": "twenty", "token": TOKEN, "base_url": crm.url}
    response = user.stack.call("POST", "/api/crm/connections", body, Authorization=user.token)
    assert response.status == 201, response.body


def popup_of_ada(user: BrowserUser) -> Page:
    company = create_company(user.stack)
    return user.open_popup_on(user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace"))


def test_a_person_is_pushed_after_the_reveal_and_exists_once(user: BrowserUser, crm: FakeTwenty) -> None:
    connect(user, crm)
    user.sign_in()
    popup = popup_of_ada(user)
    push = popup.get_by_role("button", name="Push to Twenty")
    expect(popup.get_by_role("button", name="Reveal e-mail")).to_be_visible()
    expect(push).to_have_count(0)

    popup.get_by_role("button", name="Reveal e-mail").click()
    push.click()
    card = popup.get_by_role("region", name="CRM")
    expect(card.get_by_text("Created in Twenty")).to_be_visible()
    push.click()

    expect(card.get_by_text("Twenty has all of it already")).to_be_visible()
    assert len(crm.people) == 1
    expect(popup.locator("header")).to_contain_text("99 credits")


def test_nothing_moves_when_the_card_comes(user: BrowserUser, crm: FakeTwenty) -> None:
    connect(user, crm)
    user.sign_in()
    popup = popup_of_ada(user)
    popup.get_by_role("button", name="Reveal e-mail").click()
    card = popup.get_by_role("region", name="CRM")
    expect(card).to_be_visible()
    with user.proxy.holding("/api/crm/connections"):
        popup = user.click_icon(user.tabs()[0])
        expect(popup.get_by_role("region", name="E-mail").get_by_role("link")).to_be_visible()
        before = layout(popup)

    expect(popup.get_by_role("region", name="CRM")).to_be_visible()
    assert layout(popup)[: len(before)] == before


def test_a_workspace_without_a_crm_sees_no_card(user: BrowserUser) -> None:
    user.sign_in()
    popup = popup_of_ada(user)

    popup.get_by_role("button", name="Reveal e-mail").click()

    expect(popup.get_by_role("region", name="E-mail").get_by_role("link")).to_be_visible()
    expect(popup.get_by_role("region", name="CRM")).to_have_count(0)
