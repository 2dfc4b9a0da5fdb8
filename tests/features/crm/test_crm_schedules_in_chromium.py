"""A list of a CRM is kept fresh in a real Chromium: from the connection to the receipts of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from crm_schedule_support import a_person
from e2e_stack import running
from fake_crms import TOKEN, FakeTwenty
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
from polling import wait_until
from pytest_httpserver import HTTPServer
from sqlalchemy import select

from app.features.crm.index.readings import CrmReading

pytestmark = pytest.mark.release
expect.set_options(timeout=60_000)  # workers read the CRM and enrich in turns, on a busy machine
FILTER = "jobTitle[is]:NULL"
PICTURES = os.environ.get("PICTURES")
"""A folder for pictures of the pages, if they are to be looked at."""


@pytest.fixture
def crm() -> Iterator[FakeTwenty]:
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        yield FakeTwenty(server)


@pytest.fixture
def browser(chromium: Browser, tmp_path: Path, worker_id: str) -> Iterator[PageBrowser]:
    with ExitStack() as stop:
        url = stop.enter_context(empty_database(tmp_path, f"schedules_{worker_id}"))
        settings = {"OPERATORS": OPERATOR, "WEB_CONCURRENCY": "1", "WEBHOOK_NETWORKS": "127.0.0.1/32"}
        stack = stop.enter_context(running(tmp_path, url, **settings))
        create_operator(stack)
        yield PageBrowser(chromium, stack)


def test_an_admin_keeps_a_list_fresh_and_reads_the_receipts(browser: PageBrowser, crm: FakeTwenty) -> None:
    profile = {"primaryLinkUrl": "https://www.linkedin.com/in/sandbox-found"}
    crm.lists[FILTER] = [a_person(crm, 1, linkedinLink=profile), a_person(crm, 2)]
    with browser.visit() as page:
        sign_in(page, path="/crm")
        card = page.locator("section").filter(has=page.get_by_role("heading", name="Twenty"))
        card.get_by_label("Address of the server").fill(crm.url)
        card.get_by_label("Token").fill(TOKEN)
        card.get_by_role("button", name="Connect with a token").click()
        wait_until(lambda: _is_read(browser), 60)
        page.get_by_role("link", name="Schedules").click()
        _look(page, "none")
        page.get_by_label("List in Twenty").fill(FILTER)
        page.get_by_label("Name").fill("Without a title")
        page.get_by_label("Credits of a month at most").fill("1")
        page.get_by_role("button", name="Make the schedule").click()
        _look(page, "made")
        expect(page.get_by_text("It has not run yet")).to_be_visible()

        page.get_by_role("button", name="Run now").click()
        expect(page.get_by_text("The budget of this month is spent.").first).to_be_visible()
        expect(page.get_by_text("Finished", exact=True)).to_be_visible()
        _look(page, "stopped")
        page.get_by_role("table", name="Last runs").get_by_role("link").click()
        expect(page.get_by_text("left for the next run").first).to_be_visible()
        _look(page, "receipts")
        page.get_by_role("link", name="Without a title").click()
        page.get_by_role("link", name="All schedules").click()
        _look(page, "list")

    assert "found@sandbox.example" in str(crm.people)


def _is_read(browser: PageBrowser) -> bool:
    with browser.stack.database.reading() as session:
        return session.scalar(select(CrmReading.finished_at)) is not None


def _look(page: Page, name: str) -> None:
    """Check that the page is accessible in both themes and fits a phone; take a picture on request."""
    size = page.viewport_size
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert_accessible(page)
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"{name}-{scheme}.png", full_page=True)
    page.set_viewport_size({"width": 390, "height": 700})
    assert page.evaluate(FIND_CUT_OFF) == []
    assert page.evaluate(FIND_SMALL) == []
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}-phone.png", full_page=True)
    assert size is not None
    page.set_viewport_size(size)
