"""Tests of the schedules of CRM connections over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from settings_support import require_purpose
from sqlalchemy import update
from stored_support import a_company, a_contact
from users_support import SignedInUser, create_user
from werkzeug.test import TestResponse

from app.domain.ids import new_id
from app.engine.accounts.accounts import Account, Role
from app.features.crm import connections, pushes
from app.features.crm.connections import Credentials
from app.features.crm.pushes import PushItem
from app.features.crm.schedules import schedules
from app.features.crm.schedules.tables import CrmSchedule, CrmScheduleRecord, CrmScheduleRun, RunStatus
from app.infra import clock

NEW: dict[str, Any] = {"name": "Customers", "list_id": "42", "max_people": 200, "monthly_credits": 500}


@pytest.fixture
def admin(app: APIFlask) -> SignedInUser:
    user = create_user(app)
    with user.database.transaction() as session:
        session.execute(update(Account).values(role=Role.ADMIN))
    return user


def a_connection(user: SignedInUser, vendor: str = "hubspot") -> str:
    with user.database.transaction() as session:
        return connections.create(
            session,
            user.workspace_id,
            vendor=vendor,
            base_url=None,
            credentials=Credentials(token="t"),
            mapping={"email": "email"},
            account_id=user.account_id,
            now=clock.now(),
        ).id


@pytest.fixture
def path(admin: SignedInUser) -> str:
    return f"/api/crm/connections/{a_connection(admin)}/schedules"


def post(user: SignedInUser, path: str, body: dict[str, Any] | None = None, **headers: str) -> TestResponse:
    return user.client.post(path, json=body, headers=user.headers | headers)


def get(user: SignedInUser, path: str) -> Any:
    return user.client.get(path, headers=user.headers).get_json()


def created(user: SignedInUser, path: str, **changes: Any) -> dict[str, Any]:
    response = post(user, path, NEW | changes)
    assert response.status_code == 201, response.get_json()
    return dict(response.get_json()["schedule"])


def a_run(user: SignedInUser, schedule_id: str, **changes: Any) -> str:
    with user.database.transaction() as session:
        schedule = session.get_one(CrmSchedule, schedule_id)
        values: dict[str, Any] = {
            "status": RunStatus.FINISHED.value,
            "members": 3,
            "unindexed": 1,
            "is_partial": False,
            "people": 2,
            "jobs": 1,
            "charged": 1,
            "started_at": clock.now(),
        }
        run = CrmScheduleRun(
            id=new_id("csr"),
            schedule_id=schedule.id,
            workspace_id=schedule.workspace_id,
            due_at=clock.now(),
            **(values | changes),
        )
        session.add(run)
        return run.id


def a_record(user: SignedInUser, run_id: str, number: int, **changes: Any) -> None:
    with user.database.transaction() as session:
        run = session.get_one(CrmScheduleRun, run_id)
        values = {"crm_id": str(number), "asked": "email,phone", "charged": 0, "marks": [], "at": clock.now()}
        session.add(
            CrmScheduleRecord(run_id=run_id, number=number, schedule_id=run.schedule_id, **(values | changes))
        )


def test_a_schedule_is_made_with_its_defaults_and_listed(admin: SignedInUser, path: str) -> None:
    schedule = created(admin, path)

    assert schedule == schedule | {
        "name": "Customers",
        "list_id": "42",
        "kind": "contact",
        "fields": ["email"],
        "every": "day",
        "weekday": None,
        "hour": 4,
        "max_people": 200,
        "monthly_credits": 500,
        "spent_this_month": 0,
        "refresh_days": None,
        "purpose": None,
        "state": "active",
        "reason": None,
        "reason_message": None,
        "is_running": False,
        "paid_by": admin.account_id,
    }
    assert schedule["next_run_at"].endswith("T04:00:00.000Z")
    assert get(admin, path) == {"schedules": [schedule]}
    assert get(admin, f"{path}/{schedule['id']}") == {"schedule": schedule}


def test_a_weekly_schedule_is_due_on_its_day(admin: SignedInUser, path: str) -> None:
    schedule = created(admin, path, every="week", weekday="monday", hour=23, fields=["phone", "email"])

    with admin.database.reading() as session:
        next_at = session.get_one(CrmSchedule, schedule["id"]).next_at
    assert (schedule["every"], schedule["weekday"], schedule["fields"]) == (
        "week",
        "monday",
        ["email", "phone"],
    )
    assert next_at is not None
    assert (next_at.weekday(), next_at.hour) == (0, 23)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"list_id": "Customers"}, "/list_id"),
        ({"kind": "lead"}, "/list_id"),
        ({"hour": 24}, "/hour"),
        ({"hour": "4"}, "/hour"),
        ({"every": "0 4 * * *"}, "/every"),
        ({"every": "week"}, "/weekday"),
        ({"weekday": "monday"}, "/weekday"),
        ({"fields": []}, "/fields"),
        ({"fields": ["salary"]}, "/fields/0"),
        ({"max_people": 0}, "/max_people"),
        ({"monthly_credits": 0}, "/monthly_credits"),
        ({"refresh_days": 0}, "/refresh_days"),
        ({"name": ""}, "/name"),
        ({"purpose": "fun"}, "/purpose"),
    ],
)
def test_a_mistake_is_named(admin: SignedInUser, path: str, changes: dict[str, Any], pointer: str) -> None:
    response = post(admin, path, NEW | changes)

    assert response.status_code == 422
    assert [error["pointer"] for error in response.get_json()["errors"]] == [pointer]
    assert get(admin, path) == {"schedules": []}


def test_leads_are_a_list_in_the_crms_that_have_them(admin: SignedInUser) -> None:
    path = f"/api/crm/connections/{a_connection(admin, 'zoho')}/schedules"

    assert created(admin, path, kind="lead")["kind"] == "lead"


def test_a_purpose_must_be_stated_where_everybody_needs_one(
    app: APIFlask, admin: SignedInUser, path: str
) -> None:
    require_purpose(app, "*")

    refused = post(admin, path, NEW)
    accepted = created(admin, path, purpose="sales_outreach")
    changed = post(admin, f"{path}/{accepted['id']}", {"purpose": "recruiting"})
    unknown = post(admin, f"{path}/{accepted['id']}", {"purpose": "fun"})

    assert refused.get_json()["code"] == "purpose_required"
    assert accepted["purpose"] == "sales_outreach"
    assert changed.get_json()["schedule"]["purpose"] == "recruiting"
    assert unknown.status_code == 422


def test_too_many_schedules_are_refused_with_the_reason(
    admin: SignedInUser, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedules, "MAX_SCHEDULES", 0)

    response = post(admin, path, NEW)

    assert response.status_code == 422
    assert "Delete one first." in response.get_json()["detail"]


def test_a_request_that_is_repeated_makes_one_schedule(admin: SignedInUser, path: str) -> None:
    key = {"Idempotency-Key": "one click"}

    first, second = (post(admin, path, NEW, **key) for _ in range(2))

    assert (first.status_code, second.status_code) == (201, 200)
    assert second.headers["Idempotent-Replay"] == "true"
    assert first.get_json() == second.get_json()


def test_what_is_changed_is_stored_and_the_rest_stays(admin: SignedInUser, path: str) -> None:
    schedule = created(admin, path, refresh_days=90)
    changes = {"monthly_credits": 900, "fields": ["phone"], "every": "week", "weekday": "friday"}

    changed = post(admin, f"{path}/{schedule['id']}", changes).get_json()["schedule"]
    weekly = post(admin, f"{path}/{schedule['id']}", {"name": "Others"}).get_json()["schedule"]
    daily = post(admin, f"{path}/{schedule['id']}", {"every": "day", "weekday": None}).get_json()["schedule"]
    mistaken = post(admin, f"{path}/{schedule['id']}", {"weekday": "monday"})

    assert changed == schedule | changes | {"next_run_at": changed["next_run_at"]}
    assert (weekly["name"], weekly["every"], weekly["refresh_days"]) == ("Others", "week", 90)
    assert (daily["every"], daily["weekday"]) == ("day", None)
    assert mistaken.status_code == 422


def test_a_change_that_is_repeated_is_made_once(admin: SignedInUser, path: str) -> None:
    schedule = created(admin, path)
    key = {"Idempotency-Key": "one change"}

    post(admin, f"{path}/{schedule['id']}", {"hour": 5}, **key)
    post(admin, f"{path}/{schedule['id']}", {"hour": 6})
    replay = post(admin, f"{path}/{schedule['id']}", {"hour": 5}, **key)

    assert replay.headers["Idempotent-Replay"] == "true"
    assert replay.get_json()["schedule"]["hour"] == 6


def test_a_schedule_is_paused_resumed_and_run(admin: SignedInUser, path: str) -> None:
    schedule = created(admin, path)
    own = f"{path}/{schedule['id']}"

    paused = post(admin, f"{own}/pause").get_json()["schedule"]
    refused = post(admin, f"{own}/run")
    resumed = post(admin, f"{own}/resume").get_json()["schedule"]
    run = post(admin, f"{own}/run", None, **{"Idempotency-Key": "once"})
    replay = post(admin, f"{own}/run", None, **{"Idempotency-Key": "once"})

    assert (paused["state"], paused["next_run_at"]) == ("paused", None)
    assert refused.status_code == 422
    assert "Resume it first" in refused.get_json()["detail"]
    assert (resumed["state"], resumed["next_run_at"]) == ("active", schedule["next_run_at"])
    assert run.get_json()["schedule"]["next_run_at"] < schedule["next_run_at"]
    assert replay.headers["Idempotent-Replay"] == "true"


def test_a_stopped_schedule_says_why_and_what_to_do(admin: SignedInUser, path: str) -> None:
    schedule = created(admin, path)
    with admin.database.transaction() as session:
        session.execute(update(CrmSchedule).values(state="stopped", reason="list_gone"))

    shown = get(admin, f"{path}/{schedule['id']}")["schedule"]

    assert (shown["state"], shown["reason"]) == ("stopped", "list_gone")
    assert "Restore the list" in shown["reason_message"]


def test_a_deleted_schedule_is_gone(admin: SignedInUser, path: str) -> None:
    schedule = created(admin, path)

    deleted = admin.client.delete(f"{path}/{schedule['id']}", headers=admin.headers)

    assert deleted.status_code == 204
    assert get(admin, path) == {"schedules": []}


def test_the_schedule_of_another_connection_or_workspace_is_not_found(
    app: APIFlask, admin: SignedInUser, path: str
) -> None:
    schedule = created(admin, path)
    run_id = a_run(admin, schedule["id"])
    other = f"/api/crm/connections/{a_connection(admin)}/schedules"
    mine = created(admin, other)
    stranger = create_user(app, email="eve@globex.example")

    paths = [
        (admin, f"{other}/{schedule['id']}"),
        (admin, f"{other}/{mine['id']}/runs/{run_id}"),
        (stranger, path),
        (stranger, f"{path}/{schedule['id']}"),
        (stranger, f"{path}/{schedule['id']}/runs"),
        (stranger, f"{path}/{schedule['id']}/runs/{run_id}"),
    ]
    assert {user.client.get(one, headers=user.headers).status_code for user, one in paths} == {404}


def test_the_runs_are_listed_in_pages_with_the_number_of_people_by_outcome(
    admin: SignedInUser, path: str
) -> None:
    schedule = created(admin, path)
    first, second = a_run(admin, schedule["id"]), a_run(admin, schedule["id"], reason="budget_spent")
    a_record(admin, second, 0, outcome="found")
    a_record(admin, second, 1)
    own = f"{path}/{schedule['id']}/runs"

    page = get(admin, f"{own}?limit=1")
    rest = get(admin, f"{own}?limit=1&cursor={page['next_cursor']}")

    [shown] = page["runs"]
    assert (shown["id"], shown["outcomes"], shown["members"], shown["unindexed"]) == (
        second,
        {"found": 1},
        3,
        1,
    )
    assert shown["reason_message"].startswith("The budget of this month is spent.")
    assert [run["id"] for run in rest["runs"]] == [first]
    assert rest["next_cursor"] is None


def test_a_run_has_the_receipts_of_its_people(admin: SignedInUser, path: str) -> None:
    schedule = created(admin, path)
    with admin.database.transaction() as session:
        contact = a_contact(session, a_company(session))
        connection = connections.of_workspace(session, admin.workspace_id)[0]
        push = pushes.CrmPush(
            id=new_id("psh"),
            workspace_id=admin.workspace_id,
            connection_id=connection.id,
            account_id=admin.account_id,
            origin="",
            dry_run=False,
            updates_only=True,
            created_at=clock.now(),
        )
        session.add(push)
        session.flush()
        session.add(
            PushItem(
                id=new_id("psi"),
                push_id=push.id,
                connection_id=connection.id,
                contact_id=contact.id,
                next_at=clock.now(),
                attempts=1,
                outcome="updated",
                actions={"email": "fill"},
                marks_only=False,
            )
        )
        contact_id, push_id = contact.id, push.id
    run_id = a_run(admin, schedule["id"], push_id=push_id)
    a_record(admin, run_id, 0, outcome="found", contact_id=contact_id, charged=2, marks=["job_changed"])
    a_record(admin, run_id, 1, outcome="not_asked", error="insufficient_credits")
    a_record(admin, run_id, 2, outcome="checked", asked="", marks=["bounced"])
    own = f"{path}/{schedule['id']}/runs/{run_id}"

    page = get(admin, f"{own}?limit=1")
    rest = get(admin, f"{own}?cursor={page['next_cursor']}")

    assert page["items"] == [
        {
            "record_id": "0",
            "asked": ["email", "phone"],
            "outcome": "found",
            "error": None,
            "error_message": None,
            "credits_charged": 2,
            "job_id": None,
            "contact_id": contact_id,
            "marks": ["job_changed"],
            "push_outcome": "updated",
            "push_actions": {"email": "fill"},
        }
    ]
    assert (page["run"]["id"], page["next_cursor"]) == (run_id, 1)
    left, checked = rest["items"]
    assert (checked["outcome"], checked["asked"], checked["marks"]) == ("checked", [], ["bounced"])
    assert (left["error_message"], left["push_outcome"], rest["next_cursor"]) == (
        "The credits ran out before this person.",
        None,
        None,
    )
