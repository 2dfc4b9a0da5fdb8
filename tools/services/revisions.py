"""Whether a database has every migration, found out without starting Alembic, which takes a second."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from urllib.parse import quote

from tools.state import ROOT

VERSIONS = ROOT / "app" / "migrations" / "versions"
SQLITE = "sqlite:///"  # followed by the path of the file


def head() -> str:
    """Return the revision of the newest migration: its file name begins with it, and they are numbered."""
    return max(path.name for path in VERSIONS.glob("[0-9]*.py")).partition("_")[0]


def is_at_head(database_url: str) -> bool:
    """Return whether this is a SQLite database with every migration; False for any other database."""
    if not database_url.startswith(SQLITE):
        return False
    file = f"file:{quote(database_url.removeprefix(SQLITE))}?mode=rw"  # which does not create it
    try:
        with closing(sqlite3.connect(file, uri=True)) as connection:
            return connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(head(),)]
    except sqlite3.Error:
        return False
