from __future__ import annotations

import re
from typing import Any

import pytest
from apiflask import APIFlask
from audit_log_support import recorded
from page_support import Visitor, visitor
from settings_support import change_settings
from sqlalchemy import update
from users_support import PASSWORD, SignedInUser, bearer, create_user

from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account, Role
from app.features.password_resets import resets
from app.features.password_resets.resets import PasswordReset
from app.features.password_resets.subcommands import reset_password
from app.infra import clock
from app.infra.crypto import passwords

NEW = "a longer sentence that nobody thinks of"


@pytest.fixture
def member(app: APIFlask) -> SignedInUser:
    return create_user(app)


@pytest.fixture
def admin(member: SignedInUser) -> SignedInUser:
    user = member.colleague(email="grace@acme.example")
    with member.database.transaction() as session:
        role = update(Account).where(Account.id == user.account_id).values(role=Role.ADMIN.value)
        session.execute(role)
    return user


@pytest.fixture
def browser(app: APIFlask) -> Visitor:
    return visitor(app)


def link(admin: SignedInUser, account_id: str) -> Any:
    path = f"/api/accounts/{account_id}/password-reset"
    return admin.client.post(path, headers=admin.headers)


def token_of(url: str) -> str:
    return url.partition("token=")[2]


def test_an_admin_makes_a_link_that_changes_the_password_once(
    admin: SignedInUser, member: SignedInUser, browser: Visitor
) -> None:
    made = link(admin, member.account_id).get_json()
    token = token_of(made["url"])

    shown = browser.open(f"/sign-in/reset?token={token}")
    changed = browser.send("/sign-in/reset", token=token, new_password=NEW)
    again = browser.send("/sign-in/reset", token=token, new_password=PASSWORD)

    assert made["url"].startswith("http://localhost/sign-in/reset?token=")
    assert "New password" in shown.text
    assert "The password is changed" in changed.text
    assert "This link was used" in again.text
    assert member.sign_in(password=NEW).status_code == 200


def test_the_new_password_ends_all_sessions_and_keys(
    admin: SignedInUser, member: SignedInUser, browser: Visitor
) -> None:
    key = member.make_key()
    token = token_of(link(admin, member.account_id).get_json()["url"])

    browser.send("/sign-in/reset", token=token, new_password=NEW)

    for old in (member.session_token, key):
        assert member.client.get("/api/ext/session", headers=bearer(old)).status_code == 401


def test_until_the_link_is_used_nothing_changes(admin: SignedInUser, member: SignedInUser) -> None:
    link(admin, member.account_id)

    assert member.sign_in().status_code == 200
    assert member.client.get("/api/ext/session", headers=member.headers).status_code == 200


def test_two_factor_sign_in_stays(admin: SignedInUser, member: SignedInUser, browser: Visitor) -> None:
    with member.database.transaction() as session:
        session.get_one(Account, member.account_id).totp_enabled_at = clock.now()
    token = token_of(link(admin, member.account_id).get_json()["url"])

    browser.send("/sign-in/reset", token=token, new_password=NEW)

    assert member.sign_in(password=NEW).get_json()["code"] == "totp_required"


def test_a_newer_link_replaces_the_older(admin: SignedInUser, member: SignedInUser, browser: Visitor) -> None:
    older, newer = (token_of(link(admin, member.account_id).get_json()["url"]) for _ in range(2))

    assert (
        "was replaced by a newer one"
        in browser.client.get(f"/sign-in/reset?token={older}", follow_redirects=True).text
    )
    assert browser.open(f"/sign-in/reset?token={newer}").status_code == 200


def test_a_password_that_was_changed_meanwhile_ends_the_link(
    admin: SignedInUser, member: SignedInUser, browser: Visitor
) -> None:
    token = token_of(link(admin, member.account_id).get_json()["url"])
    with member.database.transaction() as session:
        accounts.set_password(session, member.account_id, passwords.hash_password(PASSWORD), now=clock.now())

    assert browser.open(f"/sign-in/reset?token={token}").status_code == 410


def test_a_link_expires(admin: SignedInUser, member: SignedInUser, browser: Visitor) -> None:
    token = token_of(link(admin, member.account_id).get_json()["url"])
    with member.database.transaction() as session:
        session.execute(update(PasswordReset).values(expires_at=clock.now()))

    assert browser.open(f"/sign-in/reset?token={token}").status_code == 410
    with member.database.transaction() as session:
        resets.purge_expired(session, now=clock.now())
        assert session.query(PasswordReset).count() == 0


def test_a_password_that_is_too_short_keeps_the_link(
    admin: SignedInUser, member: SignedInUser, browser: Visitor
) -> None:
    token = token_of(link(admin, member.account_id).get_json()["url"])

    refused = browser.send("/sign-in/reset", token=token, new_password="short")

    assert refused.status_code == 422
    assert browser.open(f"/sign-in/reset?token={token}").status_code == 200


def test_a_link_is_not_stored_and_is_in_the_audit_log(admin: SignedInUser, member: SignedInUser) -> None:
    token = token_of(link(admin, member.account_id).get_json()["url"])

    entry = recorded(member.database)[-1]
    with member.database.reading() as session:
        [row] = session.query(PasswordReset).all()

    assert (entry.action, entry.object_id, entry.actor_id) == (
        "password.reset_link",
        member.account_id,
        admin.account_id,
    )
    assert token.encode() not in (row.token_digest, row.issued_for)


