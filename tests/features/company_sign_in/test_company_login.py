from __future__ import annotations

import pytest
from apiflask import APIFlask
from settings_support import change_settings
from users_support import SignedInUser, bearer
from werkzeug.test import TestResponse

from app.engine.accounts import accounts
from app.engine.accounts.sessions import LoginSession
from app.features.company_sign_in import codes, identities
from app.features.company_sign_in.users import CompanyUser
from app.infra.database import database_clock

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


@pytest.fixture
def code(user: SignedInUser) -> str:
    """A code of a sign-in with the user's company account in the browser."""
    challenge = codes.challenge_of(VERIFIER)
    with user.database.transaction() as session:
        return codes.issue(session, user.account_id, challenge, now=database_clock.now())


def exchange(user: SignedInUser, code: str, verifier: str = VERIFIER) -> TestResponse:
    body = {"code": code, "code_verifier": verifier, "client": {"name": "extension", "version": "1"}}
    return user.client.post("/api/ext/company-login", json=body)


def outcome(response: TestResponse) -> tuple[int, str | None]:
    return response.status_code, response.get_json().get("code")


def test_the_code_is_exchanged_for_a_session_as_after_a_login(user: SignedInUser, code: str) -> None:
    response = exchange(user, code)

    body = response.get_json()
    session = user.client.get("/api/ext/session", headers=bearer(body["access_token"])).get_json()
    assert {key: body[key] for key in session} == session
    with user.database.reading() as transaction:
        stored = transaction.get_one(LoginSession, session_id(user, body["access_token"]))
    assert (stored.method, stored.client_name) == ("company", "extension")


def session_id(user: SignedInUser, token: str) -> str:
    sessions = user.client.get("/api/sessions", headers=bearer(token)).get_json()["sessions"]
    return next(entry["id"] for entry in sessions if entry["current"])


def test_a_code_is_exchanged_once(user: SignedInUser, code: str) -> None:
    exchange(user, code)

    assert outcome(exchange(user, code)) == (401, "company_sign_in_failed")


def test_a_stolen_code_is_useless_without_the_verifier_and_is_used_up(user: SignedInUser, code: str) -> None:
    assert outcome(exchange(user, code, "x" * 43)) == (401, "company_sign_in_failed")
    assert outcome(exchange(user, code)) == (401, "company_sign_in_failed")


def test_a_user_who_lost_access_meanwhile_gets_no_session(user: SignedInUser, code: str) -> None:
    gone = CompanyUser("https://login.acme.example", "ada", None, "Ada", "none")
    with user.database.transaction() as session:
        now = database_clock.now()
        identities.link(session, gone.issuer, gone.subject, user.account_id, now=now)
        identities.withdraw(session, gone, now=now)

    assert outcome(exchange(user, code)) == (401, "company_sign_in_failed")


def test_an_account_that_was_disabled_meanwhile_gets_no_session(user: SignedInUser, code: str) -> None:
    with user.database.transaction() as session:
        accounts.disable(session, user.account_id, now=database_clock.now())

    assert outcome(exchange(user, code)) == (403, "account_disabled")


def test_the_error_of_a_verifier_says_what_to_send(user: SignedInUser) -> None:
    response = exchange(user, "a-code", "x")

    [error] = response.get_json()["errors"]
    assert (response.status_code, error["pointer"]) == (422, "/code_verifier")
    assert "43 to 128 letters" in error["detail"]


def test_guesses_are_limited(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_login_address="2/minute")

    statuses = [exchange(user, f"guess-{n}").status_code for n in range(3)]

    assert statuses == [401, 401, 429]


@pytest.mark.parametrize(
    ("chosen", "options"),
    [
        ({}, {"password": True, "company": None}),
        (
            {
                "password_sign_in": False,
                "oidc_issuer": "https://login.acme.example",
                "oidc_name": "Acme",
                "oidc_extension_ids": ("a" * 32,),
            },
            {
                "password": False,
                "company": {"name": "Acme", "path": "/sign-in/company", "extension_ids": ["a" * 32]},
            },
        ),
    ],
)
def test_the_options_say_how_one_can_sign_in(
    app: APIFlask, user: SignedInUser, chosen: dict[str, object], options: dict[str, object]
) -> None:
    change_settings(app, **chosen)

    assert user.client.get("/api/ext/sign-in-options").get_json() == options
