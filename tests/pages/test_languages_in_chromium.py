"""The pages in each language in a real Chromium: title, date, number and plural, and nothing is cut off."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from e2e_stack import PASSWORD, Stack
from page_browser_support import FIND_CUT_OFF, PageBrowser, assert_accessible, create_operator
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.slow

OPERATOR = "olive.languages@customer.example"
EXPECTED = {
    "de-AT": ("Konto", r"\d\d\.\d\d\.\d{4}, \d\d:\d\d UTC", r"[\d.]+ Credits"),
    "fr-FR": ("Compte", r"\d{1,2} \S+ \d{4}, \d\d:\d\d UTC", r"[\d\s]+ crédits"),
    "es-MX": ("Cuenta", r"\d{1,2} \S+ \d{4}, \d{1,2}:\d\d UTC", r"[\d.]+ créditos"),
}
PHONE = 390
VISITED = ("/account", "/contacts", "/history", "/keys", "/account/two-factor")


@pytest.fixture(scope="module")
def browser(chromium: Browser, service: Stack) -> PageBrowser:
    """A browser, and the service with an operator."""
    create_operator(service, OPERATOR)
    return PageBrowser(chromium, service)


@pytest.mark.parametrize("locale", EXPECTED)
def test_pages_are_in_the_language_of_the_browser(browser: PageBrowser, locale: str) -> None:
    title, moment, credits = EXPECTED[locale]

    with browser.visit(locale=locale) as page:
        _sign_in(browser, page)
        page.goto(f"{browser.stack.base_url}/account")

        expect(page.locator("html")).to_have_attribute("lang", locale[:2])
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        expect(page.locator(".credits").first).to_have_text(re.compile(credits))
        expect(page.locator("td.time").first).to_have_text(re.compile(moment))
        assert_accessible(page)
        _picture(page, f"account-{locale}")


@pytest.mark.parametrize("locale", EXPECTED)
def test_nothing_is_cut_off_on_a_phone(browser: PageBrowser, locale: str) -> None:
    with browser.visit(locale=locale, width=PHONE) as page:
        page.goto(f"{browser.stack.base_url}/privacy")
        _picture(page, f"privacy-{locale}")
        assert page.evaluate(FIND_CUT_OFF) == []
        _sign_in(browser, page)
        for path in VISITED:
            page.goto(browser.stack.base_url + path)
            _picture(page, f"phone{path.replace('/', '-')}-{locale}")
            assert page.evaluate(FIND_CUT_OFF) == [], path


def test_the_language_is_chosen_before_the_sign_in(browser: PageBrowser) -> None:
    with browser.visit(locale="en-GB") as page:
        page.goto(f"{browser.stack.base_url}/sign-in")
        page.get_by_role("button", name="Français").click()

        expect(page.get_by_role("heading", level=1)).to_have_text("Se connecter")
        expect(page.get_by_role("button", name="Français")).to_have_attribute("aria-current", "true")
        _picture(page, "chosen")


def _sign_in(browser: PageBrowser, page: Page) -> None:
    """Sign in by the names of the fields, which are the same in every language."""
    page.goto(f"{browser.stack.base_url}/sign-in")
    page.locator("[name=email]").fill(OPERATOR)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("form[action='/sign-in'] button").click()
    expect(page.locator("details.account")).to_be_visible()


def _picture(page: Page, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
