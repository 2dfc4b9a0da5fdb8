"""The pages in a real Chromium: accessible, on every screen, by keyboard, and without JavaScript."""

from __future__ import annotations

from typing import Any

import pytest
from e2e_stack import PASSWORD, Stack
from page_browser_support import (
    ASYNC,
    DESCRIBE_FOCUS,
    FIND_CUT_OFF,
    FIND_SMALL,
    OPERATORS,
    PageBrowser,
    assert_accessible,
    create_operator,
    sign_in,
)
from playwright.sync_api import Browser, Page, expect
from test_who_may_see_what import PAGES

pytestmark = pytest.mark.slow
OPERATOR = OPERATORS["pages"]
PATHS = ["/"] + [
    path
    for method, path in (route.split(" ") for route in PAGES)
    if method == "GET"
    and "<" not in path
    and not path.startswith("/sign-in/")
    and not path.endswith(("/download", ".csv", ".xlsx"))
    and not path.startswith("/manual")  # Zensical made it
]
PHONE, ZOOMED = 390, 640  # CSS pixels: a phone, and 1280 at 200 %
SLOW = "https://www.linkedin.com/in/sandbox-slow"
SEARCH = "Name, company, website, e-mail, phone or profile URL"
MAX_TAB_PRESSES = 60
FIND_WIDE_TABLES = """() => [...document.querySelectorAll(".table")]
  .filter((table) => table.scrollWidth > table.clientWidth + 1).length > 0"""
FIND_WITHOUT_RING = """() => [...document.querySelectorAll(
    "a, button, input, select, summary, textarea, [tabindex='0']")]
  .filter((node) => {
    node.focus();
    if (node !== document.activeElement) return false;
    const style = getComputedStyle(node);
    return style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2;
  })
  .map((node) => node.outerHTML.slice(0, 150))"""
COUNT_PRIMARY = """() => [...document.querySelectorAll("main .primary")]
  .filter((node) => node.checkVisibility()).length"""


@pytest.fixture(scope="module")
def browser(chromium: Browser, service: Stack) -> PageBrowser:
    """A browser, and the service with an operator who has asked for something."""
    create_operator(service, OPERATOR)
    _ask_for_something(service)
    return PageBrowser(chromium, service)


@pytest.fixture(scope="module")
def signed_in(browser: PageBrowser) -> dict[str, Any]:
    """The cookies of a signed-in browser."""
    with browser.visit() as page:
        sign_in(page, email=OPERATOR)
        expect(page.get_by_role("heading", name="Acme Sales")).to_be_visible()
        return dict(page.context.storage_state())


def _ask_for_something(stack: Stack) -> None:
    """Fill the lists: a found address, a request in the history, a key, and calls of a provider."""
    login = stack.call("POST", "/api/ext/login", {"email": OPERATOR, "password": PASSWORD})
    token = {"Authorization": f"Bearer {login.body['access_token']}"}
    for name in ("found", "not-found"):
        subject = {"linkedin_url": f"https://www.linkedin.com/in/sandbox-{name}"}
        assert stack.call("POST", "/api/ext/reveal/email", {"subject": subject}, **token).status == 200
    profile = {"linkedin_url": "https://www.linkedin.com/in/sandbox-found", "full_name": "Sam Found"}
    stack.call("POST", "/api/ext/linkedin-save", {"profile": profile, "list": "Prospects"}, **token)
    stack.call("POST", "/api/keys", {"name": "CRM sync"}, **token)


@pytest.mark.release
@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_accessible_in_light_and_dark_on_every_screen(
    browser: PageBrowser, signed_in: dict[str, Any], path: str
) -> None:
    with browser.visit(storage_state=signed_in) as page:
        response = page.goto(path)
        assert_accessible(page)
        page.emulate_media(color_scheme="dark")
        for width in (PHONE, ZOOMED):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate(FIND_CUT_OFF) == []
        page.set_viewport_size({"width": PHONE, "height": 700})
        assert_accessible(page)

        assert response is not None
        assert response.status == 200
        assert page.evaluate(FIND_SMALL) == []


@pytest.mark.release
@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_one_title_one_main_action_and_shows_the_focus_of_all_controls(
    browser: PageBrowser, signed_in: dict[str, Any], path: str
) -> None:
    with browser.visit(storage_state=signed_in) as page:
        page.goto(path)
        page.keyboard.press("Tab")  # the ring is that of the keyboard

        assert page.evaluate(FIND_WITHOUT_RING) == []
        assert page.get_by_role("heading", level=1).count() == 1
        assert page.evaluate(COUNT_PRIMARY) <= 1
        assert not page.evaluate(FIND_WIDE_TABLES)


@pytest.mark.parametrize("path", ["/contacts", "/lists", "/history"])
def test_an_entry_of_a_list_is_accessible(browser: PageBrowser, signed_in: dict[str, Any], path: str) -> None:
    with browser.visit(storage_state=signed_in) as page:
        page.goto(path)
        page.locator("main table a").first.click()
        expect(page).not_to_have_url(browser.stack.base_url + path)

        assert_accessible(page)
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": PHONE, "height": 700})
        assert_accessible(page)
        assert page.evaluate(FIND_CUT_OFF) == []


def test_results_receipts_and_errors_are_accessible(browser: PageBrowser, signed_in: dict[str, Any]) -> None:
    with browser.visit(storage_state=signed_in, extra_http_headers=ASYNC) as page:
        _search(page, "https://www.linkedin.com/in/sandbox-found")
        assert_accessible(page)
        _search(page, SLOW)
        assert_accessible(page)
        with browser.stack.suspended_workers():
            page.get_by_role("button", name="Find e-mail").click()
            expect(page.get_by_text("You can close this page")).to_be_visible()
            assert_accessible(page)
        expect(page.locator("bdi", has_text="slow@sandbox.example")).to_be_visible()
        expect(page.locator("#announcements")).to_have_text("Finished: Found")
        assert_accessible(page)
        _search(page, "not a profile")
        expect(page.get_by_text("Nobody whom this may mean is stored")).to_be_visible()
        assert_accessible(page)
        page.goto("/nothing/here")
        assert_accessible(page)


