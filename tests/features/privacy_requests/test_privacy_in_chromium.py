"""/privacy in a real Chromium, with the service's own workers and a real mail server on loopback."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from e2e_stack import running
from inbox_support import Inbox, running_inbox
from jobs_support import a_workspace
from local_servers import empty_database
from page_browser_support import FIND_CUT_OFF, FIND_SMALL, PageBrowser, assert_accessible
from playwright.sync_api import Browser, Page, expect
from polling import wait_until
from stored_support import ADA_URL, a_company, a_contact, a_phone, an_email, own

pytestmark = pytest.mark.release
NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Walk:
    """A browser with the service, and the mailbox of a person."""

    browser: PageBrowser
    inbox: Inbox

    def prove(self, page: Page, address: str) -> None:
        """Ask for a code, and enter it."""
        count = len(self.inbox.messages)
        page.goto("/privacy")
        page.get_by_label("Your e-mail address").fill(address)
        page.get_by_role("button", name="Send the code").click()
        wait_until(lambda: len(self.inbox.messages) > count, seconds=30)
        page.get_by_label("Code from the message").fill(self.inbox.code())
        page.get_by_role("button", name="Show my data").click()
        expect(page.get_by_text("You have proved the address")).to_be_visible()


@pytest.fixture(scope="module")
def walk(chromium: Browser, tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Walk]:
    """A running service with a mail server."""
    with ExitStack() as stop:
        inbox = stop.enter_context(running_inbox())
        folder = tmp_path_factory.mktemp("privacy")
        url = stop.enter_context(empty_database(folder, f"privacy_{worker_id}"))
        variables = {
            "SMTP_URL": inbox.url,
            "MAIL_FROM": "privacy@lookup.example",
            "PRIVACY_CONTACT": "dpo@lookup.example",
        }
        stack = stop.enter_context(running(folder, url, WEB_CONCURRENCY="1", **variables))
        yield Walk(PageBrowser(chromium, stack), inbox)


@pytest.fixture
def address(walk: Walk) -> str:
    """The address of a person whom the service stores, and whose e-mails a workspace revealed."""
    number = next(NUMBERS)
    address = f"ada{number}@acme.com"
    with walk.browser.stack.database.transaction() as session:
        ada = a_contact(
            session,
            a_company(session, name=f"Acme {number}", domain=f"acme{number}.com"),
            linkedin_url=f"{ADA_URL}-{number}",
            title="Engineer",
            city="London",
            country="GB",
        )
        an_email(session, ada, address)
        a_phone(session, ada, f"+1617555{1000 + number}")
        own(session, a_workspace(session), ada, "email")
    return address


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_the_walk_of_a_person_is_accessible_at_every_step(
    walk: Walk, address: str, width: int, scheme: str
) -> None:
    with walk.browser.visit(width=width, color_scheme=scheme, java_script_enabled=True) as page:
        page.goto("/privacy")
        assert_accessible(page)
        walk.prove(page, address)
        page.get_by_text("Correct", exact=True).first.click()

        assert_accessible(page)
        assert page.evaluate(FIND_CUT_OFF) == []
        assert page.evaluate(FIND_SMALL) == []


def test_without_scripts_a_person_corrects_and_erases_their_data(walk: Walk, address: str) -> None:
    with walk.browser.visit(java_script_enabled=False) as page:
        walk.prove(page, address)
        page.get_by_text("Correct", exact=True).first.click()
        page.get_by_label("Title").fill("Countess")
        page.get_by_role("button", name="Correct").click()
        expect(page.get_by_role("cell", name="Countess")).to_be_visible()
        page.get_by_label("Yes, erase it").check()
        page.get_by_role("button", name="Erase").click()

        expect(page.get_by_role("heading", name="Your data was erased")).to_be_visible()
