from __future__ import annotations

import re
from datetime import timedelta

import pyotp
import pytest
from apiflask import APIFlask
from jobs_support import set_clock
from page_support import ACCEPT, Visitor, visitor
from settings_support import change_settings
from users_support import PASSWORD, SignedInUser
from werkzeug.test import TestResponse

from app.engine.accounts import accounts, sessions
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.sessions import LoginSession, Method
from app.infra import clock
from app.infra.crypto import passwords
from app.web.sign_in import login_attempts

STEP = timedelta(seconds=30)
NOW = clock.now()


@pytest.fixture(autouse=True)
def _fixed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock, so that no step begins between two requests."""
    set_clock(monkeypatch, lambda: NOW)


def set_up(browser: Visitor) -> tuple[pyotp.TOTP, TestResponse]:
    """Set up an app with the code of the previous step; return it, and the page with the recovery codes."""
    page = browser.send("/account/two-factor", current_password=PASSWORD)
    secret = re.search(r'data-copy="([A-Z2-7]{32})"', page.text)
    assert secret is not None
    app_codes = pyotp.TOTP(secret[1])
    return app_codes, browser.send("/account/two-factor/confirm", code=app_codes.at(NOW - STEP))


def sign_in(browser: Visitor, user: SignedInUser, **fields: str) -> TestResponse:
    return browser.send("/sign-in", email=user.email, password=PASSWORD, **fields)


def test_an_app_is_set_up_with_a_picture_and_confirmed_with_its_code(browser: Visitor) -> None:
    page = browser.send("/account/two-factor", current_password=PASSWORD)
    _, confirmed = set_up(browser)

    assert 'src="data:image/svg+xml' in page.text
    assert len(re.findall(r"<code>[0-9A-Z]{6}-[0-9A-Z]{6}</code>", confirmed.text)) == 10
    assert "10 recovery codes left" in browser.open("/account/two-factor").text
    codes = re.findall(r"<code>([0-9A-Z-]{13})</code>", confirmed.text)
    assert 'data-copy="' + "\n".join(codes) + '"' in confirmed.text


def test_setting_up_and_turning_off_ask_for_the_password(browser: Visitor) -> None:
    refused = browser.send("/account/two-factor", current_password="wrong")
    set_up(browser)
    not_off = browser.send("/account/two-factor/disable", current_password="wrong")
    off = browser.send("/account/two-factor/disable", current_password=PASSWORD)

    assert refused.status_code == not_off.status_code == 422
    assert "This is not the account&#39;s password." in refused.text
    assert "Two-factor sign-in is off." in off.text


def test_a_wrong_first_code_can_be_corrected(browser: Visitor) -> None:
    browser.send("/account/two-factor", current_password=PASSWORD)

    page = browser.send("/account/two-factor/confirm", code="000000")

    assert page.status_code == 422
    assert "This is not the code that the authenticator app shows now." in page.text
    assert 'name="code"' in page.text


def test_after_many_wrong_first_codes_the_page_says_how_long_to_wait(browser: Visitor) -> None:
    browser.send("/account/two-factor", current_password=PASSWORD)

    pages = [browser.send("/account/two-factor/confirm", code="000000") for _ in range(21)]

    assert [page.status_code for page in pages[-2:]] == [422, 429]
    assert "Too many" in pages[-1].text


def test_the_sign_in_asks_for_the_code_after_the_password_and_then_continues(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    app_codes, _ = set_up(browser)
    other = visitor(app)

    asked = sign_in(other, user, next="/history")
    wrong = other.send("/sign-in/code", totp="000000", next="/history")
    continued = other.send("/sign-in/code", totp=app_codes.at(NOW), next="/history")

    assert asked.request.full_path == "/sign-in/code?next=/history"
    assert wrong.status_code == 401
    assert "This code does not match." in wrong.text
    assert "Correct the marked fields." not in wrong.text
    assert continued.request.path == "/history"


def test_the_step_between_reveals_nothing_and_ends_after_five_minutes(
    app: APIFlask, browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    app_codes, _ = set_up(browser)
    other = visitor(app)
    sign_in(other, user)
    cookie = other.client.get_cookie("sign-in-step")
    later = NOW + timedelta(minutes=6)
    set_clock(monkeypatch, lambda: later)

    page = other.send("/sign-in/code", totp=app_codes.at(later))

    assert cookie is not None
    assert cookie.http_only
    assert not any(text in cookie.value for text in (user.email, user.account_id, PASSWORD))
    assert page.status_code == 401
    assert "the second step took too long" in page.text


def test_a_password_that_is_changed_between_the_steps_ends_the_sign_in(
    app: APIFlask, browser: Visitor, user: SignedInUser
) -> None:
    app_codes, _ = set_up(browser)
    other = visitor(app)
    sign_in(other, user)
    with user.database.transaction() as session:
        accounts.set_password(session, user.account_id, passwords.hash_password("another password"), now=NOW)

    page = other.send("/sign-in/code", totp=app_codes.at(NOW))

    assert page.status_code == 401
    assert other.open("/").status_code == 303


def test_the_second_step_cannot_be_reached_without_the_first(app: APIFlask, user: SignedInUser) -> None:
    other = visitor(app)
    other.client.set_cookie("sign-in-step", "AAAA")

    page = other.send("/sign-in/code", totp="000000", headers={"Accept-Language": "de"})

    assert page.status_code == 401
    assert "Melden Sie sich erneut an: Der zweite Schritt dauerte zu lange" in page.text
    assert 'name="password"' in page.text


def test_wrong_codes_are_limited(
    app: APIFlask, browser: Visitor, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    app_codes, _ = set_up(browser)
    monkeypatch.setattr(login_attempts, "TOTP_RATE", "2/hour")
    other = visitor(app)
    sign_in(other, user)

    statuses = [other.send("/sign-in/code", totp="000000").status_code for _ in range(2)]
    right = other.send("/sign-in/code", totp=app_codes.at(NOW))

    assert statuses == [401, 401]
    assert right.status_code == 429


def test_admins_need_it_if_the_setting_says_so(app: APIFlask, browser: Visitor, user: SignedInUser) -> None:
    change_settings(app, totp_required_for="admins")
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value

    refused = browser.open("/admin")
    as_program = user.client.get("/api/webhook-endpoints", headers=user.headers)
    member_page = browser.open("/history")
    set_up(browser)

    assert refused.status_code == 403
    assert "set up two-factor sign-in" in refused.text
    assert as_program.get_json()["code"] == "totp_required_for_admins"
    assert member_page.status_code == 200
    assert browser.open("/admin").status_code == 200


def test_a_company_account_is_enough_for_admins(app: APIFlask, browser: Visitor, user: SignedInUser) -> None:
    change_settings(app, totp_required_for="admins")
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
        for row in sessions.of_account(
            session, user.account_id, lifetime=app.extensions["services"].session_lifetime, now=NOW
        ):
            session.get_one(LoginSession, row.id).method = Method.COMPANY.value

    assert browser.client.get("/admin", headers=ACCEPT).status_code == 200