def test_a_reveal_without_javascript_shows_its_progress_and_then_the_number(browser: PageBrowser) -> None:
    with browser.visit(java_script_enabled=False, extra_http_headers=ASYNC) as page:
        sign_in(page, email=OPERATOR)
        _search(page, SLOW)
        with browser.stack.suspended_workers():
            page.get_by_role("button", name="Find phone").click()
            expect(page.get_by_text("You can close this page")).to_be_visible()

        expect(page.get_by_text("+1 202-555-0143", exact=True)).to_be_visible()

        expect(page.get_by_text("1 credit", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Copy")).to_have_count(0)
        page.locator("summary", has_text="Olive Example").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_text("You are signed out")).to_be_visible()


def test_the_api_documentation_works_under_its_content_policy(browser: PageBrowser) -> None:
    with browser.visit() as page:
        page.set_default_timeout(60_000)  # it draws every endpoint: seconds on a busy machine
        page.goto("/docs")
        page.locator(".opblock-summary", has_text="/api/ext/sign-in-options").click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute").click()

        expect(page.locator(".live-responses-table .response .response-col_status").first).to_contain_text(
            "200"
        )
        assert page.evaluate("getComputedStyle(document.body).margin") == "0px"


def test_searching_and_signing_out_work_by_keyboard_with_a_visible_focus(browser: PageBrowser) -> None:
    with browser.visit() as page:
        page.goto("/")
        page.keyboard.press("Tab")
        assert page.evaluate(DESCRIBE_FOCUS)["name"] == "Skip to the content"
        for label, text in (("E-mail", OPERATOR), ("Password", PASSWORD)):
            _tab_to(page, label)
            page.keyboard.type(text)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Acme Sales")).to_be_visible()

        _tab_to(page, SEARCH)
        page.keyboard.type("Ada Unknown at acme.example")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="See what it costs")).to_be_visible()
        _tab_to(page, "Olive Example")
        page.keyboard.press("Enter")
        _tab_to(page, "Sign out")
        page.keyboard.press("Enter")

        expect(page.get_by_text("You are signed out")).to_be_visible()


def test_the_skip_link_leads_to_the_content(browser: PageBrowser, signed_in: dict[str, Any]) -> None:
    with browser.visit(storage_state=signed_in) as page:
        page.goto("/history")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")

        _tab_to(page, "Status", most=2)


def _search(page: Page, url: str) -> None:
    page.goto("/search")
    page.get_by_label(SEARCH).fill(url)
    page.get_by_role("button", name="Search").click()


def _tab_to(page: Page, name: str, *, most: int = MAX_TAB_PRESSES) -> None:
    """Press Tab until the control with this name is focused; each control on the way shows its focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        focus = page.evaluate(DESCRIBE_FOCUS)
        assert focus["isPage"] or focus["ring"] >= 2, focus
        if focus["name"] == name:
            return
    pytest.fail(f"Tab does not reach {name}")


def test_the_navigation_is_a_menu_on_a_phone_that_needs_no_script(
    browser: PageBrowser, signed_in: dict[str, Any]
) -> None:
    with browser.visit(storage_state=signed_in, width=PHONE, java_script_enabled=False) as page:
        page.goto("/")
        expect(page.get_by_role("link", name="Contacts", exact=True)).to_be_hidden()
        page.get_by_role("button", name="Menu").click()
        page.get_by_text("Administration", exact=True).click()
        page.get_by_role("link", name="Ledger").click()
        expect(page.get_by_role("heading", name="Ledger")).to_be_visible()
        page.get_by_role("button", name="Menu").click()

        expect(page.get_by_role("link", name="Ledger")).to_have_attribute("aria-current", "page")


def test_a_row_of_a_table_is_a_card_on_a_phone(browser: PageBrowser, signed_in: dict[str, Any]) -> None:
    with browser.visit(storage_state=signed_in, width=PHONE) as page:
        page.goto("/admin/ledger")
        cell = page.get_by_role("cell", name="Receipt").first
        label = cell.evaluate("cell => getComputedStyle(cell, '::before').content")

        box, row = cell.bounding_box(), cell.locator("..").bounding_box()

    assert label == '"Request or reason"'
    assert box is not None
    assert row is not None
    assert (box["width"] > 250, row["width"] <= PHONE) == (True, True)


def test_the_head_of_a_table_stays_in_view(browser: PageBrowser, signed_in: dict[str, Any]) -> None:
    with browser.visit(storage_state=signed_in, height=300) as page:
        page.goto("/admin/audit-log")
        page.locator("tbody tr").nth(5).scroll_into_view_if_needed()
        page.mouse.wheel(0, 120)

        expect(page.get_by_role("columnheader", name="Action")).to_be_in_viewport()


@pytest.mark.parametrize("width", [1200, 1280])
def test_no_table_is_cut_off_where_its_head_stays_in_view(
    browser: PageBrowser, signed_in: dict[str, Any], width: int
) -> None:
    paths = ["/contacts", "/history", "/admin/jobs", "/admin/ledger", "/admin/audit-log", "/keys", "/usage"]

    with browser.visit(storage_state=signed_in, width=width) as page:
        cut_off = [path for path in paths if page.goto(path) and page.evaluate(FIND_WIDE_TABLES)]

    assert cut_off == []
