"""`flask contacts import --queue` and `flask contacts imports`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from apiflask import APIFlask
from click.testing import Result
from settings_support import change_settings

from app.features.imports import queued_imports
from app.features.imports.tables import QueuedImport
from app.infra.database.db import Database

Run = Callable[..., Result]
TEXT = "Who,Email\nAda Lovelace,ada@acme.example\n"


@pytest.fixture
def folder(app: APIFlask, tmp_path: Path) -> Path:
    folder = tmp_path / "lists"
    folder.mkdir()
    change_settings(app, import_folder=str(folder))
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text(TEXT)
    return file


@pytest.fixture
def run(app: APIFlask) -> Run:
    runner = app.test_cli_runner()
    return lambda *arguments, **options: runner.invoke(args=["contacts", *arguments], **options)


def queued(database: Database) -> list[QueuedImport]:
    with database.reading() as session:
        return list(queued_imports.latest(session, limit=10))


def test_a_file_is_queued_with_its_options(run: Run, folder: Path, file: Path, database: Database) -> None:
    options = ["--queue", "--map", "Who=full_name", "--date", "2026-01-02", "--country", "DE", "--json"]

    result = run("import", str(file), *options)

    (row,) = queued(database)
    assert json.loads(result.stdout) == {"import_id": row.id}
    assert (row.status, row.file, row.entity) == ("waiting", "people.csv", "contacts")
    assert row.options["mapped"] == {"Who": "full_name"}
    assert row.options["at"].startswith("2026-01-02")
    assert (row.options["region"], row.options["source"]) == ("DE", "people.csv")
    assert (folder / "people.csv").read_text() == TEXT


def test_standard_input_is_queued(run: Run, folder: Path, database: Database) -> None:
    assert run("import", "-", "--queue", input=TEXT).exit_code == 0

    assert (queued(database)[0].file, (folder / "standard-input.csv").read_text()) == (
        "standard-input.csv",
        TEXT,
    )


def test_companies_are_queued_too(app: APIFlask, folder: Path, file: Path, database: Database) -> None:
    result = app.test_cli_runner().invoke(args=["companies", "import", str(file), "--queue"])

    assert result.exit_code == 0
    assert queued(database)[0].entity == "companies"


def test_the_same_name_waits_for_the_first_file(
    run: Run, folder: Path, file: Path, database: Database
) -> None:
    run("import", str(file), "--queue")

    again = run("import", str(file), "--queue")

    assert again.exit_code == 1
    assert "people.csv" in again.stderr
    assert len(queued(database)) == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dry-run"], "--dry-run cannot be used with --queue"),
        (["--rejects", "x.csv"], "--rejects cannot be used with --queue"),
        (["--map", "Who=nonsense"], "nonsense"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    run: Run, file: Path, database: Database, options: list[str], message: str
) -> None:
    result = run("import", str(file), "--queue", *options)

    assert result.exit_code in {1, 2}
    assert message in result.stderr
    assert not queued(database)


def test_workbooks_are_not_queued(run: Run, folder: Path, tmp_path: Path) -> None:
    book = tmp_path / "book.xlsx"
    book.write_bytes(b"PK")

    result = run("import", str(book), "--queue")

    assert result.exit_code == 1
    assert "Only files with these endings are queued: .csv, .tsv, .txt" in result.stderr


def test_without_a_folder_nothing_is_queued(run: Run, app: APIFlask, file: Path) -> None:
    unset = run("import", str(file), "--queue")
    change_settings(app, import_folder="/nowhere/lists")
    missing = run("import", str(file), "--queue")

    assert (unset.exit_code, missing.exit_code) == (1, 1)
    assert "IMPORT_FOLDER is not set" in unset.stderr
    assert "The folder /nowhere/lists cannot be used: No such file or directory." in missing.stderr


def test_imports_are_listed_with_their_progress(
    run: Run, folder: Path, file: Path, database: Database
) -> None:
    empty = run("imports")
    run("import", str(file), "--queue")
    with database.transaction() as session:
        row = session.get_one(QueuedImport, queued(database)[0].id)
        row.bytes_done, row.rows_done, row.result = row.size // 2, 1, {"counts": {"new": 1}}

    listed, as_json = run("imports"), json.loads(run("imports", "--json").stdout)

    assert "No import is queued" in empty.stdout
    assert listed.stdout.split()[-9:] == ["waiting", "50%", "1", "1", "0", "0", "0", "0", "people.csv"]
    assert (as_json["imports"][0]["rows"], as_json["imports"][0]["done"]) == (1, 0.5)
