from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from jobs_support import LIFETIME, set_clock
from sqlalchemy import update
from users_support import SignedInUser, bearer, create_user, keys_of

from app.domain.callers import Scope
from app.engine.accounts import accounts, api_keys, sessions
from app.engine.accounts.accounts import Account
from app.infra import clock
from app.infra.database.session import Session
from app.web.accounts.key_changes import MAX_LIFETIME


def make(user: SignedInUser, token: str = "", **body: Any) -> Any:
    headers = bearer(token or user.session_token)
    return user.client.post("/api/keys", json={"name": "CRM sync"} | body, headers=headers)


def index(user: SignedInUser) -> list[dict[str, Any]]:
    response = user.client.get("/api/keys", headers=user.headers)
    keys: list[dict[str, Any]] = response.get_json()["keys"]
    return keys


def test_a_new_key_is_shown_once_and_works(user: SignedInUser) -> None:
    response = make(user, scopes=["reveal", "lookup"])

    body = response.get_json()
    used = user.client.get("/api/ext/session", headers=bearer(body["key"]))
    assert response.status_code == 201
    assert body["key"].startswith(body["prefix"])
    assert (body["name"], body["expires_at"]) == ("CRM sync", None)
    assert used.get_json()["auth"]["scopes"] == body["scopes"] == ["lookup", "reveal"]
    assert [(key["id"], "key" in key) for key in index(user)] == [(body["id"], False)]


def test_a_replay_creates_no_second_key_and_does_not_return_the_secret(user: SignedInUser) -> None:
    headers = user.headers | {"Idempotency-Key": "one click"}
    first = user.client.post("/api/keys", json={"name": "CRM sync"}, headers=headers)

    again = user.client.post("/api/keys", json={"name": "CRM sync"}, headers=headers)

    shown = first.get_json()
    del shown["key"]
    assert (again.status_code, again.headers["Idempotent-Replay"]) == (200, "true")
    assert again.get_json() == shown
    assert [key["id"] for key in index(user)] == [shown["id"]]


def test_an_idempotency_key_cannot_be_reused_for_another_key(user: SignedInUser) -> None:
    headers = user.headers | {"Idempotency-Key": "one click"}
    user.client.post("/api/keys", json={"name": "CRM sync"}, headers=headers)

    other = user.client.post("/api/keys", json={"name": "another"}, headers=headers)

    assert (other.status_code, other.get_json()["code"]) == (422, "idempotency_key_reused")


def test_the_same_request_of_a_colleague_is_another_one(user: SignedInUser) -> None:
    same = {"Idempotency-Key": "one click"}
    user.client.post("/api/keys", json={"name": "CRM sync"}, headers=user.headers | same)
    with user.database.transaction() as session:
        colleague = accounts.create(
            session,
            user.workspace_id,
            email="bob@acme.example",
            name="Bob",
            password_hash="",
            api_access=True,
            now=clock.now(),
        )
        _, token = sessions.start(session, colleague.id, network=b"", lifetime=LIFETIME, now=clock.now())

    response = user.client.post("/api/keys", json={"name": "CRM sync"}, headers=bearer(token) | same)

    assert (response.status_code, response.get_json()["code"]) == (422, "idempotency_key_reused")


def test_a_key_has_every_scope_by_default(user: SignedInUser) -> None:
    assert make(user).get_json()["scopes"] == [scope.value for scope in Scope]


def test_a_key_expires_at_its_expiry_time(user: SignedInUser) -> None:
    expires_at = clock.now() + timedelta(days=1)

    body = make(user, expires_at=expires_at.isoformat()).get_json()

    assert body["expires_at"] == clock.rfc3339(expires_at)


