from __future__ import annotations

from contextlib import ExitStack

import pytest
from apiflask import APIBlueprint, APIFlask
from flask import Response
from prometheus_client import REGISTRY
from settings_support import change_settings
from users_support import PASSWORD, SignedInUser, bearer, create_user

from app.domain.callers import Scope
from app.domain.errors import Unavailable
from app.domain.tokens import TokenKind, new_token
from app.engine.accounts import accounts, authentication
from app.infra import clock
from app.infra.database.db import Database
from app.server import bulkhead
from app.web.bodies.body import json_response
from app.web.sign_in import auth
from app.web.sign_in.auth import bearer as bearer_auth
from app.web.sign_in.auth import caller

PATH = "/api/ext/session"


@pytest.fixture
def app(own_app: APIFlask) -> APIFlask:
    return own_app


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    blueprint = APIBlueprint("scoped", __name__)

    @blueprint.get("/for-revealing")
    @blueprint.auth_required(bearer_auth, roles=[Scope.REVEAL])
    def for_revealing() -> Response:
        return json_response({"account": caller().account_id})

    @blueprint.get("/while-it-ends")
    @blueprint.auth_required(bearer_auth)
    def while_it_ends() -> Response:
        database: Database = app.extensions["services"].database
        with database.transaction() as session:
            accounts.disable(session, caller().account_id, now=clock.now())
        return json_response({"secret": "of the workspace"})

    app.register_blueprint(blueprint)
    return create_user(app)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer"}])
def test_without_a_token_the_challenge_names_no_error(user: SignedInUser, headers: dict[str, str]) -> None:
    response = user.client.get(PATH, headers=headers)

    assert (response.status_code, response.get_json()["code"]) == (401, "missing_token")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="ext"'


@pytest.mark.parametrize(
    "token",
    [
        "nonsense",
        "ses_" + "0" * 49,
        "a=b",
        "ses_é",
        pytest.param(new_token(TokenKind.API_KEY), id="well-formed"),
        "a b",
    ],
)
def test_a_token_that_was_never_issued_is_invalid(user: SignedInUser, token: str) -> None:
    response = user.client.get(PATH, headers={"Authorization": f"Bearer {token}"})

    assert (response.status_code, response.get_json()["code"]) == (401, "invalid_token")
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="ext", error="invalid_token"'
    assert response.mimetype == "application/problem+json"


def test_the_scheme_may_be_written_in_any_case(user: SignedInUser) -> None:
    response = user.client.get(PATH, headers={"Authorization": f"bearer {user.session_token}"})

    assert response.status_code == 200


def test_a_session_has_every_scope(user: SignedInUser) -> None:
    response = user.client.get("/for-revealing", headers=user.headers)

    assert response.get_json() == {"account": user.account_id}


def test_a_key_without_the_scope_is_refused(user: SignedInUser) -> None:
    response = user.client.get("/for-revealing", headers=bearer(user.make_key(Scope.LOOKUP)))

    assert (response.status_code, response.get_json()["code"]) == (403, "insufficient_scope")
    assert response.mimetype == "application/problem+json"


def test_a_key_with_the_scope_passes(user: SignedInUser) -> None:
    response = user.client.get("/for-revealing", headers=bearer(user.make_key(Scope.REVEAL)))

    assert response.status_code == 200


@pytest.mark.parametrize("ends", ["disable", "set_password"])
def test_tokens_of_a_disabled_account_stop_working(user: SignedInUser, ends: str) -> None:
    key = user.make_key()
    changes = {"disable": {}, "set_password": {"password_hash": "new"}}[ends]

    with user.database.transaction() as session:
        getattr(accounts, ends)(session, user.account_id, **changes, now=clock.now())

    for token in (user.session_token, key):
        response = user.client.get(PATH, headers=bearer(token))
        assert (response.status_code, response.get_json()["code"]) == (401, "token_revoked")


def test_revoking_api_access_ends_the_keys_but_not_the_sessions(user: SignedInUser) -> None:
    key = user.make_key()

    with user.database.transaction() as session:
        accounts.revoke_api_access(session, user.account_id, now=clock.now())

    assert user.client.get(PATH, headers=bearer(key)).get_json()["code"] == "token_revoked"
    assert user.client.get(PATH, headers=user.headers).status_code == 200


def test_guessed_tokens_get_401_and_then_429_and_do_not_affect_valid_tokens(
    app: APIFlask, user: SignedInUser
) -> None:
    change_settings(app, limit_login_address="5/minute")

    responses = [
        user.client.get(PATH, headers=bearer(new_token(TokenKind.SESSION))).status_code for _ in range(7)
    ]

    assert responses == [401] * 5 + [429] * 2
    assert user.client.get(PATH, headers=user.headers).status_code == 200


