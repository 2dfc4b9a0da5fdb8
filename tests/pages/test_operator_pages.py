"""The pages of operators: workspaces and queues."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from settings_support import change_settings
from users_support import PASSWORD, SignedInUser, create_user

from app.domain.ids import new_id
from app.engine.accounts import workspaces
from app.engine.queues import worker_heartbeats
from app.engine.queues.worker_heartbeats import Heartbeat, WorkerState
from app.infra import clock
from app.web.pages.charts import bars

ADMIN = {"name": "Charles Babbage", "email": "charles@babbage.example", "password": PASSWORD}
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_credits_are_granted_with_a_reason_in_the_ledger(operator: Visitor, user: SignedInUser) -> None:
    page = operator.send(
        "/admin/workspaces/credits", workspace=user.workspace_id, amount="1000", reason="November"
    )

    with user.database.reading() as session:
        balance = workspaces.balance(session, user.workspace_id)
    assert "now has 1250" in page.text
    assert balance.available == 1250


@pytest.mark.parametrize(("amount", "reason"), [("0", "x"), ("-5", "x"), ("1e3", "x"), ("10", "")])
def test_an_invalid_grant_changes_nothing(
    operator: Visitor, user: SignedInUser, amount: str, reason: str
) -> None:
    page = operator.send(
        "/admin/workspaces/credits", workspace=user.workspace_id, amount=amount, reason=reason
    )

    with user.database.reading() as session:
        assert workspaces.balance(session, user.workspace_id).available == 250
    assert page.status_code == 422


def test_credits_for_an_unknown_workspace_are_refused(operator: Visitor) -> None:
    page = operator.send("/admin/workspaces/credits", workspace=new_id("wks"), amount="5", reason="x")

    assert page.status_code == 404


def test_a_new_workspace_is_listed_with_the_others(app: APIFlask, operator: Visitor) -> None:
    create_user(app, email="eve@babbage.example")

    page = operator.send("/admin/workspaces", workspace_name="Babbage & Co", **ADMIN)

    assert "Babbage &amp; Co" in page.text
    assert page.text.count('<th scope="row" dir="auto">Acme</th>') == 2


def test_the_admin_of_a_new_workspace_can_sign_in(operator: Visitor, user: SignedInUser) -> None:
    operator.send("/admin/workspaces", workspace_name="Babbage & Co", **ADMIN)

    answer = user.sign_in(email=ADMIN["email"]).get_json()

    assert answer["workspace"]["name"] == "Babbage & Co"
    assert (answer["account"]["role"], answer["credits"]["balance"]) == ("admin", 0)


def test_a_workspace_without_a_usable_admin_is_not_created(operator: Visitor, user: SignedInUser) -> None:
    taken = operator.send("/admin/workspaces", workspace_name="New", **ADMIN | {"email": user.email})
    incomplete = operator.send("/admin/workspaces", workspace_name="New", **ADMIN | {"password": ""})

    with user.database.reading() as session:
        assert len(workspaces.list_all(session)) == 1
    assert (taken.status_code, incomplete.status_code) == (422, 422)
    assert "already has an account" in taken.text


def test_an_admin_of_a_workspace_does_not_see_the_others(app: APIFlask, user: SignedInUser) -> None:
    page = visitor(app, user).open("/admin/workspaces")

    assert page.status_code == 403
    assert "This is for operators" in page.text


def test_queues_show_their_workers_and_open_jobs(
    app: APIFlask, operator: Visitor, user: SignedInUser
) -> None:
    change_settings(app, flower_url="https://flower.example.com")
    operator.send("/reveal", field="email", full_name="Ada Lovelace", company_name="Acme")
    heartbeat = Heartbeat(
        name="interactive@host:1",
        queues=("interactive",),
        threads=8,
        busy=1,
        state=WorkerState.WORKING,
        up_seconds=5,
    )
    with user.database.transaction() as session:
        worker_heartbeats.record_heartbeat(session, heartbeat, now=clock.now())

    page = operator.open("/admin/queues").text

    assert re.search(
        r'<th scope="row">interactive</th>\s*<td[^>]*>.*Working.*\s*<td class="number"[^>]*>1</td>', page
    )
    assert re.search(r'<th scope="row">providers</th>\s*<td[^>]*>.*No worker', page)
    assert "interactive@host:1" in page
    assert 'href="https://flower.example.com"' in page


def test_bars_are_scaled_and_leave_gaps() -> None:
    found = bars([1.0, None, 0.5, 0.0], maximum=1.0)

    assert [bar.height for bar in found] == [80.0, 40.0, 1.0]
    assert [bar.y for bar in found] == [0.0, 40.0, 79.0]
    assert found[1].x == 315.0
