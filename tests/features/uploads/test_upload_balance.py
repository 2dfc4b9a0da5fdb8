"""An upload says before its start whether it may cost more than the workspace has."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import update
from upload_support import a_list, people
from users_support import SignedInUser
from worker_harness import make_services

from app.engine.accounts.workspaces import Workspace
from app.features.uploads import work
from app.infra.database.db import Database
from app.settings import Settings

PEOPLE = 3


@pytest.fixture
def upload_id(user: SignedInUser, settings: Settings) -> str:
    """A priced list of people whose addresses cost a credit each."""
    services = make_services(settings, user.database)
    file = a_list(*people(PEOPLE))
    sent = user.client.post(
        "/api/uploads?name=people.csv", data=file, headers=user.headers, content_type="text/csv"
    )
    created: str = sent.get_json()["id"]
    for _turn in range(2):
        work.advance_upload(created, services)
    return created


def has(database: Database, **values: Any) -> None:
    with database.transaction() as session:
        session.execute(update(Workspace).values(**values))


def estimate(user: SignedInUser, upload_id: str) -> dict[str, Any]:
    body = user.client.get(f"/api/uploads/{upload_id}", headers=user.headers).get_json()
    found: dict[str, Any] = body["estimate"]
    return found


@pytest.mark.parametrize(("available", "exceeds"), [(PEOPLE - 1, True), (PEOPLE, False)])
def test_an_estimate_says_whether_it_exceeds_the_balance(
    user: SignedInUser, upload_id: str, available: int, *, exceeds: bool
) -> None:
    has(user.database, available=available)

    found = estimate(user, upload_id)

    assert (found["credits_max"], found["exceeds_balance"]) == (PEOPLE, exceeds)
    assert {choice["exceeds_balance"] for choice in found["choices"]} == {exceeds}


def test_whoever_may_not_see_costs_is_not_told_the_balance(user: SignedInUser, upload_id: str) -> None:
    has(user.database, denied_to_members=["see_costs"], available=PEOPLE - 1)

    found = estimate(user, upload_id)

    assert (found["credits_max"], found["exceeds_balance"]) == (PEOPLE, None)


def test_an_upload_that_was_started_is_not_compared_with_what_it_holds_itself(
    user: SignedInUser, upload_id: str
) -> None:
    user.client.post(f"/api/uploads/{upload_id}/start", json={}, headers=user.headers)

    assert "exceeds_balance" not in estimate(user, upload_id)