def test_an_own_password_is_not_reset(admin: SignedInUser) -> None:
    refused = link(admin, admin.account_id)

    assert (refused.status_code, refused.get_json()["code"]) == (409, "password_reset_refused")
    assert "your own account" in refused.get_json()["detail"]


def test_a_disabled_account_gets_no_link(admin: SignedInUser, member: SignedInUser) -> None:
    with member.database.transaction() as session:
        accounts.disable(session, member.account_id, now=clock.now())

    assert "disabled" in link(admin, member.account_id).get_json()["detail"]


def test_an_admin_does_not_reset_the_password_of_an_operator(
    app: APIFlask, admin: SignedInUser, member: SignedInUser
) -> None:
    change_settings(app, operators=(member.email,))

    assert link(admin, member.account_id).get_json()["code"] == "operator_required"


def test_an_account_that_only_the_company_signs_in_gets_no_link(
    app: APIFlask, admin: SignedInUser, member: SignedInUser
) -> None:
    change_settings(app, oidc_issuer="https://id.acme.example")
    with member.database.transaction() as session:
        session.get_one(Account, member.account_id).password_hash = passwords.unusable()

    assert "company account" in link(admin, member.account_id).get_json()["detail"]


def test_without_passwords_nobody_gets_a_link(
    app: APIFlask, admin: SignedInUser, member: SignedInUser, browser: Visitor
) -> None:
    change_settings(app, password_sign_in=False)

    assert "Passwords are turned off" in link(admin, member.account_id).get_json()["detail"]
    assert "Passwords are turned off" in browser.open("/sign-in/forgotten").text


def test_a_member_makes_no_link(member: SignedInUser) -> None:
    other = member.colleague()

    assert link(member, other.account_id).get_json()["code"] == "admin_required"


def test_the_page_of_accounts_shows_the_link_once(
    app: APIFlask, admin: SignedInUser, member: SignedInUser
) -> None:
    pages = visitor(app, admin)

    shown = pages.send(f"/admin/accounts/{member.account_id}/password-reset")
    refused = pages.send(f"/admin/accounts/{admin.account_id}/password-reset")

    assert re.search(r"http://localhost/sign-in/reset\?token=[\w-]{43}", shown.text)
    assert "your own account" in refused.text


def test_an_own_account_has_no_button_that_always_refuses(
    app: APIFlask, admin: SignedInUser, member: SignedInUser
) -> None:
    text = visitor(app, admin).open("/admin/accounts").text
    own = f"/admin/accounts/{admin.account_id}/"

    assert f"{own}sign-out" in text
    for change in ("disable", "make-member", "password-reset"):
        assert f"{own}{change}" not in text
        assert f"/admin/accounts/{member.account_id}/{change.replace('member', 'admin')}" in text


def test_the_command_shows_a_link(app: APIFlask, member: SignedInUser, browser: Visitor) -> None:
    change_settings(app, public_url="http://localhost")

    shown = app.test_cli_runner().invoke(reset_password, [member.email])

    token = token_of(shown.stdout.splitlines()[0])
    browser.send("/sign-in/reset", token=token, new_password=NEW)
    assert member.sign_in(password=NEW).status_code == 200


def test_a_link_of_a_command_is_in_the_audit_log_of_the_workspace(
    app: APIFlask, member: SignedInUser
) -> None:
    app.test_cli_runner().invoke(reset_password, [member.email])

    links = [entry for entry in recorded(member.database) if entry.action == "password.reset_link"]
    assert [(entry.object_id, entry.workspace_id) for entry in links] == [
        (member.account_id, member.workspace_id)
    ]


@pytest.mark.parametrize(
    "values", [{"role": Role.MEMBER.value}, {"disabled_at": clock.now()}], ids=["demoted", "disabled"]
)
def test_a_link_ends_when_its_admin_is_none_any_more(
    admin: SignedInUser, member: SignedInUser, browser: Visitor, values: dict[str, Any]
) -> None:
    token = token_of(link(admin, member.account_id).get_json()["url"])
    with member.database.transaction() as session:
        session.execute(update(Account).where(Account.id == admin.account_id).values(values))

    shown = browser.open(f"/sign-in/reset?token={token}")
    used = browser.send("/sign-in/reset", token=token, new_password=NEW)

    assert (shown.status_code, used.status_code) == (410, 410)
    assert member.sign_in().status_code == 200


def test_the_command_says_why_there_is_no_link(app: APIFlask, member: SignedInUser) -> None:
    change_settings(app, password_sign_in=False)

    refused = app.test_cli_runner().invoke(reset_password, [member.email])

    assert (refused.exit_code, "Passwords are turned off" in refused.stderr) == (1, True)


def test_a_link_is_not_opened_over_an_unencrypted_connection(browser: Visitor) -> None:
    for method in ("GET", "POST"):
        response = browser.client.open("http://contacts.example/sign-in/reset?token=x", method=method)
        assert response.headers["Location"] == "/sign-in"
