"""Takes the screenshots of the pages for the documentation; pytest does not collect this file.

python3 dev.py test -p no:randomly tests/pages/take_page_pictures.py
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from e2e_stack import ROOT
from fake_crms import FakeHubSpot
from page_browser_support import PageBrowser, sign_in
from playwright.sync_api import Page, expect
from salesperson_support import walk, write_prospects
from test_salesperson_walk import browser, crm, is_read  # noqa: F401 -- fixtures

PICTURES = ROOT / "docs" / "pictures"
SIZE = {"width": 1100, "height": 780}


def test_pictures(browser: PageBrowser, crm: FakeHubSpot, tmp_path: Path) -> None:  # noqa: F811 -- fixtures
    prospects = write_prospects(tmp_path / "prospects.csv")

    with browser.visit(**SIZE) as page:
        for view in walk(page, prospects, partial(is_read, browser)):
            page.evaluate("scrollTo(0, 0)")
            _screenshot(page, view)
        page.goto("/usage")
        _screenshot(page, "usage")
        page.goto("/")
        page.get_by_role("button", name="Hide").click()
        expect(page.get_by_text("First steps")).to_have_count(0)
        _screenshot(page, "home")
    with browser.visit(width=390, height=780) as page:
        sign_in(page)
        _screenshot(page, "home-phone")
    with browser.visit(**SIZE, color_scheme="dark") as page:
        sign_in(page, path="/contacts")
        _screenshot(page, "contacts-dark")


def _screenshot(page: Page, name: str) -> None:
    """Write a screenshot of what a window shows, without the caret and without a hovered element."""
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=PICTURES / f"page-{name}.png")
