"""`flask audit verify`, `head`, `export` and `prune`, and the entries of commands."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from apiflask import APIFlask
from audit_log_support import fault, log, record, recorded, seal, sealed, tamper
from click.testing import Result
from settings_support import change_settings

from app.engine.audit_log import heads
from app.infra import clock
from app.infra.database.db import Database
from cli.commands import Commands, group_names
from cli.groups import command_records

Run = Callable[..., Result]
COMMANDS = {name: Commands().get_command(None, name) for name in group_names()}  # type: ignore[arg-type]
"""Imported now, so that the database of the tests has the tables of every command."""
AGED = "UPDATE audit_log_pending SET occurred_at = '2020-01-01 00:00:00.000000'"


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments, **options: runner.invoke(args=["audit", *arguments], **options)


@pytest.fixture
def old_log(database: Database) -> None:
    """A log with two entries of the year 2020 and one of now."""
    record(database, "1", "2")
    with database.transaction() as session:
        if database.is_sqlite:
            session.connection().exec_driver_sql("DROP TRIGGER audit_log_pending_no_update")
    tamper(database, AGED)
    seal(database)
    record(database, "3")
    seal(database)


def test_a_sound_log_is_reported(run: Run, database: Database) -> None:
    sealed(database)
    record(database, "pending")

    result = run("verify")

    assert result.exit_code == 0
    assert "All 5 entries are as they were sealed; 1 are pending." in result.stdout
    assert "No head that was kept apart was compared" in result.stdout


def test_the_first_bad_entry_is_named(run: Run, database: Database) -> None:
    sealed(database)
    tamper(database, "UPDATE audit_log SET object_id = 'x' WHERE position IN (3, 4)")

    result, as_json = run("verify"), run("verify", "--json")

    assert (result.exit_code, as_json.exit_code) == (1, 1)
    assert result.stdout.startswith("Entry 3 or its place was changed after it was sealed. The 2 entries")
    assert json.loads(as_json.stdout)["fault"] == {
        "position": 3,
        "kind": "changed",
        "message": "Entry 3 or its place was changed after it was sealed.",
    }


def test_a_truncated_log_is_found_with_a_printed_head(run: Run, database: Database, tmp_path: Path) -> None:
    sealed(database)
    kept = tmp_path / "heads"
    kept.write_text(run("head").stdout)
    tamper(database, "DELETE FROM audit_log WHERE position > 3")

    result = run("verify", "--heads", str(kept))

    assert result.exit_code == 1
    assert "Entry 4 is missing." in result.stdout


def test_the_heads_of_the_setting_are_compared(
    run: Run, app: APIFlask, database: Database, tmp_path: Path
) -> None:
    path = tmp_path / "heads"
    heads.append(path, sealed(database))
    change_settings(app, audit_heads_file=str(path))

    assert "No head" not in run("verify").stdout
    assert json.loads(run("verify", "--json").stdout)["heads"] == 1


def test_missing_and_invalid_heads_are_errors(
    run: Run, app: APIFlask, database: Database, tmp_path: Path
) -> None:
    path = tmp_path / "heads"
    change_settings(app, audit_heads_file=str(path))
    missing = run("verify")
    path.write_bytes(b"not a head\xff\n")
    invalid = run("verify")

    assert (missing.exit_code, invalid.exit_code) == (1, 1)
    assert "cannot be read: No such file" in missing.stderr
    assert "Line 1 is not a head of the audit log." in invalid.stderr


def test_the_head_seals_what_is_pending(run: Run, database: Database) -> None:
    record(database, "1", "2")

    result = run("head")

    assert json.loads(result.stdout) == {"position": 2, "hash": log(database)[-1].hash.hex()}


def test_a_file_has_every_entry_with_its_hash(run: Run, database: Database, tmp_path: Path) -> None:
    head = sealed(database, 3)
    path = tmp_path / "log.csv"

    result = run("export", str(path), "--json")

    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert json.loads(result.stdout)["rows"] == 3
    assert [row["position"] for row in rows] == ["3", "2", "1"]
    assert rows[0]["hash"] == head.hash.hex()


@pytest.mark.usefixtures("old_log")
def test_old_entries_are_pruned_after_a_confirmation(run: Run, database: Database) -> None:
    declined = run("prune", "--before", "2021-01-01", input="n\n")
    pruned = run("prune", "--before", "2021-01-01", "--yes", "--json")

    assert (declined.exit_code, json.loads(pruned.stdout)) == (1, {"deleted": 2})
    assert [entry.position for entry in log(database)] == [3]
    assert fault(database) is None


@pytest.mark.usefixtures("old_log")
def test_a_broken_log_is_not_pruned(run: Run, database: Database) -> None:
    tamper(database, "UPDATE audit_log SET object_id = 'x' WHERE position = 2")

    result = run("prune", "--before", "2021-01-01", "--yes")

    assert result.exit_code == 1
    assert "Nothing was deleted" in result.stderr
    assert len(log(database)) == 3


def test_recent_entries_and_an_empty_log_are_left_alone(run: Run) -> None:
    yesterday = (clock.now() - timedelta(days=1)).date().isoformat()

    assert "The last 30 days are always kept" in run("prune", "--before", yesterday, "--yes").stderr
    assert run("prune", "--before", "2021-01-01").stdout == "Deleted 0 entries of the audit log.\n"


def test_a_command_is_recorded_with_its_user_and_outcome(app: APIFlask, database: Database) -> None:
    runner = app.test_cli_runner()
    runner.invoke(args=["workspaces", "create", "Acme"])
    runner.invoke(args=["accounts", "disable", "nobody@acme.example"])

    user = command_records.actor().id
    entries = [(entry.action, entry.actor_id, entry.outcome) for entry in recorded(database)]
    assert entries == [
        ("command.workspaces.create", user, "started"),
        ("workspace.create", user, "succeeded"),
        ("command.workspaces.create", user, "succeeded"),
        ("command.accounts.disable", user, "started"),
        ("command.accounts.disable", user, "failed"),
    ]
    assert "nobody" not in str(recorded(database))


def test_commands_that_only_read_are_not_recorded(app: APIFlask, database: Database) -> None:
    runner = app.test_cli_runner()

    for arguments in (["workspaces", "list"], ["audit", "verify"], ["contacts", "export", "--help"]):
        assert runner.invoke(args=arguments).exit_code == 0

    assert not recorded(database)


def test_the_commands_that_are_not_recorded_exist() -> None:
    names = {
        f"{group}.{name}"
        for group, command in COMMANDS.items()
        for name in command.list_commands(None)  # type: ignore[union-attr,arg-type]
    }

    assert names >= command_records.NOT_RECORDED


@pytest.mark.parametrize(
    ("user_id", "caller", "expected"),
    [(0, "ada", "root (sudo: ada)"), (0, "", "root"), (4_000_000, "ada", "uid 4000000")],
)
def test_the_user_is_that_of_the_process_and_the_one_who_called_sudo(
    monkeypatch: pytest.MonkeyPatch, user_id: int, caller: str, expected: str
) -> None:
    monkeypatch.setattr(command_records.os, "getuid", lambda: user_id)
    monkeypatch.setenv("SUDO_USER", caller)

    assert command_records.actor().id == expected
