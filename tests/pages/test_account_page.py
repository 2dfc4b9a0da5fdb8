"""The page of the account: sessions and password."""

from __future__ import annotations

import re

from apiflask import APIFlask
from page_support import Visitor, visitor
from sqlalchemy import select
from users_support import PASSWORD, SignedInUser, bearer

from app.engine.accounts.accounts import Account
from app.engine.accounts.sessions import LoginSession
from app.infra import clock

NEW = "a longer sentence that no one else would think of"


def test_the_page_lists_the_sessions_and_marks_its_own(browser: Visitor, user: SignedInUser) -> None:
    user.sign_in(client={"name": "chrome-extension", "version": "1.0.0"})

    page = browser.open("/account")

    assert 'chrome-extension <span class="hint">1.0.0</span>' in page.text
    assert page.text.count("This browser") == 1


def test_another_session_of_the_account_is_ended(browser: Visitor, user: SignedInUser) -> None:
    token = user.sign_in(client={"name": "chrome-extension"}).get_json()["access_token"]
    with user.database.reading() as session:
        other = session.scalars(
            select(LoginSession.id).where(LoginSession.client_name == "chrome-extension")
        ).one()

    page = browser.send(f"/account/sessions/{other}/end")

    assert "The session has ended" in page.text
    assert user.client.get("/api/ext/session", headers=bearer(token)).status_code == 401


def test_a_colleagues_session_cannot_be_ended(app: APIFlask, browser: Visitor, user: SignedInUser) -> None:
    with user.database.reading() as session:
        mine = session.scalars(select(LoginSession.id)).one()

    page = visitor(app, user.colleague()).send(f"/account/sessions/{mine}/end")

    assert page.status_code == 404
    assert browser.open("/account").status_code == 200


def test_all_other_sessions_are_ended(browser: Visitor, user: SignedInUser) -> None:
    tokens = [user.sign_in().get_json()["access_token"] for _ in range(2)]

    page = browser.send("/account/sessions/end-others")

    statuses = [user.client.get("/api/ext/session", headers=bearer(token)).status_code for token in tokens]
    assert "Ended 2 other sessions" in page.text
    assert statuses == [401, 401]


def test_a_changed_password_ends_every_session(browser: Visitor, user: SignedInUser) -> None:
    page = browser.send("/account/password", current_password=PASSWORD, new_password=NEW)

    old = user.sign_in()
    new = user.sign_in(password=NEW)
    assert page.request.path == "/sign-in"
    assert "The password is changed" in page.text
    assert user.client.get("/api/ext/session", headers=user.headers).status_code == 401
    assert (old.status_code, new.status_code) == (401, 200)


def test_a_wrong_current_password_changes_nothing(browser: Visitor, user: SignedInUser) -> None:
    page = browser.send("/account/password", current_password="wrong", new_password=NEW)

    assert page.status_code == 422
    assert 'id="current_password-error"' in page.text
    assert user.sign_in().status_code == 200


def test_a_short_password_is_refused(browser: Visitor) -> None:
    page = browser.send("/account/password", current_password=PASSWORD, new_password="short")

    assert page.status_code == 422
    assert 'id="new_password-error"' in page.text


def test_wrong_passwords_count_towards_the_limit_of_the_login(browser: Visitor) -> None:
    statuses = [
        browser.send("/account/password", current_password="wrong", new_password=NEW).status_code
        for _ in range(11)
    ]

    assert statuses == [422] * 10 + [429]


def test_the_page_says_whether_two_factor_sign_in_is_on(browser: Visitor, user: SignedInUser) -> None:
    off = browser.open("/account").text
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).totp_enabled_at = clock.now()
    on = browser.open("/account").text

    states = [re.search(r"Two-factor sign-in</dt><dd>(.*?)</dd>", page, re.DOTALL) for page in (off, on)]
    assert [re.findall(r">([A-Z][^<]+)<", state[1]) for state in states if state] == [
        ["Off", "Set up"],
        ["On", "Change"],
    ]


def test_after_many_wrong_passwords_the_page_says_in_the_reader_s_language_how_long_to_wait(
    browser: Visitor,
) -> None:
    headers = {"Accept-Language": "de"}
    fields = {"current_password": "wrong", "new_password": NEW}

    pages = [browser.send("/account/password", headers, **fields) for _ in range(21)]

    assert pages[-1].status_code == 429
    assert "Zu viele Versuche." in pages[-1].text
