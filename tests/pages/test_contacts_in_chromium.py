"""The pages of contacts and lists in a real Chromium, on every screen, by keyboard and without JavaScript."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from e2e_stack import Stack
from page_browser_support import (
    FIND_CUT_OFF,
    FIND_SMALL,
    OPERATORS,
    PageBrowser,
    assert_accessible,
    create_operator,
    sign_in,
)
from playwright.sync_api import Browser, Page, expect
from stored_support import a_company, a_contact, a_phone, an_email, own

from app.engine.contacts.saved import contact_lists, saved_contacts
from app.infra import clock

pytestmark = pytest.mark.slow
OPERATOR = OPERATORS["contacts"]
LONG_NAMES = "olive.names@customer.example"
PHONE, ZOOMED = 390, 640  # CSS pixels: a phone, and 1280 at 200 %
PEOPLE = [
    ("Ada Lovelace", "Chief Engineer", "Analytical Engines", "analytical-engines.example"),
    ("Grace Hopper", "Rear Admiral", "Compiler Works", "compiler-works.example"),
    ("Katherine Johnson", "Research Mathematician", "Orbital Mechanics", "orbital.example"),
    ("Hedy Lamarr", "Inventor", "Frequency Hopping", "frequency-hopping.example"),
]
PICTURES = os.environ.get("PICTURES")
"""A folder; if given, the tests take pictures of what they see."""


@pytest.fixture(scope="module")
def browser(chromium: Browser, service: Stack) -> PageBrowser:
    """A browser, and the service with a workspace that owns four contacts."""
    _own_people(service, create_operator(service, OPERATOR))
    return PageBrowser(chromium, service)


@pytest.fixture(scope="module")
def signed_in(browser: PageBrowser) -> dict[str, Any]:
    """The cookies of a signed-in browser."""
    with browser.visit() as page:
        sign_in(page, path="/contacts", email=OPERATOR)
        expect(page.get_by_role("heading", name="Contacts", exact=True)).to_be_visible()
        return dict(page.context.storage_state())


def _own_people(
    stack: Stack, workspace_id: str, people: Sequence[tuple[str, str, str, str]] = PEOPLE
) -> None:
    with stack.database.transaction() as session:
        contacts = []
        for number, (name, title, company_name, domain) in enumerate(people):
            company = a_company(session, company_name, domain=domain)
            slug = name.lower().replace(" ", "-")
            url = f"https://www.linkedin.com/in/{slug}"
            contact = a_contact(session, company, name, title=title, linkedin_url=url)
            an_email(session, contact, f"{slug.replace('-', '.')}@{domain}")
            own(session, workspace_id, contact, "email")
            if number % 2:  # one of them must not be called
                a_phone(session, contact, f"+1202555010{number}").do_not_call = number == 1
                own(session, workspace_id, contact, "phone")
            contacts.append(contact)
        saved = saved_contacts.save(session, workspace_id, "acc_x", contacts[:2], now=clock.now())
        for row in saved.values():
            row.tags, row.note = ["conference", "engines"], "Met at the fair."
        contact_list, _ = contact_lists.ensure(session, workspace_id, "Prospects", now=clock.now())
        contact_lists.add_members(
            session, contact_list.id, [row.id for row in saved.values()], now=clock.now()
        )


@pytest.mark.parametrize("place", ["contacts", "contact", "lists", "list"])
def test_a_page_is_accessible_in_light_and_dark_on_every_screen(
    browser: PageBrowser, signed_in: dict[str, Any], place: str
) -> None:
    with browser.visit(storage_state=signed_in) as page:
        _go_to(page, place)
        _look(page, f"{place}-light")
        assert_accessible(page)
        page.emulate_media(color_scheme="dark")
        _look(page, f"{place}-dark")
        for width in (ZOOMED, PHONE):
            page.set_viewport_size({"width": width, "height": 700})
            assert page.evaluate(FIND_CUT_OFF) == []
        _look(page, f"{place}-phone")

        assert_accessible(page)
        assert page.evaluate(FIND_SMALL) == []


def test_long_names_and_addresses_leave_room_for_the_others(
    browser: PageBrowser, signed_in: dict[str, Any]
) -> None:
    name, domain = "Maximiliane Wolfeschlegelsteinhausenbergerdorff", f"{'maschinenbau-' * 4}werke.example"
    _own_people(browser.stack, create_operator(browser.stack, LONG_NAMES), [(name, "Chair", "Works", domain)])
    with browser.visit() as page:
        sign_in(page, email=LONG_NAMES)
        shown = page.get_by_role("link", name=name).bounding_box()
        page.goto("/contacts")

        assert page.evaluate(FIND_CUT_OFF) == []
        for label in ("Owner", "E-mail", "Phone"):
            expect(page.get_by_role("columnheader", name=label)).to_be_in_viewport()

        assert shown is not None
        assert shown["width"] > 150
        page.set_viewport_size({"width": PHONE, "height": 700})
        box = page.get_by_role("checkbox", name=f"Mark {name}").bounding_box()
        link = page.get_by_role("link", name=name).bounding_box()
        assert box is not None
        assert link is not None
        assert link["x"] + link["width"] <= box["x"]


def test_marked_contacts_are_put_on_a_new_list_and_taken_off(
    browser: PageBrowser, signed_in: dict[str, Any]
) -> None:
    with browser.visit(storage_state=signed_in) as page:
        page.goto("/contacts")
        page.get_by_label("All on this page").check()
        page.get_by_label("Mark Ada Lovelace").uncheck()
        expect(page.get_by_text("3 marked")).to_be_visible()
        page.locator("summary", has_text="More").click()
        page.get_by_label("Name of a new list").fill("Autumn")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_text("3 contacts added to the list.")).to_be_visible()
        _look(page, "added")
        page.get_by_role("link", name="Autumn").first.click()
        page.get_by_label("Mark Grace Hopper").check()
        page.locator("summary", has_text="More").click()
        page.get_by_role("button", name="Remove from this list").click()

        expect(page.get_by_text("1 contact removed from the list.")).to_be_visible()
        expect(page.get_by_role("row")).to_have_count(3)


def test_a_list_is_downloaded_as_a_file(
    browser: PageBrowser, signed_in: dict[str, Any], tmp_path: Path
) -> None:
    with browser.visit(storage_state=signed_in) as page:
        _go_to(page, "list")
        with page.expect_download() as started:
            page.get_by_role("link", name="Download as CSV").click()
        started.value.save_as(tmp_path / "list.csv")

    with (tmp_path / "list.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert sorted(row["email"] for row in rows) == [
        "ada.lovelace@analytical-engines.example",
        "grace.hopper@compiler-works.example",
    ]


def test_lists_and_notes_work_without_javascript(browser: PageBrowser, signed_in: dict[str, Any]) -> None:
    with browser.visit(storage_state=signed_in, java_script_enabled=False) as page:
        page.goto("/contacts")
        expect(page.get_by_label("All on this page")).to_be_hidden()
        page.get_by_label("Name", exact=True).fill("hedy")
        page.get_by_role("button", name="Find").click()
        page.get_by_role("link", name="Hedy Lamarr").click()
        page.get_by_label("Note").fill("Call in spring.")
        page.get_by_role("button", name="Save", exact=True).click()

        expect(page.get_by_label("Note")).to_have_value("Call in spring.")


def test_a_contact_is_found_filtered_and_opened_by_keyboard(
    browser: PageBrowser, signed_in: dict[str, Any]
) -> None:
    with browser.visit(storage_state=signed_in) as page:
        page.goto("/contacts")
        page.locator("summary", has_text="Filter and sort").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Company", exact=True).focus()
        page.keyboard.type("orbital")
        page.keyboard.press("Enter")
        expect(page.get_by_role("row")).to_have_count(2)
        page.get_by_role("link", name="Katherine Johnson").focus()
        page.keyboard.press("Enter")

        expect(page.get_by_role("heading", name="Katherine Johnson")).to_be_visible()


def _go_to(page: Page, place: str) -> None:
    page.goto("/contacts" if place.startswith("contact") else "/lists")
    if place == "contact":
        page.get_by_role("link", name="Ada Lovelace").click()
        expect(page.get_by_role("heading", name="Ada Lovelace")).to_be_visible()
    if place == "list":
        page.get_by_role("link", name="Prospects").click()
        expect(page.get_by_role("heading", name="Prospects")).to_be_visible()


def _look(page: Page, name: str) -> None:
    """Take a picture of the whole page, if a folder for pictures is given."""
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)
