"""The popup's window: one width wherever one goes, and a header that leaves room at 200 % zoom."""

from __future__ import annotations

from chromium_support import Person, until
from people_support import company_of_three, employ
from playwright.sync_api import Page, expect

MANY = 12
POPUP_AT_200_PERCENT = {"width": 400, "height": 300}  # Chrome's largest popup, 800 by 600, in CSS pixels
MOST_OF_THE_HEIGHT = 0.15


def test_the_popup_is_as_wide_wherever_one_goes(person: Person) -> None:
    company = company_of_three(person.stack)
    employ(person.stack, company, *(f"Person Number{number}" for number in range(MANY)))
    person.sign_in()
    popup = person.look_at(company.website)
    expect(popup.locator("li")).to_have_count(3 + MANY)
    assert popup.evaluate("document.documentElement.scrollHeight > innerHeight")
    width = settled_width(popup)

    for name, there in (
        ("History", "Nothing was revealed so far"),
        ("Settings", "Sign out"),
        ("Back", company.name),
        ("Cleo Clarke", "None known yet"),
        ("Back", company.name),
    ):
        popup.get_by_role("button", name=name).click()
        expect(popup.locator("main")).to_contain_text(there)
        assert settled_width(popup) == width, name
    popup.close()
    for page, there in (
        ("about:blank", "Nothing to look up here"),
        ("http://no.test/", "No company is known"),
    ):
        popup = person.look_at(page)
        expect(popup.locator("main")).to_contain_text(there)
        assert settled_width(popup) == width, page
        popup.close()


def test_at_200_percent_the_header_takes_a_seventh_of_the_height_at_most(person: Person) -> None:
    person.sign_in()
    panel = person.context.new_page()
    panel.set_viewport_size(POPUP_AT_200_PERCENT)
    panel.goto(f"chrome-extension://{person.id}/panel.html")
    expect(panel.get_by_text("100 credits")).to_be_visible()

    panel.get_by_role("button", name="Settings").click()
    expect(panel.get_by_role("button", name="Back")).to_be_visible()

    header = panel.evaluate("document.getElementById('bar').offsetHeight")
    assert header <= MOST_OF_THE_HEIGHT * POPUP_AT_200_PERCENT["height"]


def settled_width(popup: Page) -> int:
    """Give the window's width once it has been the same for a while."""
    seen: list[int] = []

    def is_settled() -> bool:
        seen.append(popup.evaluate("innerWidth"))
        return len(seen) > 3 and len(set(seen[-4:])) == 1

    until(is_settled)
    return seen[-1]
