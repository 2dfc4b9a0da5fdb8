"""A list from the file to the result in a real Chromium: with a closed tab, and without scripts."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from crm_index_support import a_crm, in_crm
from e2e_stack import running
from local_servers import empty_database
from page_browser_support import (
    FIND_CUT_OFF,
    FIND_SMALL,
    OPERATOR,
    PageBrowser,
    create_operator,
    sign_in,
)
from playwright.sync_api import Browser, Page, expect
from upload_support import a_list

pytestmark = pytest.mark.release
expect.set_options(timeout=30_000)  # workers read, price and enrich in turns, on a busy machine
PHONE = {"width": 390, "height": 700}
FOUND = ("Found Sandbox", "https://www.linkedin.com/in/sandbox-found", "sandbox.example", "met in May")
ROWS = [
    FOUND,
    ("Slow Sandbox", "https://www.linkedin.com/in/sandbox-slow", "sandbox.example", "=SUM(1)"),
    ("Not Found", "https://www.linkedin.com/in/sandbox-not-found", "sandbox.example", ""),
    FOUND,
    ("", "", "", "nobody"),
]
HEADER = ("Who", "LinkedIn", "Website", "Remark")
PICTURES = os.environ.get("PICTURES")
"""A folder for pictures of the pages, if they are to be looked at."""


@pytest.fixture(scope="module")
def browser(
    chromium: Browser, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Iterator[PageBrowser]:
    with ExitStack() as stop:
        folder = tmp_path_factory.mktemp("uploads")
        url = stop.enter_context(empty_database(folder, f"uploads_{worker_id}"))
        stack = stop.enter_context(running(folder, url, OPERATORS=OPERATOR, WEB_CONCURRENCY="1"))
        create_operator(stack)
        yield PageBrowser(chromium, stack)


@pytest.fixture(scope="module")
def signed_in(browser: PageBrowser) -> dict[str, Any]:
    with browser.visit() as page:
        sign_in(page)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        return dict(page.context.storage_state())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "prospects.csv"
    path.write_bytes(a_list(*ROWS, header=HEADER))
    return path


def test_a_list_goes_on_while_its_page_is_closed(
    browser: PageBrowser, signed_in: dict[str, Any], file: Path
) -> None:
    with browser.visit(storage_state=signed_in) as page:
        page.goto("/uploads")
        _look(page, "empty")
        page.get_by_label("A CSV file or an Excel workbook").set_input_files(file)
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_text("Ready to start", exact=True)).to_be_visible()
        _look(page, "proposed")
        page.get_by_role("row", name="Who").get_by_role("combobox").select_option("Full name")
        page.get_by_role("button", name="Save, and calculate the price").click()
        expect(page.get_by_text("Ready to start", exact=True)).to_be_visible()
        _look(page, "ready")
        page.get_by_label("Spend at most").fill("50")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_text("People finished")).to_be_visible()
        _look(page, "running")
        address = page.url

    with browser.visit(storage_state=signed_in) as page:
        page.goto(address)
        expect(page.get_by_text("Finished", exact=True)).to_be_visible()
        _look(page, "finished")
        with page.expect_download() as download:
            page.get_by_role("link", name="Download the result").click()
        rows = list(csv.reader(io.StringIO(download.value.path().read_text("utf-8-sig"))))
        page.goto("/uploads")
        _look(page, "list")

    assert download.value.suggested_filename == "prospects - result.csv"
    assert [row[4] for row in rows[1:]] == [
        "found@sandbox.example",
        "slow@sandbox.example",
        "",
        "found@sandbox.example",
        "",
    ]
    assert rows[2][3] == "=SUM(1)"
    assert [row[8] for row in rows[1:]] == ["1", "1", "0", "0", "0"]


def test_a_list_is_enriched_without_scripts(
    browser: PageBrowser, signed_in: dict[str, Any], file: Path
) -> None:
    file.write_bytes(a_list(ROWS[2], header=HEADER))  # the other test pays for those who are found
    with browser.visit(storage_state=signed_in, java_script_enabled=False) as page:
        page.goto("/uploads")
        page.get_by_label("A CSV file or an Excel workbook").set_input_files(file)
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_text("Ready to start", exact=True)).to_be_visible()
        page.get_by_role("button", name="Start").click()

        expect(page.get_by_role("link", name="Download the result")).to_be_visible()


def test_a_list_fills_only_what_the_crm_lacks(browser: PageBrowser, file: Path) -> None:
    member = "crm@acme.example"
    workspace_id = create_operator(browser.stack, member)
    with browser.stack.database.transaction() as session:
        has_none, has_address = ({"profiles": [url]} for _name, url, *_rest in ROWS[:2])
        in_crm(
            session, a_crm(session, workspace_id), has_none, has_address | {"emails": ["slow@home.example"]}
        )
    with browser.visit() as page:
        sign_in(page, email=member)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.goto("/uploads")
        page.get_by_label("A CSV file or an Excel workbook").set_input_files(file)
        page.get_by_role("button", name="Upload").click()
        sentence = "3 people: 2 in HubSpot (1 with an address), 1 to buy for at most 1 credit."
        expect(page.get_by_text(sentence)).to_be_visible()
        _look(page, "choices")
        maximum = page.get_by_label("Spend at most")
        expect(maximum).to_have_value("1")
        page.get_by_label("Enrich all").check()
        expect(maximum).to_have_value("3")
        maximum.fill("50")
        page.get_by_label("Fill only what is missing: 2 to buy for at most 2 credits").check()
        expect(maximum).to_have_value("50")
        maximum.fill("")
        page.get_by_label("Enrich all").check()
        page.get_by_label("Fill only what is missing").check()
        expect(maximum).to_have_value("2")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_text("Finished", exact=True)).to_be_visible()
        _look(page, "skipped")
        with page.expect_download() as download:
            page.get_by_role("link", name="Download the result").click()
        rows = list(csv.reader(io.StringIO(download.value.path().read_text("utf-8-sig"))))

    assert [row[7] for row in rows[1:]] == ["found", "skipped", "not_found", "found", "invalid"]


def _look(page: Page, name: str) -> None:
    """Check that the page is accessible in both themes and fits a phone; take a picture on request."""
    size = page.viewport_size
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # Playwright's literal
        violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        assert [(rule["id"], rule["nodes"][0]["html"]) for rule in violations] == []
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / f"{name}-{scheme}.png", full_page=True)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]  # Playwright's dictionary
    assert page.evaluate(FIND_CUT_OFF) == []
    assert page.evaluate(FIND_SMALL) == []
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}-phone.png", full_page=True)
    page.set_viewport_size(size)  # type: ignore[arg-type]  # as it was
    page.emulate_media(color_scheme="light")
