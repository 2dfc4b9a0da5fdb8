"""Copies all tables from one database to another, and compares the rows of both by count and checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Table, TableClause, column, func, select, text
from sqlalchemy import table as table_clause
from sqlalchemy.types import TypeDecorator, TypeEngine

from app.infra.database.db import Base, UtcDateTime
from app.infra.database.session import Session

BATCH_ROWS = 2_000
_CHECKSUM_BYTES = 8
_CHECKSUMS = 1 << (8 * _CHECKSUM_BYTES)
_LAST_NUMBER = text("SELECT seq FROM sqlite_sequence WHERE name = :name")

Report = Callable[[str, int], None]
"""Called with the name of a table and the number of rows copied since the last call."""


@dataclass(frozen=True, slots=True)
class TableCopy:
    """A copied table: its rows, and a checksum that does not depend on their order."""

    name: str
    rows: int
    checksum: str


class TableDiffers(Exception):  # noqa: N818 -- named after what is wrong
    """The copy of a table has other rows than the table; the message is its name."""


def tables() -> Sequence[Table]:
    """Return all tables, each after those that its foreign keys refer to."""
    return Base.metadata.sorted_tables


def count_rows(connection: Connection) -> int:
    """Return the number of rows of all tables."""
    return sum(connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables())


def copy_all(source: Connection, target: Session, report: Report) -> list[TableCopy]:
    """Copy every table, read each copy back, and continue the numbers of its ids.

    Raises:
        TableDiffers: a copy has other rows.

    """
    copies = []
    for table in tables():
        target.execute(text(f"ALTER TABLE {table.name} DISABLE TRIGGER USER"))  # they would write more rows
        counter = _Checksum()
        for rows in _batches(source, table):
            counter.add(rows)
            target.execute(_stored(table).insert(), [dict(row._mapping) for row in rows])  # noqa: SLF001 -- public, in spite of its name
            report(table.name, len(rows))
        stored = _Checksum()
        for rows in _batches(target.connection(), table):
            stored.add(rows)
        if stored != counter:
            raise TableDiffers(table.name)
        target.execute(text(f"ALTER TABLE {table.name} ENABLE TRIGGER USER"))
        _continue_numbers(source, target, table)
        copies.append(TableCopy(table.name, counter.rows, f"{counter.sum:0{2 * _CHECKSUM_BYTES}x}"))
    return copies


def _batches(connection: Connection, table: Table) -> Iterator[Sequence[Row[Any]]]:
    """Read a table as a stream."""
    result = connection.execute(select(_stored(table)), execution_options={"yield_per": BATCH_ROWS})
    return result.partitions()


def _stored(table: Table) -> TableClause:
    """Return the table with the types that the database has: encrypted values are copied as they are."""
    return table_clause(
        table.name, *(column(copied.name, _stored_type(copied.type)) for copied in table.columns)
    )


def _stored_type(kind: TypeEngine[Any]) -> TypeEngine[Any]:
    if isinstance(kind, TypeDecorator) and not isinstance(kind, UtcDateTime):
        return kind.impl_instance
    return kind


def _continue_numbers(source: Connection, target: Session, table: Table) -> None:
    """Continue the ids that the database numbers after the largest one that there ever was.

    SQLite remembers it for tables whose rows are deleted, such as the pending entries of the audit log.
    """
    number = table.autoincrement_column
    if number is not None:
        sequence = func.pg_get_serial_sequence(table.name, number.name)
        largest = func.greatest(func.max(number), source.scalar(_LAST_NUMBER, {"name": table.name}))
        target.execute(select(func.setval(sequence, func.coalesce(largest, 1), largest.is_not(None))))


@dataclass(slots=True)
class _Checksum:
    """The number of rows, and the sum of their digests modulo 2**64."""

    rows: int = 0
    sum: int = 0

    def add(self, rows: Sequence[Row[Any]]) -> None:
        """Add rows."""
        self.rows += len(rows)
        for row in rows:
            line = json.dumps([_comparable(value) for value in row], sort_keys=True)
            digest = hashlib.blake2b(line.encode(), digest_size=_CHECKSUM_BYTES).digest()
            self.sum = (self.sum + int.from_bytes(digest)) % _CHECKSUMS


def _comparable(value: object) -> object:
    """Return a value that both databases return as the same JSON."""
    if isinstance(value, datetime):
        return value.timestamp()
    return value.hex() if isinstance(value, bytes | memoryview) else value
