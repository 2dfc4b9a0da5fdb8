"""The side panel keeps its content while the user opens other pages."""

from __future__ import annotations

from contextlib import suppress

import pytest
from chromium_support import BrowserUser
from company_support import Company, create_company
from playwright.sync_api import Error, Page, expect


def open_side_panel_from(user: BrowserUser, popup: Page) -> Page:
    """Press the popup's button for the side panel, which closes the popup; return the panel."""
    with (
        popup.expect_event("close"),
        user.context.expect_page(lambda page: page.url.endswith("panel.html?side")) as opened,
        suppress(Error),  # the popup may be closed before the click is confirmed; its effects are awaited
    ):
        popup.get_by_role("button", name="Open in the side panel").click()
    panel = opened.value
    panel.wait_for_load_state()
    return panel


def shows(panel: Page, company: Company) -> None:
    expect(panel.get_by_role("heading", level=1)).to_have_text(company.name)
    expect(panel.get_by_role("listitem")).to_have_count(3)


def test_the_side_panel_shows_the_popups_view_and_stays_open(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(company.website)

    panel = open_side_panel_from(user, popup)

    shows(panel, company)
    expect(panel.locator("header")).to_contain_text("100 credits")
    expect(panel.locator("main")).to_contain_text("To look up another page, click the toolbar icon on it.")
    expect(panel.get_by_role("button", name="Open in the side panel")).to_have_count(0)


def test_the_side_panel_opened_from_a_person_shows_that_person(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    popup = user.open_popup_on(company.website)
    popup.get_by_role("button", name="Ada Lovelace").click()
    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")

    panel = open_side_panel_from(user, popup)

    expect(panel.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    panel.get_by_role("button", name="Back").click()
    shows(panel, company)


def test_an_open_side_panel_shows_the_person_from_which_it_is_opened_again(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    panel = open_side_panel_from(user, user.open_popup_on(company.website))
    shows(panel, company)
    popup = user.click_icon(user.tabs()[0])
    popup.get_by_role("button", name="Ada Lovelace").click()
    expect(popup.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")

    with suppress(Error):
        popup.get_by_role("button", name="Open in the side panel").click()

    expect(panel.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")


@pytest.mark.parametrize("width", [280, 360])
def test_the_header_of_a_narrow_side_panel_is_one_line(user: BrowserUser, width: int) -> None:
    user.sign_in()
    panel = user.open_panel()
    panel.set_viewport_size({"width": width, "height": 600})
    expect(panel.get_by_role("button", name="Settings")).to_be_visible()

    tops = panel.locator("#header .icon-button:visible").evaluate_all(
        "all => all.map((one) => one.offsetTop)"
    )

    assert len(tops) == 2
    assert len(set(tops)) == 1


def test_the_side_panel_keeps_its_content_and_sends_nothing_when_the_user_opens_other_pages(
    user: BrowserUser,
) -> None:
    company, other = create_company(user.stack), create_company(user.stack)
    user.sign_in()
    panel = open_side_panel_from(user, user.open_popup_on(company.website))
    shows(panel, company)
    panel.wait_for_load_state("networkidle")
    sent = len(user.proxy.api_requests())

    user.visit(other.website)
    second = user.context.new_page()
    second.goto("http://www.elsewhere.test/")
    second.bring_to_front()

    shows(panel, company)
    assert len(user.proxy.api_requests()) == sent
    panel.reload()
    shows(panel, company)


def test_the_side_panel_shows_the_page_whose_icon_was_clicked(user: BrowserUser) -> None:
    company, other = create_company(user.stack), create_company(user.stack)
    user.sign_in()
    panel = open_side_panel_from(user, user.open_popup_on(company.website))
    shows(panel, company)

    popup = user.open_popup_on(other.website)

    shows(panel, other)
    shows(popup, other)
    popup.close()
    shows(panel, other)


def test_the_side_panel_reveals_and_saves_without_the_popup(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    panel = open_side_panel_from(user, user.open_popup_on(company.website))

    panel.get_by_role("button", name="Ada Lovelace").click()
    panel.get_by_role("button", name="Reveal e-mail").click()

    expect(panel.get_by_role("link", name=company.emails["Ada"])).to_be_visible()
    expect(panel.locator("header")).to_contain_text("99 credits")
    panel.get_by_text("Save this profile").click()
    panel.get_by_label("List", exact=True).fill("From the side")
    panel.get_by_role("button", name="Save", exact=True).click()
    expect(panel.get_by_text("Saved in From the side")).to_be_visible()


def test_a_reveal_in_the_popup_updates_the_side_panel_at_once(user: BrowserUser) -> None:
    company = create_company(user.stack)
    user.sign_in()
    url = user.serve_profile(company.profiles["Ada"].rpartition("/")[2], "Ada Lovelace")
    panel = open_side_panel_from(user, user.open_popup_on(url))
    expect(panel.get_by_role("button", name="Reveal e-mail")).to_be_visible()
    popup = user.click_icon(user.tabs()[0])

    popup.get_by_role("button", name="Reveal e-mail").click()

    for page in (popup, panel):
        expect(page.get_by_role("link", name=company.emails["Ada"])).to_be_visible()
        expect(page.locator("header")).to_contain_text("99 credits")
    assert len(user.proxy.api_requests("/api/ext/reveal/email")) == 1


def test_in_the_side_panel_a_browser_page_is_nothing_to_look_up(user: BrowserUser) -> None:
    user.sign_in()

    panel = open_side_panel_from(user, user.click_icon(user.visit("chrome://version/")))

    expect(panel.get_by_role("heading")).to_have_text("Nothing to look up here")
    expect(panel.locator("main")).to_contain_text("Click the toolbar icon on a page")


def test_a_profile_is_not_read_from_another_page_opened_in_its_tab(user: BrowserUser) -> None:
    user.sign_in()
    first = user.serve_profile("left-behind-one", "First Person", "Baker")
    second = user.serve_profile("left-behind-two", "Second Person", "Butcher")
    panel = open_side_panel_from(user, user.open_popup_on(first))
    expect(panel.get_by_role("heading", level=1)).to_have_text("First Person")
    user.visit(second)

    panel.get_by_role("button", name="History").click()
    panel.get_by_role("button", name="Back").click()

    expect(panel.get_by_text("Not known yet", exact=True)).to_be_visible()
    expect(panel.locator("body")).not_to_contain_text("Second Person")
    expect(panel.locator("body")).not_to_contain_text("Butcher")
    assert not [
        sent for sent in user.proxy.api_requests() if "Second" in sent.text or "left-behind-two" in sent.text
    ]
