from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from members import Member, bearer, join
from sqlalchemy import update

from app.core.accounts import accounts, sessions
from app.core.accounts.accounts import Account
from app.domain.callers import Scope
from app.infra import clock


@pytest.fixture
def member(app: APIFlask) -> Member:
    return join(app)


def make(member: Member, token: str = "", **body: Any) -> Any:
    headers = bearer(token or member.session_token)
    return member.client.post("/api/keys", json={"name": "CRM sync"} | body, headers=headers)


def index(member: Member) -> list[dict[str, Any]]:
    answer = member.client.get("/api/keys", headers=member.headers)
    keys: list[dict[str, Any]] = answer.get_json()["keys"]
    return keys


def test_a_new_key_is_shown_once_and_works(member: Member) -> None:
    answer = make(member, scopes=["reveal", "lookup"])

    body = answer.get_json()
    used = member.client.get("/api/ext/session", headers=bearer(body["key"]))
    assert answer.status_code == 201
    assert body["key"].startswith(body["prefix"])
    assert (body["name"], body["expires_at"]) == ("CRM sync", None)
    assert used.get_json()["auth"]["scopes"] == body["scopes"] == ["lookup", "reveal"]
    assert [(each["id"], "key" in each) for each in index(member)] == [(body["id"], False)]


def test_a_replay_makes_no_second_key_and_does_not_show_the_first_again(member: Member) -> None:
    headers = member.headers | {"Idempotency-Key": "one click"}
    first = member.client.post("/api/keys", json={"name": "CRM sync"}, headers=headers)

    again = member.client.post("/api/keys", json={"name": "CRM sync"}, headers=headers)

    shown = first.get_json()
    del shown["key"]
    assert (again.status_code, again.headers["Idempotent-Replay"]) == (200, "true")
    assert again.get_json() == shown
    assert [each["id"] for each in index(member)] == [shown["id"]]


def test_an_idempotency_key_makes_no_other_key(member: Member) -> None:
    headers = member.headers | {"Idempotency-Key": "one click"}
    member.client.post("/api/keys", json={"name": "CRM sync"}, headers=headers)

    other = member.client.post("/api/keys", json={"name": "another"}, headers=headers)

    assert (other.status_code, other.get_json()["code"]) == (422, "idempotency_key_reused")


def test_a_colleague_does_not_see_the_key_by_sending_the_same_again(member: Member) -> None:
    same = {"Idempotency-Key": "one click"}
    member.client.post("/api/keys", json={"name": "CRM sync"}, headers=member.headers | same)
    with member.database.transaction() as session:
        colleague = accounts.create(
            session,
            member.workspace_id,
            email="bob@acme.example",
            name="Bob",
            password_hash="",
            api_access=True,
            now=clock.now(),
        )
        _, token = sessions.start(session, colleague.id, network=b"", now=clock.now())

    answer = member.client.post("/api/keys", json={"name": "CRM sync"}, headers=bearer(token) | same)

    assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found")


def test_a_key_has_every_scope_unless_told_otherwise(member: Member) -> None:
    assert make(member).get_json()["scopes"] == [scope.value for scope in Scope]


def test_a_key_ends_when_it_was_told_to(member: Member) -> None:
    end = clock.now() + timedelta(days=1)

    body = make(member, expires_at=end.isoformat()).get_json()

    assert body["expires_at"] == clock.rfc3339(end)


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
def test_wrong_fields_of_a_key_are_named(member: Member, change: dict[str, Any], pointer: str) -> None:
    answer = make(member, **change)

    assert (answer.status_code, answer.get_json()["code"]) == (422, "validation_error")
    assert [error["pointer"] for error in answer.get_json()["errors"]] == [pointer]


def test_an_account_without_api_access_makes_no_key(member: Member) -> None:
    with member.database.transaction() as session:
        accounts.revoke_api_access(session, member.account_id, now=clock.now())

    answer = make(member)

    assert (answer.status_code, answer.get_json()["code"]) == (403, "api_access_required")
    assert index(member) == []


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/api/keys"), ("GET", "/api/keys"), ("DELETE", "/api/keys/key_x")]
)
def test_a_key_manages_no_keys(member: Member, method: str, path: str) -> None:
    answer = member.client.open(
        path, method=method, json={"name": "another"}, headers=bearer(member.make_key())
    )

    assert (answer.status_code, answer.get_json()["code"]) == (403, "api_access_required")


def test_a_revoked_key_ends_at_once_and_leaves_the_list(member: Member) -> None:
    made = make(member).get_json()

    answer = member.client.delete(f"/api/keys/{made['id']}", headers=member.headers)

    after = member.client.get("/api/ext/session", headers=bearer(made["key"]))
    assert (answer.status_code, answer.data, answer.content_type) == (204, b"", None)
    assert (after.status_code, after.get_json()["code"]) == (401, "token_revoked")
    assert index(member) == []


def test_revoking_again_is_harmless(member: Member) -> None:
    made = make(member).get_json()
    member.client.delete(f"/api/keys/{made['id']}", headers=member.headers)

    answer = member.client.delete(f"/api/keys/{made['id']}", headers=member.headers)

    assert answer.status_code == 204


def test_somebody_elses_key_looks_exactly_like_one_that_never_was(app: APIFlask, member: Member) -> None:
    stranger = join(app, email="eve@acme.example")
    theirs = make(stranger).get_json()
    same_id = {"X-Request-Id": "same"}

    foreign = member.client.delete(f"/api/keys/{theirs['id']}", headers=member.headers | same_id)
    unknown = member.client.delete(f"/api/keys/key_{'0' * 24}", headers=member.headers | same_id)

    assert (foreign.status_code, foreign.get_json()["code"]) == (404, "not_found")
    assert foreign.data == unknown.data
    assert [each["id"] for each in index(stranger)] == [theirs["id"]]
    assert index(member) == []


def test_the_list_says_when_a_key_was_used(member: Member) -> None:
    made = make(member).get_json()
    before = index(member)

    member.client.get("/api/ext/session", headers=bearer(made["key"]))

    assert before[0]["last_used_at"] is None
    assert index(member)[0]["last_used_at"].endswith("Z")


def test_a_key_of_an_account_that_is_enabled_again_stays_ended(member: Member) -> None:
    made = make(member).get_json()
    with member.database.transaction() as session:
        accounts.disable(session, member.account_id, now=clock.now())
    with member.database.transaction() as session:
        session.execute(update(Account).values(disabled_at=None))

    answer = member.client.get("/api/ext/session", headers=bearer(made["key"]))

    assert answer.get_json()["code"] == "token_revoked"
