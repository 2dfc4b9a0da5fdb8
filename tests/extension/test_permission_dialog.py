"""Chrome's own permission dialog, with the shipped manifest: it closes the popup, and nothing is lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from chromium_support import EXTENSION, Person, browser, until
from e2e_stack import PASSWORD, Stack
from playwright.sync_api import Error, Page, Playwright, expect
from proxy_support import Network
from screen_support import Screen, virtual_screen

SITE = "http://www.acme.test/"


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with virtual_screen(tmp_path / "screen") as screen:
        yield screen


@pytest.fixture
def newcomer(
    playwright: Playwright, net: Network, stack: Stack, tmp_path: Path, screen: Screen
) -> Iterator[Person]:
    """Somebody at a screen, whose extension is as the store gives it: no host is granted."""
    shutil.copytree(EXTENSION, tmp_path / "extension")
    workspace, token = stack.workspace()
    with browser(playwright, tmp_path, net, on_screen=screen.environment) as started:
        yield Person(started, net, stack, workspace, token)


def sign_in_until_the_dialog_closes_the_popup(person: Person, popup: Page, password: str = PASSWORD) -> None:
    with suppress(Error):  # the popup closes under the click
        person.fill_in(popup, password)
    until(popup.is_closed)


def test_after_the_permission_is_granted_only_the_password_is_asked_for(
    newcomer: Person, screen: Screen, net: Network
) -> None:
    popup = newcomer.look_at(SITE)
    popup.get_by_label("Stay signed in on this computer").check()
    sign_in_until_the_dialog_closes_the_popup(newcomer, popup)

    screen.allow()
    popup = newcomer.click_icon(newcomer.tabs()[0])

    expect(popup.get_by_role("status").first).to_contain_text(f"Chrome may now connect to {net.api}")
    expect(popup.get_by_label("Password")).to_be_focused()
    expect(popup.get_by_label("Password")).to_have_value("")
    expect(popup.locator("main")).to_contain_text(newcomer.email)
    expect(popup.get_by_label("Server")).to_be_hidden()
    expect(popup.get_by_label("E-mail")).to_be_hidden()
    assert PASSWORD not in str(newcomer.stored("local")) + str(newcomer.stored("session"))
    popup.keyboard.type(PASSWORD)
    popup.keyboard.press("Enter")
    expect(popup.get_by_text("100 credits")).to_be_visible()
    assert newcomer.stored("local")["settings"]["stay"] is True
    assert newcomer.stored("local")["session"]["account"]["email"] == newcomer.email


def test_after_the_permission_is_refused_the_form_says_what_to_do_and_still_has_what_was_typed(
    newcomer: Person, screen: Screen, net: Network
) -> None:
    popup = newcomer.look_at(SITE)
    popup.get_by_label("Stay signed in on this computer").check()
    sign_in_until_the_dialog_closes_the_popup(newcomer, popup)

    screen.deny()
    popup = newcomer.click_icon(newcomer.tabs()[0])

    expect(popup.get_by_role("alert")).to_have_text(
        f"Chrome was not allowed to connect to {net.api}. Sign in again and choose Allow."
    )
    expect(popup.get_by_label("Server")).to_have_value(newcomer.server)
    expect(popup.get_by_label("E-mail")).to_have_value(newcomer.email)
    expect(popup.get_by_label("Stay signed in on this computer")).to_be_checked()
    expect(popup.get_by_label("Password")).to_have_value("")
    expect(popup.get_by_label("Password")).to_be_focused()
    assert net.to_api() == []
    sign_in_until_the_dialog_closes_the_popup(newcomer, popup)
    screen.allow()
    popup = newcomer.click_icon(newcomer.tabs()[0])
    popup.get_by_label("Password").fill(PASSWORD)
    popup.get_by_role("button", name="Sign in").click()
    expect(popup.get_by_text("100 credits")).to_be_visible()
