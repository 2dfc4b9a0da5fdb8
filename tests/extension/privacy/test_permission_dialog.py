"""Chrome's own permission dialog with the shipped manifest: it closes the popup, and no input is lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from chromium_support import EXTENSION, BrowserUser, launch_browser
from e2e_stack import PASSWORD, Stack
from playwright.sync_api import Error, Page, Playwright, expect
from proxy_support import RecordingProxy
from screen_support import Screen, virtual_screen

pytestmark = pytest.mark.release

SITE = "http://www.acme.test/"


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    with virtual_screen(tmp_path / "screen") as screen:
        yield screen


@pytest.fixture
def new_user(
    playwright: Playwright, proxy: RecordingProxy, stack: Stack, tmp_path: Path, screen: Screen
) -> Iterator[BrowserUser]:
    """A user with a screen and the extension as shipped, without a host permission."""
    shutil.copytree(EXTENSION, tmp_path / "extension")
    workspace, token = stack.create_workspace()
    with launch_browser(playwright, tmp_path, proxy, on_screen=screen.environment) as started:
        yield BrowserUser(started, proxy, stack, workspace, token)


def sign_in_until_dialog_closes_popup(user: BrowserUser, popup: Page, password: str = PASSWORD) -> None:
    with suppress(Error):  # the popup closes during the click or after it
        user.submit_sign_in(popup, password)
    if not popup.is_closed():  # Playwright would wait in vain for an event that it has dispatched
        popup.wait_for_event("close")


def test_after_the_permission_is_granted_only_the_password_is_missing(
    new_user: BrowserUser, screen: Screen, proxy: RecordingProxy
) -> None:
    popup = new_user.open_popup_on(SITE)
    popup.get_by_label("Stay signed in on this computer").check()
    sign_in_until_dialog_closes_popup(new_user, popup)

    screen.allow()
    popup = new_user.click_icon(new_user.tabs()[0])

    expect(popup.get_by_role("status").first).to_contain_text(f"Chrome can now connect to {proxy.api}")
    expect(popup.get_by_label("Password")).to_be_focused()
    expect(popup.get_by_label("Password")).to_have_value("")
    expect(popup.locator("main")).to_contain_text(new_user.email)
    expect(popup.get_by_label("Server")).to_be_hidden()
    expect(popup.get_by_label("E-mail")).to_be_hidden()
    assert PASSWORD not in str(new_user.get_storage("local")) + str(new_user.get_storage("session"))
    popup.keyboard.type(PASSWORD)
    popup.keyboard.press("Enter")
    expect(popup.get_by_text("100 credits")).to_be_visible()
    assert new_user.get_storage("local")["settings"]["staySignedIn"] is True
    assert new_user.get_storage("local")["session"]["account"]["email"] == new_user.email


def test_after_the_permission_is_denied_the_form_says_what_to_do_and_keeps_the_input(
    new_user: BrowserUser, screen: Screen, proxy: RecordingProxy
) -> None:
    popup = new_user.open_popup_on(SITE)
    popup.get_by_label("Stay signed in on this computer").check()
    sign_in_until_dialog_closes_popup(new_user, popup)

    screen.deny()
    popup = new_user.click_icon(new_user.tabs()[0])

    expect(popup.get_by_role("alert")).to_have_text(
        f"Chrome was not allowed to connect to {proxy.api}. Sign in again and choose Allow."
    )
    expect(popup.get_by_label("Server")).to_have_value(new_user.server)
    expect(popup.get_by_label("E-mail")).to_have_value(new_user.email)
    expect(popup.get_by_label("Stay signed in on this computer")).to_be_checked()
    expect(popup.get_by_label("Password")).to_have_value("")
    expect(popup.get_by_label("Password")).to_be_focused()
    assert proxy.api_requests() == []
    sign_in_until_dialog_closes_popup(new_user, popup)
    screen.allow()
    popup = new_user.click_icon(new_user.tabs()[0])
    popup.get_by_label("Password").fill(PASSWORD)
    popup.get_by_role("button", name="Sign in").click()
    expect(popup.get_by_text("100 credits")).to_be_visible()
