"""The revision of a SQLite database, found out without starting Alembic, which takes a second."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from urllib.parse import quote

from tools.console import echo
from tools.state import ROOT, State

VERSIONS = ROOT / "app" / "migrations" / "versions"
SQLITE = "sqlite:///"  # followed by the path of the file


def head() -> str:
    """Return the revision of the newest migration."""
    return max(_known())


def is_at_head(database_url: str) -> bool:
    """Return whether this is a SQLite database with every migration; False for any other database."""
    if not database_url.startswith(SQLITE):
        return False
    return _revision(database_url.removeprefix(SQLITE)) == head()


def discard_unreleased(state: State) -> None:
    """Delete the demo's database if it is of a version before 0.1.0, which no migration can upgrade."""
    revision = _revision(str(state.database))
    if revision is not None and revision < min(_known()):
        echo("The database of the demo is of a version before 0.1.0: it is deleted and created again.")
        state.delete_database()


def _known() -> list[str]:
    """Return the revisions of the migrations, which are numbers: their file names begin with them."""
    return [path.name.partition("_")[0] for path in VERSIONS.glob("[0-9]*.py")]


def _revision(file: str) -> str | None:
    """Return the revision of the database in this file; None if there is none."""
    try:
        with closing(sqlite3.connect(f"file:{quote(file)}?mode=rw", uri=True)) as connection:  # not created
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return None
    return str(row[0]) if row else None
