"""The popup's window: the same width in every view, and a small header at 200 % zoom."""

from __future__ import annotations

from chromium_support import BrowserUser
from company_support import add_employees, create_company
from playwright.sync_api import Page, expect
from polling import wait_until

EMPLOYEES = 12
POPUP_AT_200_PERCENT = {"width": 400, "height": 300}  # Chrome's largest popup, 800 by 600, in CSS pixels
MAX_HEADER_SHARE = 0.15


def test_the_popup_has_the_same_width_in_every_view(user: BrowserUser) -> None:
    company = create_company(user.stack)
    add_employees(user.stack, company, *(f"Person Number{number}" for number in range(EMPLOYEES)))
    user.sign_in()
    popup = user.open_popup_on(company.website)
    expect(popup.locator("li")).to_have_count(3 + EMPLOYEES)
    assert popup.evaluate("document.documentElement.scrollHeight > innerHeight")
    width = settled_width(popup)

    for name, text in (
        ("History", "Nothing has been revealed yet"),
        ("Settings", "Sign out"),
        ("Back", company.name),
        ("Cleo Clarke", "None known yet"),
        ("Back", company.name),
    ):
        popup.get_by_role("button", name=name).click()
        expect(popup.locator("main")).to_contain_text(text)
        assert settled_width(popup) == width, name
    popup.close()
    for page, text in (
        ("about:blank", "Nothing to look up here"),
        ("http://no.test/", "No company is known"),
    ):
        popup = user.open_popup_on(page)
        expect(popup.locator("main")).to_contain_text(text)
        assert settled_width(popup) == width, page
        popup.close()


def test_at_200_percent_the_header_takes_a_seventh_of_the_height_at_most(user: BrowserUser) -> None:
    user.sign_in()
    panel = user.context.new_page()
    panel.set_viewport_size(POPUP_AT_200_PERCENT)
    panel.goto(f"chrome-extension://{user.extension_id}/panel.html")
    expect(panel.get_by_text("100 credits")).to_be_visible()

    panel.get_by_role("button", name="Settings").click()
    expect(panel.get_by_role("button", name="Back")).to_be_visible()

    header = panel.evaluate("document.getElementById('header').offsetHeight")
    assert header <= MAX_HEADER_SHARE * POPUP_AT_200_PERCENT["height"]


def settled_width(popup: Page) -> int:
    """Return the window's width once it no longer changes."""
    widths: list[int] = []

    def is_settled() -> bool:
        widths.append(popup.evaluate("innerWidth"))
        return len(widths) > 3 and len(set(widths[-4:])) == 1

    wait_until(is_settled)
    return widths[-1]
