"""`flask database move`: from SQLite to PostgreSQL, row by row, or not at all."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from audit_support import busy_days
from click.testing import Result
from jobs_support import NOW
from local_servers import POSTGRES, empty_database, free_port
from sqlalchemy import Connection, Row, Table, select, text
from stored_support import a_contact, a_phone, an_email

from app.domain.audit_actions import Action
from app.engine.audit_log import entries as audit_log
from app.engine.audit_log import sealing, verification
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.lists.import_runs import ImportRun
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database import table_copies
from app.infra.database.db import Base, Database
from app.infra.database.session import Session
from app.settings import Settings
from cli import database as database_commands
from cli.application import create_app
from cli.database import migrate

needs_postgres = pytest.mark.skipif(not POSTGRES, reason="the target is PostgreSQL")
Run = Callable[..., Result]


@pytest.fixture
def source(settings: Settings, tmp_path: Path) -> Iterator[Database]:
    """A SQLite database with busy days of three workspaces, people, and an import."""
    database = Database(f"sqlite:///{tmp_path}/source.sqlite3", keys=DigestKeys.from_settings(settings))
    migrate(database)
    with database.transaction() as session:
        busy_days(session)
        contact = a_contact(session, None, "Zoë\tO'Brien \\ 日本")
        an_email(session, contact, "zoe@acme.com")
        a_phone(session, contact, "+16175550100")
        session.add(ImportRun(id=41, entity="contacts", rows=1, started_at=NOW, touched_at=NOW))
    yield database
    database.close()


@pytest.fixture
def target(tmp_path: Path) -> Iterator[str]:
    with empty_database(tmp_path, "moved") as url:
        yield url


@pytest.fixture
def run(settings: Settings, source: Database) -> Iterator[Run]:
    url = source.engine.url.render_as_string(hide_password=False)
    app = create_app(dataclasses.replace(settings, database_url=url))
    yield lambda *arguments: app.test_cli_runner().invoke(args=["database", "move", *arguments])
    app.extensions["services"].database.close()


def counts(url: str) -> int:
    database = Database(url)
    with database.engine.connect() as connection:
        rows = table_copies.count_rows(connection)
    database.close()
    return rows


@needs_postgres
def test_every_row_is_moved_and_the_ledger_stays_consistent(
    run: Run, source: Database, target: str, settings: Settings
) -> None:
    result = run("--to", target, "--json")

    assert result.exit_code == 0, result.output
    copied = {table["name"]: table["rows"] for table in json.loads(result.stdout)["tables"]}
    assert set(copied) == set(Base.metadata.tables)
    assert sum(copied.values()) == counts(target)
    app = create_app(dataclasses.replace(settings, database_url=target))
    audit = app.test_cli_runner().invoke(args=["audit", "ledger", "--json"])
    app.extensions["services"].database.close()
    faults = [
        fault for fault in json.loads(audit.stdout)["faults"] if fault["rule"] != "open_job_is_not_stuck"
    ]
    assert faults == []


@needs_postgres
def test_values_are_the_same_and_numbers_continue(run: Run, target: str, settings: Settings) -> None:
    assert run("--to", target).exit_code == 0

    database = Database(target, keys=DigestKeys.from_settings(settings))
    with database.transaction() as session:
        assert session.scalars(select(Contact.full_name).where(Contact.full_name.like("Zo%"))).all() == [
            "Zoë\tO'Brien \\ 日本"
        ]
        stored = {email.email: email for email in session.scalars(select(Email))}
        assert (stored["zoe@acme.com"].verified_at, stored["zoe@acme.com"].status_reasons) == (NOW, [])
        run_row = ImportRun(entity="contacts", rows=1, started_at=NOW, touched_at=NOW)
        session.add(run_row)
        session.flush()
        assert run_row.id == 42
    database.close()


@needs_postgres
def test_the_audit_log_continues_after_all_its_entries_were_sealed(
    run: Run, source: Database, target: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def migrate_and_seal(database: Database) -> None:
        """Seal also the entry of the command, as a worker does that was not stopped."""
        migrate(database)
        with source.transaction() as session:
            sealing.seal(session)

    monkeypatch.setattr(database_commands, "migrate", migrate_and_seal)
    assert run("--to", target).exit_code == 0

    database = Database(target, keys=DigestKeys.from_settings(settings))
    with database.transaction() as session:
        sealed = verification.verify(session).entries
        audit_log.record(session, Action.CREDITS_GRANT)
        sealing.seal(session)
        result = verification.verify(session)
    database.close()

    assert sealed > 0
    assert (result.entries, result.pending, result.fault) == (sealed + 1, 0, None)


@needs_postgres
def test_a_target_with_rows_is_refused(run: Run, target: str) -> None:
    assert run("--to", target).exit_code == 0

    again = run("--to", target)

    assert (again.exit_code, again.stderr) == (1, "Error: The target has rows. Name an empty database.\n")


@needs_postgres
@pytest.mark.parametrize("cut_short", [KeyboardInterrupt, ValueError])
def test_a_move_that_was_interrupted_can_be_started_again(
    run: Run, target: str, monkeypatch: pytest.MonkeyPatch, cut_short: type[BaseException]
) -> None:
    with monkeypatch.context() as patch:
        continue_numbers = table_copies._continue_numbers  # noqa: SLF001 -- called after each table

        def interrupt(connection: Connection, session: Session, table: Table) -> None:
            if table is Base.metadata.tables["ledger"]:
                raise cut_short
            continue_numbers(connection, session, table)

        patch.setattr(table_copies, "_continue_numbers", interrupt)
        assert run("--to", target).exit_code == 1
    assert counts(target) == 0

    assert run("--to", target).exit_code == 0
    assert counts(target) > 0


@needs_postgres
def test_a_copy_that_differs_is_found(run: Run, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = table_copies._batches  # noqa: SLF001 -- it reads the source and the copy

    def lossy(connection: Connection, table: Table) -> Iterator[list[Row[Any]]]:
        skipped = int(table.name == "contacts" and connection.dialect.name == "postgresql")
        yield from (list(rows)[skipped:] for rows in batches(connection, table))

    monkeypatch.setattr(table_copies, "_batches", lossy)

    result = run("--to", target)

    assert result.stderr == "Error: The copy of the table contacts has other rows. Nothing was moved.\n"
    assert counts(target) == 0


@needs_postgres
def test_an_older_database_is_refused(run: Run, source: Database, target: str) -> None:
    with source.transaction() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '0056'"))

    result = run("--to", target)

    assert result.stderr.startswith("Error: The database is of revision 0056, not ")
    assert result.stderr.endswith("Run first: flask database upgrade\n")


@needs_postgres
def test_the_url_is_read_from_standard_input_or_the_environment_and_not_shown(
    settings: Settings, source: Database, target: str
) -> None:
    url = source.engine.url.render_as_string(hide_password=False)
    app = create_app(dataclasses.replace(settings, database_url=url))
    runner, command = app.test_cli_runner(), ["database", "move"]

    moved = runner.invoke(args=[*command, "--to", "-"], input=f"{target}\n")
    again = runner.invoke(args=command, env={"TARGET_DATABASE_URL": target})
    app.extensions["services"].database.close()

    assert (moved.exit_code, again.exit_code) == (0, 1)
    assert again.stderr == "Error: The target has rows. Name an empty database.\n"
    assert target not in moved.output + again.output


def test_a_target_of_another_kind_is_refused(run: Run, tmp_path: Path) -> None:
    result = run("--to", f"sqlite:///{tmp_path}/other.sqlite3")

    assert result.exit_code == 1
    assert result.stderr == (
        "Error: The target must be PostgreSQL: TARGET_DATABASE_URL=postgresql://user:password@host/database\n"
    )


def test_a_target_that_cannot_be_reached_is_named_by_its_own_setting(run: Run) -> None:
    result = run("--to", f"postgresql://user@127.0.0.1:{free_port()}/database")

    assert result.exit_code == 1
    assert " Check TARGET_DATABASE_URL, and that its server runs." in result.stderr


@pytest.mark.parametrize("url", ["not a URL", "mysql://user:secret@host/database"])
def test_an_invalid_target_is_named_by_its_own_setting(run: Run, url: str) -> None:
    result = run("--to", url)

    assert result.exit_code == 1
    assert "TARGET_DATABASE_URL is not" in result.output
    assert "secret" not in result.output
