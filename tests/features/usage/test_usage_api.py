from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from apiflask import APIFlask
from sqlalchemy import update
from users_support import SignedInUser, bearer, create_user
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.engine.accounts.accounts import Account, Role
from app.infra import clock


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    colleague = user.colleague(email="boss@acme.example")
    with user.database.transaction() as session:
        session.execute(update(Account).where(Account.id == colleague.account_id).values(role=Role.ADMIN))
    return colleague


def submit(user: SignedInUser, email: str, token: str = "") -> None:
    headers = bearer(token or user.session_token) | {"Prefer": "respond-async"}
    user.client.post("/api/ext/reveal/email", json={"subject": {"email": email}}, headers=headers)


def get(user: SignedInUser, query: str = "", token: str = "") -> TestResponse:
    return user.client.get(f"/api/usage{query}", headers=bearer(token or user.session_token))


def jobs(response: TestResponse) -> list[tuple[str | None, int]]:
    body: dict[str, Any] = response.get_json()
    return [(row["name"], row["jobs"]) for row in body["rows"]]


def test_only_keys_that_may_spend_read_usage(user: SignedInUser) -> None:
    statuses = {scope: get(user, token=user.make_key(scope)).status_code for scope in Scope}

    spending = {Scope.REVEAL, Scope.ENRICH}
    assert statuses == {scope: 200 if scope in spending else 403 for scope in Scope}


def test_members_and_keys_see_their_account_admins_the_workspace(
    user: SignedInUser, admin: SignedInUser
) -> None:
    key = user.make_key(Scope.REVEAL)
    submit(user, "one@acme.com")
    submit(user, "two@acme.com", key)
    submit(admin, "three@acme.com")

    assert jobs(get(user, "?by=account")) == jobs(get(user, "?by=account", key)) == [("Ada Lovelace", 2)]
    assert sorted(jobs(get(admin, "?by=account"))) == [("Ada Lovelace", 2), ("Bob", 1)]
    assert jobs(get(admin, "?by=key")) == [(None, 2), ("CRM sync", 1)]


def test_another_workspace_sees_nothing(app: APIFlask, user: SignedInUser) -> None:
    submit(user, "one@acme.com")
    stranger = create_user(app, email="eve@babbage.example")

    assert get(stranger).get_json()["rows"] == []


def test_the_default_is_this_month_by_day(user: SignedInUser) -> None:
    submit(user, "one@acme.com")

    body = get(user).get_json()

    today = clock.now().date()
    assert (body["from"], body["to"]) == (today.replace(day=1).isoformat(), today.isoformat())
    assert (body["by"], [row["id"] for row in body["rows"]]) == ("day", [today.isoformat()])
    assert body["totals"] == {
        "credits": 0,
        "jobs": 1,
        "found": 0,
        "not_found": 0,
        "provider_calls": 0,
        "provider_cost": 0.0,
    }


def test_the_csv_file_has_the_same_rows(user: SignedInUser) -> None:
    submit(user, "one@acme.com")

    response = get(user, "?by=kind&format=csv")

    rows = list(csv.DictReader(io.StringIO(response.text)))
    assert response.mimetype == "text/csv"
    assert rows == [
        {
            "id": "reveal.email",
            "name": "",
            "credits": "0",
            "jobs": "1",
            "found": "0",
            "not_found": "0",
            "provider_calls": "0",
            "provider_cost": "0.0",
        }
    ]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("?from=2026-02-01&to=2026-01-01", "/to"),
        ("?from=2024-01-01&to=2026-01-01", "/from"),
        ("?from=9999-12-01&to=9999-12-31", "/to"),
        ("?from=yesterday", "/from"),
        ("?by=month", "/by"),
        ("?format=pdf", "/format"),
    ],
)
def test_an_invalid_period_or_grouping_is_refused(user: SignedInUser, query: str, pointer: str) -> None:
    response = get(user, query)

    assert response.status_code == 422
    assert [error["pointer"] for error in response.get_json()["errors"]] == [pointer]