def test_malformed_tokens_are_not_counted_as_guesses(app: APIFlask, user: SignedInUser) -> None:
    change_settings(app, limit_login_address="1/minute")

    responses = [user.client.get(PATH, headers=bearer("ses_typo")).status_code for _ in range(5)]

    assert responses == [401] * 5


@pytest.mark.parametrize("name", ["access_token", "token", "api_key", "Authorization"])
def test_a_token_in_the_url_is_ignored(user: SignedInUser, name: str) -> None:
    response = user.client.get(PATH, query_string={name: user.session_token})

    assert (response.status_code, response.get_json()["code"]) == (401, "missing_token")


def test_a_token_in_a_cookie_is_ignored(user: SignedInUser) -> None:
    user.client.set_cookie("access_token", user.session_token)

    response = user.client.get(PATH)

    assert (response.status_code, response.get_json()["code"]) == (401, "missing_token")
    assert "Set-Cookie" not in response.headers


def test_basic_authentication_is_rejected(user: SignedInUser) -> None:
    response = user.client.get(PATH, auth=(user.email, PASSWORD))

    assert (response.status_code, response.get_json()["code"]) == (401, "missing_token")


def test_a_valid_token_under_another_scheme_is_rejected(user: SignedInUser) -> None:
    response = user.client.get(PATH, headers={"Authorization": f"Token {user.session_token}"})

    assert (response.status_code, response.get_json()["code"]) == (401, "missing_token")


def test_credentials_in_the_url_are_ignored(user: SignedInUser) -> None:
    secrets = {"email": user.email, "password": PASSWORD}

    response = user.client.post("/api/ext/login", query_string=secrets, json={})

    assert (response.status_code, response.get_json()["code"]) == (422, "validation_error")


def test_rejected_guesses_have_limit_headers_and_are_counted_in_the_metrics(user: SignedInUser) -> None:
    outcome = {"outcome": "invalid_token"}
    before = REGISTRY.get_sample_value("ext_tokens_refused_total", outcome) or 0

    response = user.client.get(PATH, headers=bearer(new_token(TokenKind.SESSION)))

    assert response.headers["RateLimit-Policy"] == '"token";q=60;w=60'
    assert response.headers["RateLimit"].startswith('"token";r=59;t=')
    assert REGISTRY.get_sample_value("ext_tokens_refused_total", outcome) == before + 1


def test_jobs_of_a_disabled_account_continue_and_belong_to_its_workspace(user: SignedInUser) -> None:
    response = user.client.post(
        "/api/ext/reveal/email",
        json={"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}},
        headers=user.headers | {"Prefer": "respond-async"},
    )
    colleague = user.colleague()
    with user.database.transaction() as session:
        accounts.disable(session, user.account_id, now=clock.now())

    polled = user.client.get(response.headers["Location"], headers=colleague.headers)

    assert (polled.status_code, polled.get_json()["job"]["status"]) == (202, "queued")


@pytest.mark.parametrize(("long", "status"), [(0, 401), (60, 200)])
def test_a_slow_response_is_withheld_if_its_token_ended_meanwhile(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch, long: int, status: int
) -> None:
    monkeypatch.setattr(auth, "RECHECK_AFTER_SECONDS", long)

    response = user.client.get("/while-it-ends", headers=user.headers)

    assert response.status_code == status
    assert response.get_json().get("code") == {401: "token_revoked"}.get(status)


def test_a_slow_response_is_sent_if_its_token_is_still_valid(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "RECHECK_AFTER_SECONDS", 0)

    response = user.client.get("/for-revealing", headers=user.headers)

    assert response.get_json() == {"account": user.account_id}


def test_a_slow_logout_still_succeeds(user: SignedInUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "RECHECK_AFTER_SECONDS", 0)

    response = user.client.post("/api/ext/logout", headers=user.headers)

    assert response.status_code == 204


def test_a_slow_response_is_withheld_if_its_token_cannot_be_checked_again(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_words: object, **_options: object) -> None:
        raise Unavailable

    monkeypatch.setattr(auth, "RECHECK_AFTER_SECONDS", 0)
    monkeypatch.setattr(authentication, "recheck", away)

    response = user.client.get("/for-revealing", headers=user.headers)

    assert (response.status_code, response.get_json()["code"]) == (503, "unavailable")


def test_requests_queue_for_the_database(user: SignedInUser, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand requests at once would otherwise wait for a pooled connection, and be refused after 5 s."""
    monkeypatch.setattr(bulkhead, "MAX_QUEUE_SECONDS", 0.01)
    slots = user.client.application.extensions["services"].bulkhead
    subject = {"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}}

    with ExitStack() as stack:
        for number in range(bulkhead.MAX_READS):
            stack.enter_context(slots.db_slot(f"wks_{number}"))
        refused = user.client.post("/api/ext/lookup", json=subject, headers=user.headers)

    assert refused.status_code == 503
    assert user.client.post("/api/ext/lookup", json=subject, headers=user.headers).status_code == 200
