from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from prometheus_client import REGISTRY
from settings_support import change_settings
from users_support import PASSWORD, SignedInUser, bearer
from werkzeug.test import TestResponse

from app.engine.accounts import accounts, login_throttle
from app.engine.accounts.accounts import Account
from app.infra import clock
from app.infra.crypto import passwords

NEW = "a longer sentence that nobody else would think of"


def change(
    user: SignedInUser, *, token: str = "", address: str = "127.0.0.1", **changes: Any
) -> TestResponse:
    body = {"current_password": PASSWORD, "new_password": NEW} | changes
    return user.client.post(
        "/api/password",
        json=body,
        headers=bearer(token or user.session_token),
        environ_base={"REMOTE_ADDR": address},
    )


def refused(user: SignedInUser, token: str) -> str:
    code: str = user.client.get("/api/ext/session", headers=bearer(token)).get_json()["code"]
    return code


def test_the_new_password_works_and_the_old_one_does_not(user: SignedInUser) -> None:
    response = change(user)

    assert (response.status_code, response.data) == (204, b"")
    assert user.sign_in(password=NEW).status_code == 200
    assert user.sign_in().get_json()["code"] == "invalid_credentials"


def test_a_new_password_ends_the_tokens_of_its_account_only(user: SignedInUser) -> None:
    tokens = [user.session_token, user.sign_in().get_json()["access_token"], user.make_key()]
    colleague = user.colleague()

    change(user)

    assert [refused(user, token) for token in tokens] == ["token_revoked"] * 3
    assert user.client.get("/api/ext/session", headers=colleague.headers).status_code == 200


def test_a_new_password_is_stored_with_the_published_parameters(user: SignedInUser) -> None:
    change(user)

    with user.database.reading() as session:
        password_hash = session.get_one(Account, user.account_id).password_hash
    assert passwords.verify(password_hash, NEW)
    assert not passwords.is_outdated(password_hash)


def test_a_wrong_current_password_changes_nothing_and_is_not_a_401(user: SignedInUser) -> None:
    response = change(user, current_password="not the password")

    assert (response.status_code, response.get_json()["code"]) == (422, "validation_error")
    assert response.get_json()["errors"] == [
        {"pointer": "/current_password", "detail": "This is not the account's password."}
    ]
    assert user.sign_in().status_code == 200


def test_guesses_with_a_stolen_token_are_limited_like_logins(user: SignedInUser) -> None:
    responses = [change(user, current_password="not the password").status_code for _ in range(11)]

    sign_in = user.sign_in()

    assert responses == [422] * 10 + [429]
    assert sign_in.get_json()["code"] == "too_many_attempts"


def test_guesses_from_many_networks_are_slowed_down(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        for _ in range(20):
            login_throttle.record_failure(session, user.email, now=clock.now())

    response = change(user, address="198.51.77.1")

    assert (response.status_code, response.get_json()["code"]) == (429, "too_many_attempts")


def test_a_password_changed_during_the_check_is_not_overwritten(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_hash = passwords.hash_password("another password")
    real = passwords.verify

    def change_meanwhile(password_hash: str | None, password: str) -> bool:
        with user.database.transaction() as session:
            accounts.set_password(session, user.account_id, other_hash, now=clock.now())
        return real(password_hash, password)

    monkeypatch.setattr(passwords, "verify", change_meanwhile)

    response = change(user)

    monkeypatch.undo()
    assert response.get_json()["errors"][0]["pointer"] == "/current_password"
    assert user.sign_in(password="another password").status_code == 200


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"new_password": "seven77"}, "/new_password"),
        ({"new_password": "x" * 129}, "/new_password"),
        ({"new_password": None}, "/new_password"),
        ({"current_password": ""}, "/current_password"),
        ({"account_id": "acc_of_somebody_else"}, "/account_id"),
    ],
)
def test_invalid_fields_of_a_password_change_are_named(
    user: SignedInUser, wrong: dict[str, Any], pointer: str
) -> None:
    response = change(user, **wrong)

    assert (response.status_code, response.get_json()["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in response.get_json()["errors"]] == [pointer]


def test_an_api_key_cannot_change_the_password(user: SignedInUser) -> None:
    response = change(user, token=user.make_key())

    assert (response.status_code, response.get_json()["code"]) == (403, "insufficient_scope")
    assert user.sign_in().status_code == 200


def test_a_password_change_reports_every_limit_that_applies(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_write="7/minute")

    response = change(user, current_password="not the password")

    assert response.headers["RateLimit-Policy"] == (
        '"write";q=7;w=60, "login";q=60;w=60, "login_account";q=10;w=60'
    )


def test_wrong_current_passwords_are_counted_in_the_metrics(user: SignedInUser) -> None:
    before = REGISTRY.get_sample_value("ext_sign_ins_total", {"outcome": "wrong"}) or 0

    change(user, current_password="not the password")

    assert REGISTRY.get_sample_value("ext_sign_ins_total", {"outcome": "wrong"}) == before + 1
