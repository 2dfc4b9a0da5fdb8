"""Signing in with the form, staying signed in or not, and signing out."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from chromium_support import Person, browser, until
from e2e_stack import PASSWORD
from playwright.sync_api import Page, Playwright, expect
from proxy_support import Network, Reply, problem

LOGIN = "/api/ext/login"
SITE = "http://www.acme.test/"
CHROMES_OWN = (".google.com:443", ".googleapis.com:443")  # what the browser itself tries to reach


def test_the_form_signs_in_and_shows_at_once_what_the_page_is_about(person: Person, net: Network) -> None:
    popup = person.look_at(SITE)

    person.fill_in(popup)

    expect(popup.get_by_role("heading", name="No company is known for www.acme.test")).to_be_visible()
    expect(popup.get_by_text("100 credits")).to_be_visible()
    expect(popup.get_by_label("Password")).to_have_count(0)
    [sent] = net.to_api(LOGIN)
    assert (sent.json["email"], sent.json["password"]) == (person.email, PASSWORD)
    assert sent.json["client"]["name"] == "extension"


def test_a_wrong_password_is_said_and_what_was_typed_stays(person: Person) -> None:
    popup = person.look_at(SITE)

    person.fill_in(popup, password="wrong")

    expect(popup.get_by_role("alert")).to_have_text("Wrong e-mail or password.")
    expect(popup.get_by_label("Password")).to_be_focused()
    expect(popup.get_by_label("E-mail")).to_have_value(person.email)
    popup.get_by_label("Password").fill(PASSWORD)
    popup.keyboard.press("Enter")
    expect(popup.get_by_text("100 credits")).to_be_visible()


def test_an_address_that_no_password_may_go_to_is_refused_before_anything_is_sent(
    person: Person, net: Network
) -> None:
    popup = person.look_at(SITE)
    sent = len(net.sent)

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
        popup.get_by_label("E-mail").fill(person.email)
        popup.get_by_label("Password").fill(PASSWORD)
        popup.get_by_role("button", name="Sign in").click()
        expect(popup.get_by_role("alert")).to_contain_text("Write the server's address with https://")
        expect(popup.get_by_label("Server")).to_be_focused()
        popup.evaluate("() => document.querySelector('[role=alert]').remove()")

    assert [one.host for one in net.sent[sent:] if not one.host.endswith(CHROMES_OWN)] == []
    assert "session" not in person.stored("session")


def test_what_is_no_contact_lookup_server_is_called_so_and_nobody_is_signed_in(
    person: Person, net: Network
) -> None:
    popup = person.look_at(SITE)
    html = {"Content-Type": "text/html"}

    for reply in (
        Reply(200, b"<!doctype html><title>Welcome</title>", html),
        Reply(404, b"<!doctype html><title>Nothing here</title>", html),
        Reply(401, {"error": "who are you"}),
        Reply(200, {"hello": "world"}),
        Reply(200, []),
    ):
        with net.failing(LOGIN, reply):
            person.fill_in(popup)
            expect(popup.get_by_role("alert")).to_have_text(
                f"{net.api} is not a contact lookup server. Check the address."
            )
            expect(popup.get_by_role("button", name="Sign in")).to_be_enabled()
        popup.evaluate("() => document.querySelector('[role=alert]').remove()")

    assert "session" not in person.stored("session")


def test_a_server_that_is_away_or_has_enough_of_it_is_called_so_and_the_next_try_works(
    person: Person, net: Network
) -> None:
    popup = person.look_at(SITE)

    with net.failing(LOGIN, Reply()):
        person.fill_in(popup)
        expect(popup.get_by_role("alert")).to_contain_text(
            f"{net.api} does not answer. Check your connection"
        )
    with net.failing(LOGIN, problem(429, "too_many_attempts", retry_after=40)):
        person.fill_in(popup)
        expect(popup.get_by_role("alert")).to_have_text("Too many requests. Try again in 40 s.")
    person.fill_in(popup)

    expect(popup.get_by_text("100 credits")).to_be_visible()


def test_chrome_is_asked_for_this_one_server_and_a_refusal_is_said(person: Person, net: Network) -> None:
    panel = person.open_panel(side=False)
    panel.evaluate(
        "() => { chrome.permissions.request = async (what) => { window.asked = what; return false; } }"
    )

    person.fill_in(panel)

    expect(panel.get_by_role("alert")).to_have_text(
        f"Chrome was not allowed to connect to {net.api}. Sign in again and choose Allow."
    )
    expect(panel.get_by_role("button", name="Sign in")).to_be_enabled()
    assert panel.evaluate("() => window.asked") == {"origins": ["http://127.0.0.1/*"]}
    assert net.to_api() == []


def test_the_keyboard_alone_signs_in_and_out(person: Person) -> None:
    popup = person.look_at(SITE)
    keyboard = popup.keyboard
    expect(popup.get_by_label("Server")).to_be_visible()

    for text in (person.server, person.email, PASSWORD):
        keyboard.press("Tab")
        keyboard.type(text)
    keyboard.press("Tab")
    expect(popup.get_by_label("Stay signed in on this computer")).to_be_focused()
    keyboard.press("Space")
    keyboard.press("Tab")
    expect(popup.get_by_role("button", name="Sign in")).to_be_focused()
    keyboard.press("Enter")
    expect(popup.get_by_text("100 credits")).to_be_visible()

    assert "session" in person.stored("local")
    press_until_focused(popup, "Settings")
    keyboard.press("Enter")
    expect(popup.get_by_role("heading", name="Settings")).to_be_visible()
    press_until_focused(popup, "Sign out")
    keyboard.press("Enter")
    expect(popup.get_by_label("Password")).to_be_visible()


@pytest.mark.own_browser
def test_who_does_not_stay_signed_in_leaves_no_token_and_no_password_on_disk(
    person: Person, playwright: Playwright, tmp_path: Path
) -> None:
    popup = person.look_at(SITE)
    person.fill_in(popup)
    expect(popup.get_by_text("100 credits")).to_be_visible()
    token = person.stored("session")["session"]["token"]
    at_disk = json.dumps(person.stored("local"))

    with restarted(person, playwright, tmp_path) as later:
        popup = later.look_at(SITE)

        expect(popup.get_by_label("Password")).to_have_value("")
        expect(popup.get_by_label("Server")).to_have_value(person.server)
        expect(popup.get_by_label("E-mail")).to_have_value(person.email)
    assert token not in at_disk
    assert files_with(tmp_path / "profile", person.email)  # so the search finds what is there
    assert files_with(tmp_path / "profile", token) == []
    assert files_with(tmp_path / "profile", PASSWORD) == []


@pytest.mark.own_browser
def test_who_stays_signed_in_still_is_when_the_browser_starts_again_until_it_is_turned_off(
    person: Person, playwright: Playwright, tmp_path: Path
) -> None:
    popup = person.look_at(SITE)
    popup.get_by_label("Stay signed in on this computer").check()
    person.fill_in(popup)
    expect(popup.get_by_text("100 credits")).to_be_visible()

    with restarted(person, playwright, tmp_path) as later:
        popup = later.look_at(SITE)
        expect(popup.get_by_text("100 credits")).to_be_visible()
        popup.get_by_role("button", name="Settings").click()
        popup.get_by_label("Stay signed in on this computer").uncheck()
        until(lambda: "session" not in later.stored("local"))

        with restarted(later, playwright, tmp_path) as last:
            expect(last.look_at(SITE).get_by_label("Password")).to_be_visible()


def test_signing_out_ends_the_token_and_forgets_everything_but_where_and_who(
    person: Person, net: Network
) -> None:
    popup = person.look_at(person.plays_profile(f"ada-{secrets.token_hex(4)}", "Ada Lovelace"))
    popup.get_by_label("Stay signed in on this computer").check()
    person.fill_in(popup)
    popup.get_by_text("Save this profile").click()
    popup.get_by_label("Note").fill("A secret note")
    token = person.stored("local")["session"]["token"]
    with net.holding("/api/ext/reveal/email", answered=True) as answer:
        popup.get_by_role("button", name="Find e-mail").click()
        until(lambda: net.to_api("/api/ext/reveal/email"))

        popup.get_by_role("button", name="Settings").click()
        popup.get_by_role("button", name="Sign out").click()

        expect(popup.get_by_label("Password")).to_have_value("")
        answer.set()
        expect(popup.get_by_role("alert")).to_have_count(0)
    until(lambda: popup.evaluate("async () => (await navigator.locks.query()).held.length === 0"))
    answer = person.stack.call("GET", "/api/ext/session", Authorization=f"Bearer {token}")
    assert (answer.status, answer.code) == (401, "token_revoked")
    chosen = {"server": person.server, "email": person.email, "ask": "hash", "stay": False, "lists": []}
    assert person.stored("local") == {"settings": chosen}
    assert person.stored("session") == {}
    assert person.badge() == ""


def test_signing_out_forgets_the_token_also_while_the_server_is_away(person: Person, net: Network) -> None:
    person.sign_in(stay=True)
    popup = person.look_at(SITE)
    popup.get_by_role("button", name="Settings").click()

    with net.failing("/api/ext/logout", Reply()):
        popup.get_by_role("button", name="Sign out").click()
        expect(popup.get_by_label("Password")).to_be_visible()

    assert "session" not in person.stored("local") | person.stored("session")


def test_signing_in_and_out_shows_in_the_side_panel_at_once(person: Person) -> None:
    page = person.visit(SITE)
    panel = person.open_panel()
    expect(panel.get_by_label("Password")).to_be_visible()
    popup = person.click_icon(page)

    person.fill_in(popup)

    expect(popup.get_by_text("100 credits")).to_be_visible()
    expect(panel.get_by_text("100 credits")).to_be_visible()
    expect(panel.get_by_label("Password")).to_have_count(0)
    popup.get_by_role("button", name="Settings").click()
    popup.get_by_role("button", name="Sign out").click()
    expect(panel.get_by_label("Password")).to_be_visible()
    expect(panel.get_by_text("100 credits")).to_have_count(0)


@contextmanager
def restarted(person: Person, playwright: Playwright, folder: Path) -> Iterator[Person]:
    """End the browser and start it again, with what it has on disk."""
    person.context.close()
    with browser(playwright, folder, person.network) as started:
        yield replace(person, browser=started)


def files_with(folder: Path, text: str) -> list[Path]:
    """Give the files that have the text in them, as Chrome writes texts: a byte or two for a letter."""
    forms = (text.encode(), text.encode("utf-16-le"))
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [path for path in files if any(form in path.read_bytes() for form in forms)]


def press_until_focused(page: Page, name: str) -> None:
    """Press Tab until the button has the focus, as often as a patient person would."""
    button = page.get_by_role("button", name=name, exact=True)
    for _ in range(25):
        if button.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    expect(button).to_be_focused()
