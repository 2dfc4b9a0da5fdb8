"""Fills a database of an earlier version with the rows of the dump in `tests/data/upgrade`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import JSON, Boolean, Column, Connection, DateTime, LargeBinary, MetaData

from cli.database import _config

DATA = Path(__file__).parents[1] / "data" / "upgrade"
DUMP_REVISION = "0009"
"""The revision of the dump."""


def migrate_to(connection: Connection, revision: str) -> None:
    command.upgrade(_config(connection), revision)
    connection.commit()


def fill(connection: Connection) -> None:
    """Insert the rows of the dump, as far as the database has their tables and columns."""
    stored = MetaData()
    stored.reflect(connection)
    with closing(sqlite3.connect(":memory:")) as dump:
        dump.row_factory = sqlite3.Row
        dump.executescript((DATA / "database.sql").read_text())
        dumped = {row["name"] for row in dump.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in stored.sorted_tables:
            if table.name == "alembic_version" or table.name not in dumped:
                continue
            cursor = dump.execute(f'SELECT * FROM "{table.name}"')  # noqa: S608 -- one of our tables
            names = {column[0] for column in cursor.description}
            columns = [column for column in table.c if column.name in names]
            values = [{column.name: _value(column, row[column.name]) for column in columns} for row in cursor]
            if values:
                connection.execute(table.insert(), values)
    connection.commit()


def _value(column: Column[Any], value: Any) -> Any:
    """Return a value of the dump, which is SQLite's, as the column's type has it."""
    if value is None:
        return None
    match column.type:
        case JSON():
            return json.loads(value)
        case Boolean():
            return bool(value)
        case DateTime(timezone=timezone):
            moment = datetime.fromisoformat(value)
            return moment.replace(tzinfo=UTC) if timezone else moment
        case LargeBinary():
            return bytes(value)
    return value
