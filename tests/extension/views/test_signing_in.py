"""Sign-in form, staying signed in, and sign-out."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pyotp
import pytest
from chromium_support import BrowserUser, launch_browser
from e2e_stack import PASSWORD
from playwright.sync_api import Page, Playwright, expect
from polling import wait_until
from proxy_support import CannedReply, RecordingProxy, problem_reply

from app.engine.accounts import accounts, totp
from app.infra import clock

LOGIN = "/api/ext/login"
SITE = "http://www.acme.test/"


def test_the_form_signs_in_and_then_shows_the_view_for_the_page(
    user: BrowserUser, proxy: RecordingProxy
) -> None:
    popup = user.open_popup_on(SITE)

    user.submit_sign_in(popup)

    expect(popup.get_by_role("heading", name="www.acme.test")).to_be_visible()
    expect(popup.get_by_text("100 credits")).to_be_visible()
    expect(popup.get_by_label("Password")).to_have_count(0)
    [sent] = proxy.api_requests(LOGIN)
    assert (sent.json["email"], sent.json["password"]) == (user.email, PASSWORD)
    assert sent.json["client"]["name"] == "extension"


def test_a_wrong_password_is_reported_and_the_input_is_kept(user: BrowserUser) -> None:
    popup = user.open_popup_on(SITE)

    user.submit_sign_in(popup, password="wrong")

    expect(popup.get_by_role("alert")).to_have_text("Wrong e-mail or password.")
    expect(popup.get_by_label("Password")).to_be_focused()
    expect(popup.get_by_label("E-mail")).to_have_value(user.email)
    popup.get_by_label("Password").fill(PASSWORD)
    popup.keyboard.press("Enter")
    expect(popup.get_by_text("100 credits")).to_be_visible()


def test_an_insecure_server_address_is_rejected_before_anything_is_sent(
    user: BrowserUser, proxy: RecordingProxy
) -> None:
    popup = user.open_popup_on(SITE)
    sent = len(proxy.sent)

    for address in (
        "http://contacts.example.com",
        "http://127.0.0.1.example.com",
        "http://127.0.0.1@example.com",
        "ftp://127.0.0.1",
        "https://",
        "",
    ):
        popup.get_by_label("Server").fill("https://replaced.example")
        popup.get_by_label("Server").fill(address)
        popup.get_by_label("E-mail").fill(user.email)
        popup.get_by_label("Password").fill(PASSWORD)
        popup.get_by_role("button", name="Sign in").click()
        expect(popup.get_by_role("alert")).to_contain_text("Enter the server's address with https://")
        expect(popup.get_by_label("Server")).to_be_focused()
        popup.evaluate("() => document.querySelector('[role=alert]').remove()")

    assert [request.host for request in proxy.sent[sent:] if not request.is_of_chromium] == []
    assert "session" not in user.get_storage("session")


def test_a_server_that_is_not_contact_lookup_is_reported_and_does_not_sign_in(
    user: BrowserUser, proxy: RecordingProxy
) -> None:
    popup = user.open_popup_on(SITE)
    html = {"Content-Type": "text/html"}

    for reply in (
        CannedReply(200, b"<!doctype html><title>Welcome</title>", html),
        CannedReply(404, b"<!doctype html><title>Nothing here</title>", html),
        CannedReply(401, {"error": "unauthorized"}),
        CannedReply(200, {"hello": "world"}),
        CannedReply(200, []),
    ):
        with proxy.replying(LOGIN, reply):
            user.submit_sign_in(popup)
            expect(popup.get_by_role("alert")).to_have_text(
                f"{proxy.api} is not a contact lookup server. Check the address."
            )
            expect(popup.get_by_role("button", name="Sign in")).to_be_enabled()
        popup.evaluate("() => document.querySelector('[role=alert]').remove()")

    assert "session" not in user.get_storage("session")


def test_an_unreachable_or_rate_limiting_server_is_reported_and_the_next_attempt_works(
    user: BrowserUser, proxy: RecordingProxy
) -> None:
    popup = user.open_popup_on(SITE)

    with proxy.replying(LOGIN, CannedReply()):
        user.submit_sign_in(popup)
        expect(popup.get_by_role("alert")).to_contain_text(
            f"{proxy.api} does not respond. Check your connection"
        )
    with proxy.replying(LOGIN, problem_reply(429, "too_many_attempts", retry_after=40)):
        user.submit_sign_in(popup)
        expect(popup.get_by_role("alert")).to_have_text("Too many requests. Try again in 40 s.")
    user.submit_sign_in(popup)

    expect(popup.get_by_text("100 credits")).to_be_visible()


def test_only_this_servers_permission_is_requested_and_a_denial_is_reported(
    user: BrowserUser, proxy: RecordingProxy
) -> None:
    panel = user.open_panel(side=False)
    panel.evaluate(
        "() => { chrome.permissions.request = async (it) => { window.requested = it; return false; } }"
    )

    user.submit_sign_in(panel)

    expect(panel.get_by_role("alert")).to_have_text(
        f"Chrome was not allowed to connect to {proxy.api}. Sign in again and choose Allow."
    )
    expect(panel.get_by_role("button", name="Sign in")).to_be_enabled()
    assert panel.evaluate("() => window.requested") == {"origins": ["http://127.0.0.1/*"]}
    assert proxy.api_requests() == []


def test_the_keyboard_alone_signs_in_and_out(user: BrowserUser) -> None:
    popup = user.open_popup_on(SITE)
    keyboard = popup.keyboard
    expect(popup.get_by_label("Server")).to_be_visible()

    for text in (user.server, user.email, PASSWORD):
        keyboard.press("Tab")
        keyboard.type(text)
    keyboard.press("Tab")
    expect(popup.get_by_label("Stay signed in on this computer")).to_be_focused()
    keyboard.press("Space")
    keyboard.press("Tab")
    expect(popup.get_by_role("button", name="Sign in")).to_be_focused()
    keyboard.press("Enter")
    expect(popup.get_by_text("100 credits")).to_be_visible()

    assert "session" in user.get_storage("local")
    press_until_focused(popup, "Settings")
    keyboard.press("Enter")
    expect(popup.get_by_role("heading", name="Settings")).to_be_visible()
    press_until_focused(popup, "Sign out")
    keyboard.press("Enter")
    expect(popup.get_by_label("Password")).to_be_visible()


@pytest.mark.own_browser
def test_without_staying_signed_in_no_token_and_no_password_is_on_disk(
    user: BrowserUser, playwright: Playwright, tmp_path: Path
) -> None:
    popup = user.open_popup_on(SITE)
    user.submit_sign_in(popup)
    expect(popup.get_by_text("100 credits")).to_be_visible()
    token = user.get_storage("session")["session"]["token"]
    on_disk = json.dumps(user.get_storage("local"))

    with restarted_browser(user, playwright, tmp_path) as restarted:
        popup = restarted.open_popup_on(SITE)

        expect(popup.get_by_label("Password")).to_have_value("")
        expect(popup.get_by_label("Server")).to_have_value(user.server)
        expect(popup.get_by_label("E-mail")).to_have_value(user.email)
    assert token not in on_disk
    assert files_containing(tmp_path / "profile", user.email)  # the search finds stored text
    assert files_containing(tmp_path / "profile", token) == []
    assert files_containing(tmp_path / "profile", PASSWORD) == []


@pytest.mark.own_browser
def test_a_user_who_stays_signed_in_still_is_after_a_restart_until_it_is_turned_off(
    user: BrowserUser, playwright: Playwright, tmp_path: Path
) -> None:
    popup = user.open_popup_on(SITE)
    popup.get_by_label("Stay signed in on this computer").check()
    user.submit_sign_in(popup)
    expect(popup.get_by_text("100 credits")).to_be_visible()

    with restarted_browser(user, playwright, tmp_path) as restarted:
        popup = restarted.open_popup_on(SITE)
        expect(popup.get_by_text("100 credits")).to_be_visible()
        popup.get_by_role("button", name="Settings").click()
        popup.get_by_label("Stay signed in on this computer").uncheck()
        wait_until(lambda: "session" not in restarted.get_storage("local"))

        with restarted_browser(restarted, playwright, tmp_path) as last:
            expect(last.open_popup_on(SITE).get_by_label("Password")).to_be_visible()


def test_signing_out_revokes_the_token_and_deletes_all_data_but_server_and_email(
    user: BrowserUser, proxy: RecordingProxy
) -> None:
    popup = user.open_popup_on(user.serve_profile(f"ada-{secrets.token_hex(4)}", "Ada Lovelace"))
    popup.get_by_label("Stay signed in on this computer").check()
    user.submit_sign_in(popup)
    popup.get_by_text("Save this profile").click()
    popup.get_by_label("Note").fill("A secret note")
    token = user.get_storage("local")["session"]["token"]
    popup.evaluate(
        "() => { CacheStorage.prototype.delete = () => new Promise((end) => setTimeout(end, 500)); }"
    )
    with proxy.holding("/api/ext/reveal/email", replies=True) as release:
        popup.get_by_role("button", name="Find e-mail").click()
        wait_until(lambda: proxy.api_requests("/api/ext/reveal/email"))

        popup.get_by_role("button", name="Settings").click()
        popup.get_by_role("button", name="Sign out").click()

        expect(popup.get_by_label("Password")).to_have_value("")
        expect(popup.get_by_label("Server")).to_have_value(user.server)
        expect(popup.get_by_label("E-mail")).to_have_value(user.email)
        release.set()
        expect(popup.get_by_role("alert")).to_have_count(0)
    wait_until(lambda: popup.evaluate("async () => (await navigator.locks.query()).held.length === 0"))
    response = user.stack.call("GET", "/api/ext/session", Authorization=f"Bearer {token}")
    assert (response.status, response.code) == (401, "token_revoked")
    settings = {
        "server": user.server,
        "email": user.email,
        "lookupBy": "filter",
        "staySignedIn": False,
        "lists": [],
        "purpose": "",
    }
    assert user.get_storage("local") == {"settings": settings}
    assert user.get_storage("session") == {}
    assert user.badge_text() == ""


def test_signing_out_deletes_the_token_even_if_the_server_is_unreachable(
    user: BrowserUser, proxy: RecordingProxy
) -> None:
    user.sign_in(stay_signed_in=True)
    popup = user.open_popup_on(SITE)
    popup.get_by_role("button", name="Settings").click()

    with proxy.replying("/api/ext/logout", CannedReply()):
        popup.get_by_role("button", name="Sign out").click()
        expect(popup.get_by_label("Password")).to_be_visible()

    assert "session" not in user.get_storage("local") | user.get_storage("session")


def test_an_account_with_two_factor_sign_in_is_asked_for_the_code(user: BrowserUser) -> None:
    app_codes = set_up_authenticator(user)
    popup = user.open_popup_on(SITE)
    expect(popup.get_by_label("Code")).to_be_hidden()

    user.submit_sign_in(popup)
    expect(popup.get_by_role("alert")).to_have_text("Enter the code of your authenticator app too.")
    expect(popup.get_by_label("Code")).to_be_focused()
    popup.keyboard.type("000000")
    popup.keyboard.press("Enter")
    expect(popup.get_by_role("alert")).to_contain_text("The code is not valid.")
    popup.get_by_label("Code").fill(app_codes.now())
    popup.keyboard.press("Enter")

    expect(popup.get_by_text("100 credits")).to_be_visible()


def test_signing_in_and_out_updates_the_side_panel_at_once(user: BrowserUser) -> None:
    page = user.visit(SITE)
    panel = user.open_panel()
    expect(panel.get_by_label("Password")).to_be_visible()
    popup = user.click_icon(page)

    user.submit_sign_in(popup)

    expect(popup.get_by_text("100 credits")).to_be_visible()
    expect(panel.get_by_text("100 credits")).to_be_visible()
    expect(panel.get_by_label("Password")).to_have_count(0)
    popup.get_by_role("button", name="Settings").click()
    popup.get_by_role("button", name="Sign out").click()
    expect(panel.get_by_label("Password")).to_be_visible()
    expect(panel.get_by_text("100 credits")).to_have_count(0)


def set_up_authenticator(user: BrowserUser) -> pyotp.TOTP:
    """Turn two-factor sign-in of the account on, ten minutes ago; return its app."""
    now = clock.now() - timedelta(minutes=10)
    with user.stack.database.transaction() as session:
        account = accounts.by_email(session, user.email)
        assert account is not None
        app_codes = pyotp.TOTP(totp.enrol(session, account.id, now=now))
        assert totp.confirm(session, account.id, app_codes.at(now), now=now)
    return app_codes


@contextmanager
def restarted_browser(user: BrowserUser, playwright: Playwright, folder: Path) -> Iterator[BrowserUser]:
    """Restart the browser with the same profile on disk."""
    user.context.close()
    with launch_browser(playwright, folder, user.proxy) as started:
        yield replace(user, browser=started)


def files_containing(folder: Path, text: str) -> list[Path]:
    """Return the files that contain the text in UTF-8 or UTF-16, Chrome's two encodings on disk."""
    forms = (text.encode(), text.encode("utf-16-le"))
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path for path in files if any(form in path.read_bytes() for form in forms)]


def press_until_focused(page: Page, name: str) -> None:
    """Press Tab until the button is focused, at most 25 times."""
    button = page.get_by_role("button", name=name, exact=True)
    for _ in range(25):
        if button.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    expect(button).to_be_focused()
