"""The forecast of a workspace's credits, in the API and on the page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from apiflask import APIFlask
from page_support import visitor
from users_support import SignedInUser

from app.domain.ids import new_id
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.workspaces import Workspace
from app.engine.ledger import credit_schedules
from app.engine.ledger.credit_schedules import Terms
from app.engine.ledger.credits import LedgerEntry
from app.infra import clock


@pytest.fixture
def admin(user: SignedInUser) -> SignedInUser:
    with user.database.transaction() as session:
        session.get_one(Account, user.account_id).role = Role.ADMIN.value
        session.get_one(Workspace, user.workspace_id).available = 100
    return user


def spend(user: SignedInUser, *days: int, credits: int = 10) -> None:
    """Spend credits so many days ago."""
    with user.database.transaction() as session:
        for number in days:
            session.add(
                LedgerEntry(
                    id=new_id("led"),
                    workspace_id=user.workspace_id,
                    job_id=new_id("job"),
                    kind="settle",
                    available=0,
                    held=-credits,
                    spent=credits,
                    reason=None,
                    created_at=clock.now() - timedelta(days=number),
                )
            )


def grant_monthly(user: SignedInUser, credits: int, *, carried: int | None = None, left: int = 0) -> None:
    terms = Terms(credits=credits, per_seat=False, day=1, carried=carried)
    with user.database.transaction() as session:
        credit_schedules.put(session, user.workspace_id, terms)
        session.get_one(credit_schedules.CreditSchedule, user.workspace_id).left = left


def forecast(user: SignedInUser) -> dict[str, Any]:
    response = user.client.get("/api/usage/forecast", headers=user.headers)
    assert response.status_code == 200
    body: dict[str, Any] = response.get_json()
    return body


def page(app: APIFlask, user: SignedInUser) -> str:
    text: str = visitor(app, user).open("/usage").text
    return text


def test_with_less_than_a_week_of_use_nothing_is_foretold(app: APIFlask, admin: SignedInUser) -> None:
    spend(admin, 1)

    body = forecast(admin)

    assert (body["days_observed"], body["per_day"], body["ends_at"], body["next_grant"]) == (
        1,
        None,
        None,
        None,
    )
    assert "A forecast needs 7 days of use. So far: 1." in page(app, admin)


def test_without_any_use_nothing_is_foretold(app: APIFlask, admin: SignedInUser) -> None:
    assert forecast(admin)["per_day"] is None
    assert "So far: 0." in page(app, admin)


def test_credits_end_by_the_rate_of_the_last_four_weeks(app: APIFlask, admin: SignedInUser) -> None:
    spend(admin, 40, 27, 20, 10, 1, credits=35)

    body = forecast(admin)

    assert (body["balance"], body["days_observed"], body["per_day"]) == (100, 28, 5.0)
    assert body["ends_at"][:10] == f"{clock.now() + timedelta(days=20):%Y-%m-%d}"
    assert "the credits end about" in page(app, admin)


def test_the_next_grant_is_counted(app: APIFlask, admin: SignedInUser) -> None:
    spend(admin, 27, 1, credits=14)
    grant_monthly(admin, 500, carried=0, left=60)

    body, text = forecast(admin), page(app, admin)

    assert (body["ends_at"], body["next_grant"]["credits"], body["next_grant"]["expires"]) == (None, 500, 60)
    assert "the monthly grants suffice" in text
    assert "Unspent ones are not carried over." in text


def test_credits_that_end_before_the_grant_are_said(app: APIFlask, admin: SignedInUser) -> None:
    spend(admin, 27, 1, credits=28_000)
    grant_monthly(admin, 500)

    assert ", before the next grant" in page(app, admin)


def test_a_workspace_that_stopped_spending_has_no_end(app: APIFlask, admin: SignedInUser) -> None:
    spend(admin, 60)

    assert (forecast(admin)["per_day"], forecast(admin)["ends_at"]) == (0, None)
    assert "Nothing was spent in the last 28 days." in page(app, admin)


def test_members_see_no_forecast(app: APIFlask, user: SignedInUser) -> None:
    response = user.client.get("/api/usage/forecast", headers=user.headers)

    assert (response.status_code, response.get_json()["code"]) == (403, "admin_required")
    assert "Credits of the workspace" not in page(app, user)
