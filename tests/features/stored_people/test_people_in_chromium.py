"""The search for stored people in a real Chromium with real processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from e2e_stack import running
from local_servers import empty_database
from page_browser_support import (
    FIND_CUT_OFF,
    FIND_SMALL,
    OPERATOR,
    PageBrowser,
    assert_accessible,
    create_operator,
    sign_in,
)
from playwright.sync_api import Browser, Page, expect
from stored_support import a_company, a_contact, an_email, own

pytestmark = pytest.mark.release
PEOPLE = (
    ("Ada Lovelace", "CTO", "c_suite", "engineering", "GB"),
    ("Grace Hopper", "VP Sales", "vp", "sales", "US"),
    ("Mary Kenneth", "Leiterin Vertrieb", "head", "sales", "DE"),
)
PICTURES = os.environ.get("PICTURES")
"""A folder for pictures of the pages, if they are to be looked at."""


@pytest.fixture(scope="module")
def browser(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Iterator[PageBrowser]:
    with ExitStack() as stop:
        folder = tmp_path_factory.mktemp("people")
        url = stop.enter_context(empty_database(folder, f"people_{worker_id}"))
        stack = stop.enter_context(running(folder, url, OPERATORS=OPERATOR, WEB_CONCURRENCY="1"))
        workspace_id = create_operator(stack)
        with stack.database.transaction() as session:
            company = a_company(session)
            for name, title, seniority, department, country in PEOPLE:
                values = {
                    "title": title,
                    "seniority": seniority,
                    "department": department,
                    "country": country,
                }
                contact = a_contact(session, company, name, **values)
                an_email(session, contact, f"{name[:4].strip().lower()}@acme.com")
            own(session, workspace_id, contact, "email")
        yield PageBrowser(chromium, stack)


def test_people_are_searched_by_criteria_and_opened(browser: PageBrowser) -> None:
    with browser.visit() as page:
        sign_in(page)
        page.get_by_role("link", name="People", exact=True).click()
        page.locator("summary", has_text="Department").click()
        page.get_by_label("Sales 2").check()
        page.get_by_role("button", name="Search").click()
        expect(page.get_by_role("row")).to_have_count(3)
        expect(page.get_by_text("mary@acme.com", exact=True)).to_be_visible()
        _look(page, "people-light")
        assert_accessible(page)
        page.emulate_media(color_scheme="dark")
        _look(page, "people-dark")
        assert_accessible(page)
        page.set_viewport_size({"width": 390, "height": 700})
        _look(page, "people-phone")
        problems = (page.evaluate(FIND_CUT_OFF), page.evaluate(FIND_SMALL))
        page.get_by_role("button", name="Grace Hopper").click()

        expect(page.get_by_role("button", name="Reveal e-mail")).to_be_visible()
        assert problems == ([], [])


def _look(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)
