"""An address book from the file to the answer of a search, in a real Chromium with real processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from e2e_stack import running
from local_servers import empty_database
from page_browser_support import FIND_CUT_OFF, OPERATOR, PageBrowser, create_operator, sign_in
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.release
expect.set_options(timeout=30_000)  # a worker reads the file, on a busy machine
EXPORT = Path(__file__).parent / "exports" / "icloud.vcf"
PICTURES = os.environ.get("PICTURES")
"""A folder for pictures of the pages, if they are to be looked at."""


@pytest.fixture(scope="module")
def browser(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Iterator[PageBrowser]:
    with ExitStack() as stop:
        folder = tmp_path_factory.mktemp("address_books")
        url = stop.enter_context(empty_database(folder, f"address_books_{worker_id}"))
        stack = stop.enter_context(running(folder, url, OPERATORS=OPERATOR, WEB_CONCURRENCY="1"))
        create_operator(stack)
        yield PageBrowser(chromium, stack)


def test_an_export_is_added_read_and_answers_a_search(browser: PageBrowser) -> None:
    with browser.visit(width=390, height=700) as page:
        sign_in(page)
        page.goto("/address-books")
        page.get_by_label("A vCard or CSV file").set_input_files(EXPORT)
        page.get_by_role("button", name="Add", exact=True).click()

        row = page.get_by_role("row", name="icloud")
        expect(row).to_contain_text("Ready")
        expect(row.get_by_role("cell").nth(1)).to_have_text("2")
        problems = Axe().run(page).response["violations"]
        cut_off = page.evaluate(FIND_CUT_OFF)
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / "address-books.png", full_page=True)
        page.goto("/search")
        page.get_by_label("Name, company, website, e-mail, phone or profile URL").fill(
            "https://www.linkedin.com/in/ada-lovelace"
        )
        page.get_by_role("button", name="Search").click()

        expect(page.get_by_text("In your address book")).to_be_visible()
        expect(page.get_by_text("ada@acme.example")).to_be_visible()
        assert (problems, cut_off) == ([], [])
