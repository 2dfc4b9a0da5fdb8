"""The pages of the schedules of a CRM connection."""

from __future__ import annotations

from typing import Any

import pytest
from apiflask import APIFlask
from page_support import Visitor
from settings_support import require_purpose
from sqlalchemy import select, update
from test_crm_schedules_api import a_connection, a_record, a_run
from users_support import SignedInUser

from app.domain.event_types import EventType
from app.domain.permissions import Permission
from app.engine.accounts import permissions
from app.engine.accounts.accounts import Account, Role
from app.engine.events import events
from app.features.crm.schedules import schedules
from app.features.crm.schedules.tables import CrmSchedule
from app.infra import clock
from app.web.pages import paging

FORM = {
    "name": "Customers",
    "list_id": "42",
    "email": "1",
    "when": "friday",
    "hour": "6",
    "max_people": "50",
    "monthly_credits": "300",
    "refresh_days": "90",
}


@pytest.fixture
def admin(browser: Visitor, user: SignedInUser) -> Visitor:
    with user.database.transaction() as session:
        session.execute(update(Account).values(role=Role.ADMIN))
    return browser


@pytest.fixture
def path(user: SignedInUser) -> str:
    return f"/crm/connections/{a_connection(user)}/schedules"


def stored(user: SignedInUser) -> CrmSchedule:
    with user.database.reading() as session:
        return session.scalars(select(CrmSchedule)).one()


def made(admin: Visitor, user: SignedInUser, path: str, **changes: Any) -> str:
    """Make a schedule; return the path of its page."""
    assert admin.send(path, **(FORM | changes)).status_code == 200
    return f"{path}/{stored(user).id}"


def test_an_admin_makes_a_schedule_from_the_page_of_the_connection(
    admin: Visitor, user: SignedInUser, path: str
) -> None:
    connection = admin.open(path.removesuffix("/schedules"))
    page = admin.send(path, **FORM)

    assert path in connection.text
    assert "The schedule is stored." in page.text
    schedule = stored(user)
    assert (schedule.name, schedule.list_id, schedule.weekday, schedule.hour) == ("Customers", "42", 4, 6)
    assert (schedule.max_people, schedule.monthly_credits, schedule.refresh_days) == (50, 300, 90)
    assert "Customers" in admin.open(path).text


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"list_id": "Customers"}, "list_id"),
        ({"max_people": "many"}, "max_people"),
        ({"email": ""}, "fields"),
        ({"when": "someday"}, "weekday"),
    ],
)
def test_a_mistake_is_marked_and_what_was_written_stays(
    admin: Visitor, path: str, changes: dict[str, str], field: str
) -> None:
    page = admin.send(path, **(FORM | {"name": "Written"} | changes))

    assert page.status_code == 422
    assert f'id="{field}-error"' in page.text
    assert 'value="Written"' in page.text


def test_too_many_schedules_are_refused_with_the_reason(
    admin: Visitor, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedules, "MAX_SCHEDULES", 0)

    assert "Delete one first." in admin.send(path, **FORM).text


def test_a_purpose_is_chosen_where_it_is_required(
    app: APIFlask, admin: Visitor, user: SignedInUser, path: str
) -> None:
    require_purpose(app, "*")

    refused = admin.send(path, **FORM)
    own = made(admin, user, path, purpose="recruiting")
    changed = admin.send(own, **FORM, purpose="fun")

    assert refused.status_code == 422
    assert 'id="purpose-error"' in refused.text
    assert stored(user).purpose == "recruiting"
    assert changed.status_code == 422


def test_the_settings_are_changed(admin: Visitor, user: SignedInUser, path: str) -> None:
    own = made(admin, user, path)

    page = admin.send(own, **(FORM | {"monthly_credits": "900", "when": "day", "refresh_days": ""}))
    mistaken = admin.send(own, **(FORM | {"hour": "99"}))

    schedule = stored(user)
    assert (page.status_code, mistaken.status_code) == (200, 422)
    assert (schedule.monthly_credits, schedule.weekday, schedule.refresh_days) == (900, None, None)


