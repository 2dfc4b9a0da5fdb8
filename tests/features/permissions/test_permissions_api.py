from __future__ import annotations

import re
from typing import Any

import pytest
from apiflask import APIFlask
from audit_log_support import recorded
from jobs_support import a_job
from sqlalchemy import update
from users_support import SignedInUser, bearer, create_user

from app.domain.errors import InsufficientCredits, PermissionDenied, SpendingLimitReached
from app.domain.kinds import Kind
from app.domain.permissions import Permission
from app.domain.spending import LimitUsage, Period
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.workspaces import Workspace
from app.engine.jobs.jobs import JobItem

SUBJECT = {"subject": {"email": "b@acme.com"}}
ALL = dict.fromkeys(map(str, Permission), True)


@pytest.fixture
def admin(app: APIFlask) -> SignedInUser:
    user = create_user(app)
    with user.database.transaction() as session:
        session.execute(update(Account).values(role=Role.ADMIN.value))
    return user


@pytest.fixture
def member(admin: SignedInUser) -> SignedInUser:
    return admin.colleague()


def put(user: SignedInUser, path: str, **changes: bool | None) -> Any:
    return user.client.put(f"/api/permissions/{path}", json=changes, headers=user.headers)


def seat(admin: SignedInUser, account_id: str) -> Any:
    listed = admin.client.get("/api/permissions", headers=admin.headers).get_json()["accounts"]
    return next(account for account in listed if account["id"] == account_id)


def session_of(user: SignedInUser, token: str = "") -> Any:
    return user.client.get("/api/ext/session", headers=bearer(token or user.session_token)).get_json()


def test_everybody_may_all_by_default(admin: SignedInUser, member: SignedInUser) -> None:
    listed = admin.client.get("/api/permissions", headers=admin.headers).get_json()

    assert listed["members"] == ALL
    assert [account["permissions"] for account in listed["accounts"]] == [ALL, ALL]
    assert session_of(member)["auth"]["permissions"] == sorted(Permission)


def test_a_default_applies_to_members_and_not_to_admins(admin: SignedInUser, member: SignedInUser) -> None:
    put(admin, "members", export=False)

    assert "export" not in session_of(member)["auth"]["permissions"]
    assert "export" in session_of(admin)["auth"]["permissions"]


def test_an_account_may_more_or_less_than_the_default(admin: SignedInUser, member: SignedInUser) -> None:
    put(admin, "members", export=False)
    put(admin, f"accounts/{member.account_id}", export=True, push=False)

    permitted = seat(admin, member.account_id)

    assert (permitted["own"], permitted["permissions"]) == (
        {"export": True, "push": False},
        {**ALL, "push": False},
    )


def test_null_makes_an_account_follow_the_default_again(admin: SignedInUser, member: SignedInUser) -> None:
    put(admin, f"accounts/{member.account_id}", push=False, export=False)
    put(admin, f"accounts/{member.account_id}", push=None, export=None)

    assert seat(admin, member.account_id)["own"] == {}


def test_a_refusal_says_what_is_not_allowed_and_who_can_allow_it(
    admin: SignedInUser, member: SignedInUser
) -> None:
    put(admin, "members", reveal_phones=False)

    refused = member.client.post("/api/ext/reveal/phone", json=SUBJECT, headers=member.headers)

    assert (refused.status_code, refused.get_json()["detail"]) == (
        403,
        f"This account may not reveal phone numbers. {PermissionDenied.help}",
    )


def test_changes_are_in_the_audit_log(admin: SignedInUser, member: SignedInUser) -> None:
    put(admin, "members", export=False)
    put(admin, "members", export=False)
    put(admin, f"accounts/{member.account_id}", export=True, push=None)

    entries = [(entry.action, entry.object_id, entry.reason) for entry in recorded(admin.database)]

    assert [entry for entry in entries if entry[0].startswith("permissions.")] == [
        ("permissions.members", admin.workspace_id, "export=denied"),
        ("permissions.account", member.account_id, "export=allowed push=default"),
    ]


def test_what_is_allowed_again_is_stored_as_the_default(admin: SignedInUser) -> None:
    put(admin, "members", export=False)
    put(admin, "members", export=True)

    with admin.database.reading() as session:
        assert session.get_one(Workspace, admin.workspace_id).denied_to_members is None


@pytest.mark.parametrize("body", [{}, {"export": None}, {"export": "yes"}, {"delete": True}])
def test_a_change_names_permissions_and_says_yes_or_no(admin: SignedInUser, body: dict[str, Any]) -> None:
    refused = put(admin, "members", **body)

    assert (refused.status_code, refused.get_json()["code"]) == (422, "validation_error")


def test_an_account_of_another_workspace_is_not_found(app: APIFlask, admin: SignedInUser) -> None:
    stranger = create_user(app, email="eve@babbage.example")

    assert put(admin, f"accounts/{stranger.account_id}", export=False).status_code == 404


