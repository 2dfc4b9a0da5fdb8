from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from apiflask import APIFlask
from click.testing import Result
from settings_support import change_settings
from stored_support import a_contact

from app.engine.contacts.contacts import Contact
from app.infra import clock
from app.infra.database.db import Database
from cli import people

Run = Callable[..., Result]


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments: runner.invoke(people.group, list(arguments))


@pytest.fixture
def ids(database: Database) -> list[str]:
    """Store people who were obtained 40, 25 and 5 days ago."""
    with database.transaction() as session:
        ages = {"Old Ray": 40, "Soon Ray": 25, "New Ray": 5}
        now = clock.now()
        return [
            a_contact(session, None, name, created_at=now - timedelta(days=days)).id
            for name, days in ages.items()
        ]


def listed(result: Result) -> list[str]:
    return [row["contact_id"] for row in csv.DictReader(io.StringIO(result.stdout))]


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("form", ["csv", "json"])
def test_those_whose_notice_is_due_are_listed_and_marked_once(
    run: Run, ids: list[str], tmp_path: Path, form: str
) -> None:
    file = str(tmp_path / "due")

    assert run("due-notices", "--format", form, file).exit_code == 0
    assert Path(file).stat().st_mode & 0o777 == 0o600
    first, second = run("notified", file), run("notified", "--json", file)

    assert first.stdout == "Marked: 2; marked before: 0; not stored: 0.\n"
    assert json.loads(second.stdout) == {"marked": 0, "already_marked": 2, "not_stored": 0}
    assert listed(run("due-notices", "--by", "2999-01-01")) == ids[2:]


@pytest.mark.usefixtures("app")
def test_a_date_limits_what_is_listed_and_a_time_can_be_given(
    run: Run, ids: list[str], database: Database, tmp_path: Path
) -> None:
    today = clock.now().date().isoformat()
    (tmp_path / "told.csv").write_text(f"name,contact_id\nNew,{ids[2]}\n")

    assert listed(run("due-notices", "--by", today)) == ids[:1]
    assert run("notified", "--at", "2026-01-02", str(tmp_path / "told.csv")).exit_code == 0
    with database.reading() as session:
        notified_at = session.get_one(Contact, ids[2]).notified_at

    assert notified_at is not None
    assert notified_at.isoformat() == "2026-01-02T00:00:00+00:00"


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name\nAda\n", "The file has no contact_id in each row."),
        ('[{"id": 1}]', "The file has no contact_id in each row."),
        ("[1", "The file has no contact_id in each row."),
        ("contact_id\nada\n", "1 rows have no valid contact_id. Nothing was marked."),
    ],
)
def test_a_file_without_ids_is_refused(run: Run, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "told").write_text(text)

    result = run("notified", str(tmp_path / "told"))

    assert (result.exit_code, message in result.output) == (1, True)


def test_nothing_is_listed_if_notices_are_off(app: APIFlask, run: Run) -> None:
    change_settings(app, notice_days=0)

    result = run("due-notices")

    assert (result.exit_code, "NOTICE_DAYS is 0" in result.output) == (1, True)


@pytest.mark.usefixtures("app")
def test_a_file_that_is_no_text_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "due.xlsx"
    file.write_bytes(b"PK\x03\x04\xff\xfe")

    result = run("notified", str(file))

    assert (result.exit_code, result.stderr) == (1, "Error: The file has no contact_id in each row.\n")
