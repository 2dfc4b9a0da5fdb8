"""A salesperson enriches in the browser those prospects of a list whom the CRM lacks, and pushes them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from e2e_stack import running
from fake_crms import FakeHubSpot
from local_servers import empty_database
from page_browser_support import OPERATOR, PageBrowser, create_operator, launch
from playwright.sync_api import Playwright
from pytest_httpserver import HTTPServer
from salesperson_support import (
    FOUND,
    IN_CRM,
    UNKNOWN,
    import_demo,
    people_in_hubspot,
    walk,
    write_prospects,
)
from sqlalchemy import select

from app.features.crm.index.readings import CrmReading

pytestmark = pytest.mark.release


@pytest.fixture
def crm() -> Iterator[FakeHubSpot]:
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        portal = FakeHubSpot(server, people_in_hubspot(), account="4242")
        portal.owners = {"7": ("Kim", "Lee")}
        yield portal


@pytest.fixture
def browser(
    playwright: Playwright, crm: FakeHubSpot, tmp_path: Path, worker_id: str
) -> Iterator[PageBrowser]:
    """A browser, and a running service with the demo's people and a salesperson with 100 credits."""
    with ExitStack() as stop:
        chromium = launch(playwright)
        stop.callback(chromium.close)
        url = stop.enter_context(empty_database(tmp_path, f"walk_{worker_id}"))
        settings = {
            "OPERATORS": OPERATOR,
            "WEBHOOK_NETWORKS": "127.0.0.1/32",
            "CRM_HUBSPOT_BASE_URL": crm.url,
        }
        stack = stop.enter_context(running(tmp_path, url, WEB_CONCURRENCY="1", **settings))
        create_operator(stack)
        import_demo(stack)
        yield PageBrowser(chromium, stack)


def test_a_list_of_prospects_becomes_people_in_the_crm(
    browser: PageBrowser, crm: FakeHubSpot, tmp_path: Path
) -> None:
    prospects = write_prospects(tmp_path / "prospects.csv")

    with browser.visit() as page:
        for view in walk(page, prospects, partial(is_read, browser)):
            if view == "result":
                with page.expect_download() as download:
                    page.get_by_role("link", name="Download the result").click()
                result = download.value.path().read_text(encoding="utf-8-sig")

    rows = list(csv.DictReader(io.StringIO(result)))
    assert [(row["Full name"], row["Result credits"]) for row in rows] == [
        *((name, "0" if name == IN_CRM else "1") for name in FOUND),
        (UNKNOWN, "0"),
    ]
    names = [f"{person['firstname']} {person['lastname']}" for person in crm.people.values()]
    assert sorted(names) == sorted(FOUND)  # nobody twice
    assert {person["email"] for person in crm.people.values()} == {
        *(row["Found email"] for row in rows if row["Found email"]),
        "ethan.rivera@northlight-optics.example",
    }


def is_read(browser: PageBrowser) -> bool:
    """Return whether a CRM was read to its end."""
    with browser.stack.database.reading() as session:
        return session.scalar(select(CrmReading.finished_at)) is not None
