"""A verified list takes the same number of SQL statements however many values it has."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from apiflask import APIFlask
from openpyxl import load_workbook
from sqlalchemy import event, select
from users_support import SignedInUser

from app.domain.event_types import JOB_FINISHED
from app.domain.spending import Period
from app.engine.events import endpoints
from app.engine.jobs.jobs import Job
from app.engine.ledger import credits, limit_settings
from app.features.verifications import list_values
from app.infra import clock
from app.web.sign_in import auth

PATH = "/api/verifications"


@pytest.fixture(autouse=True)
def _rich(user: SignedInUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "RECHECK_AFTER_SECONDS", 60)  # a slow machine must not cost a statement
    with user.database.transaction() as session:
        credits.grant(session, user.workspace_id, 10_000, reason="test", now=clock.now())


@contextmanager
def counted(app: APIFlask) -> Iterator[list[str]]:
    """Collect the statements of the block."""
    sql: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if not statement.startswith("BEGIN"):
            sql.append(statement)

    engines = app.extensions["services"].database.engines
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    yield sql
    for engine in engines:
        event.remove(engine, "before_cursor_execute", note)


def send(user: SignedInUser, count: int) -> dict[str, Any]:
    lines = (b"person%d@domain-%d.example\n" % (number, number % 70) for number in range(count))
    headers = {**user.headers, "Content-Type": "text/csv"}
    response = user.client.post(f"{PATH}/lists", data=b"email\n" + b"".join(lines), headers=headers)
    assert response.status_code == 201, response.get_json()
    created: dict[str, Any] = response.get_json()
    return created


def statements(app: APIFlask, user: SignedInUser, count: int) -> list[int]:
    """Return the statements that it takes to create, show and page a list of so many values."""
    with counted(app) as creating:
        list_id = send(user, count)["id"]
    numbers = [len(creating)]
    for path in (list_id, f"{list_id}/result?format=json"):
        with counted(app) as reading:
            user.client.get(f"{PATH}/{path}", headers=user.headers)
        numbers.append(len(reading))
    return numbers


@pytest.mark.parametrize("has_endpoints", [False, True])
def test_the_statements_do_not_depend_on_the_number_of_values(
    app: APIFlask, user: SignedInUser, *, has_endpoints: bool
) -> None:
    if has_endpoints:
        with user.database.transaction() as session:
            hook = "https://example.com/hook"
            endpoints.create(session, user.workspace_id, url=hook, types=[JOB_FINISHED], now=clock.now())
    user.client.get("/api/ext/session", headers=user.headers)

    few, many = statements(app, user, 3), statements(app, user, 2_000)

    assert few == many
    assert few[0] <= 25


def test_a_download_reads_the_values_in_batches(
    app: APIFlask, user: SignedInUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_values, "BATCH", 100)
    list_id = send(user, 250)["id"]
    sizes: list[int] = []
    page = list_values.page

    def noted(*arguments: Any, **options: Any) -> list[list_values.ListRow]:
        rows = page(*arguments, **options)
        sizes.append(len(rows))
        return rows

    monkeypatch.setattr(list_values, "page", noted)
    file = user.client.get(f"{PATH}/{list_id}/result?format=xlsx", headers=user.headers).get_data()

    sheet = load_workbook(io.BytesIO(file)).active
    assert sheet is not None
    rows = list(sheet.iter_rows(values_only=True))
    assert sizes == [100, 100, 50, 0]
    assert rows[0][:3] == ("Line", "Value", "Status")
    assert [row[0] for row in rows[1:]] == list(range(2, 252))
    assert rows[1][1:3] == ("person0@domain-0.example", "pending")


def test_a_spending_limit_is_checked_for_each_job(app: APIFlask, user: SignedInUser) -> None:
    with user.database.transaction() as session:
        subject = limit_settings.subject(session, user.workspace_id, user.account_id)
        limit_settings.put(session, user.workspace_id, subject, Period.MONTH, 250, now=clock.now())

    created = send(user, 250)
    response = user.client.post(
        f"{PATH}/lists", data=b"a@b.example\n", headers={**user.headers, "Content-Type": "text/csv"}
    )

    assert created["credits"] == {"charged": 0, "reserved": 250, "at_most": 250}
    assert (response.status_code, response.get_json()["code"]) == (402, "spending_limit_reached")
    values = user.client.get(f"{PATH}/{created['id']}/result?format=json&limit=1000", headers=user.headers)
    assert len({value["value"] for value in values.get_json()["values"]}) == 250
    with user.database.reading() as session:
        assert sorted(session.scalars(select(Job.progress_total))) == [50, 100, 100]
