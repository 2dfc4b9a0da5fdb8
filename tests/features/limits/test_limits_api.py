from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from sqlalchemy import select, update
from stored_support import a_company, a_contact, an_email, own
from users_support import SignedInUser, bearer, create_user
from werkzeug.test import TestResponse

from app.domain.callers import Scope
from app.engine.accounts.accounts import Account, Role
from app.engine.jobs.jobs import Job
from app.engine.lookups.field_requests import ContactField


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    colleague = user.colleague(email="boss@acme.example")
    with user.database.transaction() as session:
        session.execute(update(Account).where(Account.id == colleague.account_id).values(role=Role.ADMIN))
    return colleague


def make_key(user: SignedInUser, **body: Any) -> dict[str, Any]:
    response = user.client.post("/api/keys", json={"name": "agent", **body}, headers=user.headers)
    assert response.status_code == 201, response.get_json()
    key: dict[str, Any] = response.get_json()
    return key


def reveal(user: SignedInUser, token: str, email: str) -> TestResponse:
    headers = bearer(token) | {"Prefer": "respond-async"}
    return user.client.post("/api/ext/reveal/email", json={"subject": {"email": email}}, headers=headers)


def put(user: SignedInUser, path: str, token: str = "", **body: Any) -> TestResponse:
    headers = bearer(token or user.session_token)
    return user.client.put(f"/api/limits/{path}", json=body, headers=headers)


def limits(user: SignedInUser, token: str = "", query: str = "") -> list[tuple[str, str, int, int]]:
    """Return the visible limits: type, name, credits and the credits that are held."""
    response = user.client.get(f"/api/limits{query}", headers=bearer(token or user.session_token))
    return [
        (limit["subject"]["type"], limit["subject"]["name"], limit["credits"], limit["held"])
        for limit in response.get_json()["limits"]
    ]


def test_only_keys_that_may_spend_read_limits(user: SignedInUser) -> None:
    statuses = {
        scope: user.client.get("/api/limits", headers=bearer(user.make_key(scope))).status_code
        for scope in Scope
    }

    spending = {Scope.REVEAL, Scope.ENRICH}
    assert statuses == {scope: 200 if scope in spending else 403 for scope in Scope}


def test_a_key_with_a_cap_spends_it_and_is_then_refused(user: SignedInUser) -> None:
    key = make_key(user, spending_cap=2)

    statuses = [reveal(user, key["key"], f"p{number}@acme.com").status_code for number in range(3)]
    refused = reveal(user, key["key"], "p4@acme.com")

    problem = refused.get_json()
    assert statuses == [202, 202, 402]
    assert problem["code"] == "spending_limit_reached"
    assert problem["limit"] == {
        "subject": "key",
        "id": key["id"],
        "period": "total",
        "credits": 2,
        "held": 2,
        "spent": 0,
        "left": 0,
        "resets_at": None,
    }
    assert (refused.headers["X-Credits-Charged"], refused.headers["X-Credits-Balance"]) == ("0", "248")
    assert reveal(user, user.session_token, "p4@acme.com").status_code == 202


def test_jobs_know_the_key_that_submitted_them(user: SignedInUser) -> None:
    key = make_key(user)

    reveal(user, key["key"], "one@acme.com")
    reveal(user, user.session_token, "two@acme.com")

    with user.database.reading() as session:
        assert session.scalars(select(Job.key_id).order_by(Job.id)).all() == [key["id"], None]


def test_a_replay_and_an_owned_value_are_free_at_the_limit(user: SignedInUser) -> None:
    key = make_key(user, spending_cap=1)
    with user.database.transaction() as session:
        contact = a_contact(session, a_company(session))
        an_email(session, contact, "ada@acme.com")
        own(session, user.workspace_id, contact, ContactField.EMAIL.value)
    reveal(user, key["key"], "one@acme.com")

    joined = reveal(user, key["key"], "one@acme.com")
    owned = reveal(user, key["key"], "ada@acme.com")

    assert (joined.status_code, owned.status_code) == (202, 202)
    assert owned.get_json()["credits"]["reserved"] == 0