def test_whoever_may_not_see_costs_gets_none(admin: SignedInUser, member: SignedInUser) -> None:
    put(admin, "members", see_costs=False)
    headers = member.headers | {"Prefer": "respond-async"}

    answer = member.client.post("/api/ext/reveal/email", json=SUBJECT, headers=headers)
    listed = member.client.get("/api/jobs", headers=member.headers).get_json()["jobs"]

    assert answer.get_json()["credits"] == {
        "charged": None,
        "reserved": None,
        "balance": None,
        "already_owned": False,
    }
    assert "X-Credits-Balance" not in answer.headers
    assert [job["charged"] for job in listed] == [None]
    assert session_of(member)["credits"] == {"balance": None, "reserved": None, "next_grant": None}
    assert session_of(admin)["credits"] == {"balance": 249, "reserved": 1, "next_grant": None}


def test_a_refusal_for_lack_of_credits_does_not_tell_the_balance(
    admin: SignedInUser, member: SignedInUser
) -> None:
    with admin.database.transaction() as session:
        session.execute(update(Workspace).values(available=0, held=250))
    put(admin, "members", see_costs=False)

    refused = member.client.post("/api/ext/reveal/email", json=SUBJECT, headers=member.headers)

    body = refused.get_json()
    assert (refused.status_code, body["required"], "balance" in body) == (402, 1, False)
    assert "the workspace has" not in body["detail"]


def test_a_sign_in_says_what_the_account_may(admin: SignedInUser) -> None:
    with admin.database.transaction() as session:
        session.execute(update(Account).values(role=Role.MEMBER.value))
        session.execute(update(Workspace).values(denied_to_members=["see_costs"]))

    started = admin.sign_in().get_json()

    assert "see_costs" not in started["auth"]["permissions"]
    assert started["credits"] == {"balance": None, "reserved": None, "next_grant": None}


def test_a_key_shows_what_it_may(member: SignedInUser) -> None:
    body = {"name": "Agent", "permissions": ["export"]}

    made = member.client.post("/api/keys", json=body, headers=member.headers).get_json()
    other = member.client.post("/api/keys", json={"name": "All"}, headers=member.headers).get_json()

    assert (made["permissions"], other["permissions"]) == (["export"], sorted(Permission))
    assert session_of(member, made["key"])["auth"]["permissions"] == ["export"]


@pytest.mark.parametrize(
    "problem",
    [
        InsufficientCredits(3, 77),
        SpendingLimitReached(
            3,
            77,
            LimitUsage(
                subject="account",
                subject_id="acc_1",
                period=Period.TOTAL,
                credits=88,
                held=2,
                spent=99,
                resets_at=None,
            ),
        ),
    ],
    ids=lambda problem: problem.code,
)
def test_a_refusal_in_a_receipt_has_no_figures_for_whoever_may_not_see_costs(
    admin: SignedInUser, member: SignedInUser, problem: InsufficientCredits
) -> None:
    with admin.database.transaction() as session:
        job_id = a_job(session, member.workspace_id, "one", kind=Kind.ENRICHMENT_REQUEST)
        session.add(JobItem(job_id=job_id, index=0, request={}, error=problem.as_dict(), charged=0))
    put(admin, "members", see_costs=False)
    path = f"/api/ext/jobs?id={job_id}"

    shown, hidden = (
        user.client.get(path, headers=user.headers).get_json()["result"]["items"][0]["error"]
        for user in (admin, member)
    )

    assert (shown["balance"], "77" in str(shown) or "88" in str(shown)) == (77, True)
    assert (hidden["code"], hidden["detail"], hidden["required"]) == (problem.code, problem.help, 3)
    assert not re.search("77|88|99", str(hidden))


def test_what_a_key_spent_is_shown_to_whoever_may_see_costs(
    admin: SignedInUser, member: SignedInUser
) -> None:
    limit = {"name": "Agent", "spending_cap": 88, "monthly_limit": 77}
    key_id = member.client.post("/api/keys", json=limit, headers=member.headers).get_json()["id"]

    def read() -> list[Any]:
        [listed] = member.client.get("/api/keys", headers=member.headers).get_json()["keys"]
        changed = member.client.put(
            f"/api/limits/keys/{key_id}", json={"monthly_limit": 77}, headers=member.headers
        ).get_json()["limits"]
        limits = [listed["spending_cap"], listed["monthly_limit"], *changed]
        return [(each["credits"], each["held"], each["spent"], each["left"]) for each in limits]

    shown = read()
    put(admin, "members", see_costs=False)
    hidden = read()

    assert sorted(shown) == [(77, 0, 0, 77)] * 2 + [(88, 0, 0, 88)] * 2
    assert sorted(hidden) == [(77, None, None, None)] * 2 + [(88, None, None, None)] * 2
