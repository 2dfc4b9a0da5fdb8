"""An import that is killed is resumed by running it again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from apiflask import APIFlask
from polling import wait_until
from sqlalchemy import func, select

from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.infra.database.db import Database
from app.settings import Settings
from cli import contacts

pytestmark = pytest.mark.release

ROWS = 6_000
BATCH = 1_000
ROOT = Path(__file__).parents[3]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    lines = (f"Ada{n} Lovelace,ada{n}@acme{n // 20}.example,2026-10-01\n" for n in range(ROWS))
    path.write_text("Name,Email,Updated At\n" + "".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def importing(file: Path, settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """A process that imports the file."""
    command = [sys.executable, "-m", "flask", "--app", "cli.application:create_app"]
    environment = os.environ | {"DATABASE_URL": settings.database_url}
    with subprocess.Popen(
        [*command, "contacts", "import", str(file)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        yield process
        process.kill()


def count(database: Database, table: type[Contact | Email]) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_a_killed_import_is_resumed_by_running_it_again(
    importing: subprocess.Popen[bytes], file: Path, app: APIFlask, database: Database
) -> None:
    wait_until(lambda: count(database, Contact))
    importing.kill()
    importing.wait()
    stored = count(database, Contact)

    result = app.test_cli_runner().invoke(contacts.group, ["import", str(file), "--json"])

    assert BATCH <= stored < ROWS
    assert f'"new": {ROWS - stored}' in result.stdout
    assert f'"unchanged": {stored}' in result.stdout
    assert (count(database, Contact), count(database, Email)) == (ROWS, ROWS)