def test_a_schedule_is_paused_resumed_run_and_deleted(admin: Visitor, user: SignedInUser, path: str) -> None:
    own = made(admin, user, path)

    said = [admin.send(f"{own}/{command}").text for command in ("pause", "resume", "run")]
    deleted = admin.send(f"{own}/delete")

    assert [" data-live" in text for text in said] == [False, False, True]
    for text, sentence in zip(
        said,
        ("The schedule is paused.", "The schedule goes on.", "The schedule runs now."),
        strict=True,
    ):
        assert sentence in text
    assert "No schedules yet" in deleted.text


def test_a_stopped_schedule_says_what_to_do(admin: Visitor, user: SignedInUser, path: str) -> None:
    own = made(admin, user, path)
    with user.database.transaction() as session:
        session.execute(update(CrmSchedule).values(state="stopped", reason="budget_spent"))

    page = admin.open(own)

    assert "raise the budget and resume it" in page.text
    assert "Resume" in page.text


def test_a_member_sees_the_schedules_and_changes_nothing(
    browser: Visitor, user: SignedInUser, path: str
) -> None:
    empty = browser.open(path)

    assert "An admin of your workspace can make one." in empty.text
    assert "Make the schedule" not in empty.text


def test_the_last_runs_and_their_receipts_are_shown_in_pages(
    admin: Visitor, user: SignedInUser, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "ROWS", 1)
    own = made(admin, user, path)
    run_id = a_run(user, stored(user).id, reason="insufficient_credits", charged=7)
    a_record(user, run_id, 0, outcome="found", marks=["bounced", "job_changed"])
    a_record(user, run_id, 1, outcome="not_asked", error="insufficient_credits")
    a_record(user, run_id, 2)
    a_record(user, run_id, 3, outcome="checked", asked="")

    schedule = admin.open(own)
    first = admin.open(f"{own}/runs/{run_id}")
    second = admin.open(f"{own}/runs/{run_id}?first=1")
    last = admin.open(f"{own}/runs/{run_id}?first=3")
    mistaken = admin.open(f"{own}/runs/{run_id}?first=one")

    assert f"{own}/runs/{run_id}" in schedule.text
    assert "An address bounced" in first.text
    assert "Has moved" in first.text
    assert f"{own}/runs/{run_id}?first=1" in first.text
    assert "The credits ran out before this person." in second.text
    assert "Compared only" in last.text
    assert mistaken.status_code == 422


def test_a_run_that_read_the_first_rows_of_a_report_says_so(
    admin: Visitor, user: SignedInUser, path: str
) -> None:
    own = made(admin, user, path)
    run_id = a_run(user, stored(user).id, is_partial=True)
    a_run(user, stored(user).id)

    schedule = admin.open(own)
    run = admin.open(f"{own}/runs/{run_id}")

    said = "the first rows of the report only: it has more than 2,000. A list view has no such limit."
    assert (schedule.text.count(said), run.text.count(said)) == (1, 1)


def test_the_end_of_a_schedule_is_a_sentence(admin: Visitor, user: SignedInUser) -> None:
    data = {"vendor": "hubspot", "reason": "list_gone"}
    with user.database.transaction() as session:
        type_ = EventType.CRM_SCHEDULE_STOPPED
        events.record(session, user.workspace_id, type_, data, dedup_key="1", now=clock.now())

    page = admin.open("/events")

    assert "A schedule of HubSpot stopped." in page.text
    assert "The CRM has no such list" in page.text


def test_whoever_may_not_see_costs_sees_what_a_schedule_may_spend_and_not_what_it_has(
    admin: Visitor, user: SignedInUser, path: str
) -> None:
    page = made(admin, user, path)
    shown = admin.open(page).text
    with user.database.transaction() as session:
        session.execute(update(Account).values(role=Role.MEMBER))
        permissions.set_of_account(session, user.account_id, {Permission.SEE_COSTS: False})

    hidden = admin.open(page)
    [schedule] = user.client.get(f"/api{path}", headers=user.headers).get_json()["schedules"]

    assert "Credits of this month" in shown
    assert (hidden.status_code, "Credits of this month" in hidden.text) == (200, False)
    assert (schedule["monthly_credits"], schedule["spent_this_month"]) == (300, None)