@pytest.mark.parametrize(
    ("after", "status"),
    [
        (timedelta(0), 422),
        (timedelta(milliseconds=1), 201),
        (MAX_LIFETIME, 201),
        (MAX_LIFETIME + timedelta(milliseconds=1), 422),
    ],
)
def test_the_expiry_of_a_key_is_in_the_future_and_at_most_a_hundred_years_ahead(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch, after: timedelta, status: int
) -> None:
    now = clock.now().replace(microsecond=0)
    set_clock(monkeypatch, lambda: now)

    response = make(user, expires_at=(now + after).isoformat())

    assert response.status_code == status


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"name": "  "}, "/name"),
        ({"name": None}, "/name"),
        ({"name": "x" * 101}, "/name"),
        ({"scopes": ["admin"]}, "/scopes/0"),
        ({"scopes": []}, "/scopes"),
        ({"scopes": "lookup"}, "/scopes"),
        ({"scopes": [["lookup"]]}, "/scopes/0"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
        ({"expires_at": "2030-01-01T00:00:00"}, "/expires_at"),
        ({"expires_at": "9999-12-31T23:59:59-23:59"}, "/expires_at"),
        ({"expires_at": "0001-01-01T00:00:00+23:59"}, "/expires_at"),
        ({"expires_at": 4102444800}, "/expires_at"),
        ({"admin": True}, "/admin"),
    ],
)
def test_invalid_fields_of_a_key_are_named(user: SignedInUser, change: dict[str, Any], pointer: str) -> None:
    response = make(user, **change)

    assert (response.status_code, response.get_json()["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in response.get_json()["errors"]] == [pointer]


def test_an_account_with_too_many_keys_has_to_revoke_one(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_keys, "MAX_KEYS", 2)
    first = make(user).get_json()
    make(user)

    refused = make(user)
    user.client.delete(f"/api/keys/{first['id']}", headers=user.headers)
    created = make(user)

    problem = refused.get_json()
    assert (refused.status_code, problem["code"]) == (422, "validation_error")
    assert problem["detail"] == "The account has 2 API keys. Revoke one that is no longer used."
    assert created.status_code == 201


@pytest.mark.parametrize("end", [accounts.disable, sessions.end_all])
def test_a_session_that_ends_while_the_key_waits_for_the_account_creates_none(
    user: SignedInUser, monkeypatch: pytest.MonkeyPatch, end: Callable[..., object]
) -> None:
    """A change of the password has the lock first, and ends all sessions and keys."""
    require_api_access = accounts.require_api_access

    def after_the_change(session: Session, account_id: str) -> None:
        end(session, account_id, now=clock.now())
        require_api_access(session, account_id)

    monkeypatch.setattr(accounts, "require_api_access", after_the_change)

    refused = make(user)

    assert (refused.status_code, refused.get_json()["code"]) == (401, "token_revoked")
    with user.database.reading() as session:
        assert keys_of(session, user.account_id) == []


def test_an_account_without_api_access_cannot_create_a_key(user: SignedInUser) -> None:
    with user.database.transaction() as session:
        accounts.revoke_api_access(session, user.account_id, now=clock.now())

    response = make(user)

    assert (response.status_code, response.get_json()["code"]) == (403, "api_access_required")
    assert index(user) == []


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/api/keys"), ("GET", "/api/keys"), ("DELETE", "/api/keys/key_x")]
)
def test_a_key_cannot_manage_keys(user: SignedInUser, method: str, path: str) -> None:
    response = user.client.open(
        path, method=method, json={"name": "another"}, headers=bearer(user.make_key())
    )

    assert (response.status_code, response.get_json()["code"]) == (403, "api_access_required")


def test_a_revoked_key_stops_working_at_once_and_is_no_longer_listed(user: SignedInUser) -> None:
    created = make(user).get_json()

    response = user.client.delete(f"/api/keys/{created['id']}", headers=user.headers)

    after = user.client.get("/api/ext/session", headers=bearer(created["key"]))
    assert (response.status_code, response.data, response.content_type) == (204, b"", None)
    assert (after.status_code, after.get_json()["code"]) == (401, "token_revoked")
    assert index(user) == []


def test_revoking_again_is_harmless(user: SignedInUser) -> None:
    created = make(user).get_json()
    user.client.delete(f"/api/keys/{created['id']}", headers=user.headers)

    response = user.client.delete(f"/api/keys/{created['id']}", headers=user.headers)

    assert response.status_code == 204


def test_another_accounts_key_is_indistinguishable_from_a_missing_one(
    app: APIFlask, user: SignedInUser
) -> None:
    stranger = create_user(app, email="eve@acme.example")
    theirs = make(stranger).get_json()
    same_id = {"X-Request-Id": "same"}

    foreign = user.client.delete(f"/api/keys/{theirs['id']}", headers=user.headers | same_id)
    unknown = user.client.delete(f"/api/keys/key_{'0' * 24}", headers=user.headers | same_id)

    assert (foreign.status_code, foreign.get_json()["code"]) == (404, "not_found")
    assert foreign.data == unknown.data
    assert [key["id"] for key in index(stranger)] == [theirs["id"]]
    assert index(user) == []


def test_the_list_has_the_time_of_the_last_use(user: SignedInUser) -> None:
    created = make(user).get_json()
    before = index(user)

    user.client.get("/api/ext/session", headers=bearer(created["key"]))

    assert before[0]["last_used_at"] is None
    assert index(user)[0]["last_used_at"].endswith("Z")


def test_a_key_stays_ended_after_its_account_is_enabled_again(user: SignedInUser) -> None:
    created = make(user).get_json()
    with user.database.transaction() as session:
        accounts.disable(session, user.account_id, now=clock.now())
    with user.database.transaction() as session:
        session.execute(update(Account).values(disabled_at=None))

    response = user.client.get("/api/ext/session", headers=bearer(created["key"]))

    assert response.get_json()["code"] == "token_revoked"