def test_keys_show_their_limits_and_use(user: SignedInUser) -> None:
    key = make_key(user, spending_cap=5, monthly_limit=3)
    other = make_key(user, name="other")
    reveal(user, key["key"], "one@acme.com")

    shown = user.client.get("/api/keys", headers=user.headers).get_json()["keys"]

    assert (key["spending_cap"]["left"], key["monthly_limit"]["left"]) == (5, 3)
    assert [shown[0][name] for name in ("id", "spending_cap", "monthly_limit")] == [other["id"], None, None]
    assert shown[1]["spending_cap"] == {"credits": 5, "held": 1, "spent": 0, "left": 4, "resets_at": None}
    assert shown[1]["monthly_limit"]["resets_at"].endswith("-01T00:00:00Z")


def test_members_see_their_own_limits_admins_those_of_the_workspace(
    user: SignedInUser, admin: SignedInUser
) -> None:
    key = make_key(user, spending_cap=5)
    put(admin, f"accounts/{user.account_id}", monthly_limit=50)
    put(admin, f"accounts/{admin.account_id}", monthly_limit=70)

    own = limits(user)

    assert own == [("account", "Ada Lovelace", 50, 0), ("key", "agent", 5, 0)]
    assert limits(user, key["key"]) == own
    assert limits(admin) == [("account", "Bob", 70, 0), *own]


def test_the_list_has_pages(user: SignedInUser, admin: SignedInUser) -> None:
    make_key(user, spending_cap=5, monthly_limit=6)
    first = admin.client.get("/api/limits?limit=1", headers=admin.headers).get_json()

    second = admin.client.get(f"/api/limits?limit=1&cursor={first['next_cursor']}", headers=admin.headers)

    pages = [first, second.get_json()]
    assert [len(page["limits"]) for page in pages] == [1, 1]
    assert {page["limits"][0]["period"] for page in pages} == {"month", "total"}
    assert second.get_json()["next_cursor"] is None


def test_only_admins_limit_accounts_and_only_of_their_workspace(
    app: APIFlask, user: SignedInUser, admin: SignedInUser
) -> None:
    stranger = create_user(app, email="eve@babbage.example")

    by_member = put(user, f"accounts/{user.account_id}", monthly_limit=1)
    of_others = put(admin, f"accounts/{stranger.account_id}", monthly_limit=1)
    by_admin = put(admin, f"accounts/{user.account_id}", monthly_limit=0)

    assert (by_member.status_code, by_member.get_json()["code"]) == (403, "admin_required")
    assert (of_others.status_code, of_others.get_json()["code"]) == (404, "not_found")
    assert by_admin.status_code == 200
    assert reveal(user, user.session_token, "one@acme.com").status_code == 402
    assert reveal(admin, admin.session_token, "one@acme.com").status_code == 202


def test_a_key_lowers_its_own_limits_and_only_a_session_raises_them(
    user: SignedInUser, admin: SignedInUser
) -> None:
    key, other = make_key(user, spending_cap=5), make_key(user, name="other")
    path = f"keys/{key['id']}"

    lowered = put(user, path, key["key"], spending_cap=3, monthly_limit=2)
    raised = put(user, path, key["key"], spending_cap=4)
    removed = put(user, path, key["key"], spending_cap=None)
    of_another = put(user, f"keys/{other['id']}", key["key"], spending_cap=1)
    by_owner = put(user, path, spending_cap=9)
    by_admin = put(admin, path, monthly_limit=None)

    assert lowered.status_code == 200
    assert {raised.status_code, removed.status_code, of_another.status_code} == {403}
    assert raised.get_json()["detail"].startswith("An API key can only lower its own limits")
    assert (by_owner.status_code, by_admin.status_code) == (200, 200)
    assert limits(user) == [("key", "agent", 9, 0)]


@pytest.mark.parametrize("body", [{}, {"spending_cap": -1}, {"spending_cap": "5"}, {"monthly_limit": 1.5}])
def test_invalid_limits_are_refused(user: SignedInUser, body: dict[str, Any]) -> None:
    key = make_key(user)

    response = put(user, f"keys/{key['id']}", **body)

    assert (response.status_code, response.get_json()["code"]) == (422, "validation_error")
