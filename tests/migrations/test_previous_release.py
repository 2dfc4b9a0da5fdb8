"""The tables of this version accept what the previous release reads and writes, since it serves meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from local_servers import empty_database
from sqlalchemy import Inspector, inspect
from upgrade_support import migrate_to

from app.infra.database.db import Database

PREVIOUS = "0030"
"""The newest migration of the previous release."""


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[Any, Any], dict[Any, Any]]]:
    """The columns by table and name: of the previous release, and of this version."""
    folder = tmp_path_factory.mktemp("previous")
    with empty_database(folder, "previous") as url:
        database = Database(url)
        found = []
        for revision in (PREVIOUS, "head"):
            with database.engine.connect() as connection:
                migrate_to(connection, revision)
                found.append(_columns(inspect(connection)))
        database.close()
        yield found[0], found[1]


def _columns(inspector: Inspector) -> dict[Any, Any]:
    return {
        (table, column["name"]): column
        for table in inspector.get_table_names()
        for column in inspector.get_columns(table)
    }


def test_every_column_that_the_previous_release_reads_exists(columns: tuple[dict[Any, Any], ...]) -> None:
    before, now = columns

    assert set(before) - set(now) == set()


def test_rows_that_the_previous_release_writes_are_accepted(columns: tuple[dict[Any, Any], ...]) -> None:
    """It sets no new column, and leaves those null that were nullable."""
    before, now = columns
    tables = {table for table, _name in before}
    added = {key: column for key, column in now.items() if key[0] in tables and key not in before}

    required = {key for key, column in added.items() if not column["nullable"] and column["default"] is None}
    stricter = {key for key in before if before[key]["nullable"] and not now[key]["nullable"]}

    assert added
    assert (required, stricter) == (set(), set())
