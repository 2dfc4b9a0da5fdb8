"""Statements for many rows or values, which PostgreSQL executes with less processor time than the usual ones.

COPY takes half the time of INSERT, and one JSON parameter a fraction of the time of five hundred parameters.
SQLite gets the usual statements.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Executable,
    LargeBinary,
    bindparam,
    cast,
    func,
    literal,
    literal_column,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import JSON

from app.infra.database.db import Base, insert_into
from app.infra.database.session import Session
from app.infra.database.statements import translated

_FEW = 50
"""Up to this number of rows or values, the usual statements are as fast."""
_NULL = secrets.token_hex(8)
"""What stands for null in COPY: unlike the usual mark, it does not contain the character of escapes."""
_SPECIAL = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_ESCAPES = str.maketrans(_SPECIAL)
_HAS_SPECIAL = re.compile(f"[{re.escape(''.join(_SPECIAL))}]").search


def is_among(
    session: Session, column: ColumnElement[Any], values: Sequence[str] | Sequence[bytes]
) -> ColumnElement[bool]:
    """Return the condition that a column of texts or bytes has one of the values."""
    if not _is_worthwhile(session, values):
        return column.in_(values)
    texts = [value.hex() if isinstance(value, bytes) else value for value in values]
    elements: ColumnElement[Any] = func.json_array_elements_text(cast(texts, JSON))
    if isinstance(column.type, LargeBinary):
        elements = func.decode(elements, "hex")
    # An array is looked up in the index; a subquery may become a hash join that reads the whole table.
    return column == func.any(func.array(select(elements).scalar_subquery()))


def are_among(
    session: Session,
    columns: tuple[ColumnElement[Any], ColumnElement[Any]],
    pairs: Sequence[tuple[str, str]],
) -> ColumnElement[bool]:
    """Return the condition that two text columns have one of the pairs of values."""
    if not _is_worthwhile(session, pairs):
        return tuple_(*columns).in_(pairs)
    pair = func.json_array_elements(cast(pairs, JSON)).column_valued("pair")
    parts = select(pair.op("->>")(literal_column("0")), pair.op("->>")(literal_column("1")))
    return tuple_(*columns).in_(parts)


def insert_all(session: Session, table: type[Base], rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows that all have the same columns, bypassing the ORM."""
    if _is_worthwhile(session, rows):
        _copy(session, table, rows)
    elif rows:
        session.execute(table.__table__.insert(), rows)  # type: ignore[attr-defined]


def insert_missing(
    session: Session, table: type[Base], column: str, values: Sequence[bytes], shared: Mapping[str, Any]
) -> int:
    """Insert a row for each of the values of a column of bytes that is not stored yet; return how many.

    All rows have the `shared` values of the other columns, which may be SQL expressions.
    """
    dialect = session.get_bind().dialect.name
    statement = insert_into(dialect, table)
    if dialect == "sqlite":
        rows = statement.values({column: bindparam(column), **shared}).on_conflict_do_nothing()
        parameters: Any = [{column: value} for value in values]
        return _row_count(session, rows, parameters)
    texts = cast([value.hex() for value in values], JSON)  # only on PostgreSQL
    elements = func.decode(func.json_array_elements_text(texts), "hex")
    constants = [
        value if isinstance(value, ColumnElement) else literal(value, table.__table__.c[name].type)
        for name, value in shared.items()
    ]
    rows = statement.from_select([column, *shared], select(elements, *constants))
    return _row_count(session, rows.on_conflict_do_nothing(), None)


def _row_count(
    session: Session, statement: Executable, parameters: Sequence[Mapping[str, Any]] | None
) -> int:
    options = {"preserve_rowcount": True}
    result: Any = session.connection().execute(statement, parameters, execution_options=options)
    return int(result.rowcount)


def _is_worthwhile(session: Session, items: Sequence[Any]) -> bool:
    return len(items) > _FEW and session.get_bind().dialect.name == "postgresql"


def _copy(session: Session, table: type[Base], rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows with COPY in its text format (https://www.postgresql.org/docs/current/sql-copy.html)."""
    columns = table.__table__.c
    names = ", ".join(columns[key].name for key in rows[0])
    statement = f"COPY {table.__tablename__} ({names}) FROM STDIN (NULL '{_NULL}')"
    connection = session.connection()
    cursor: Any = connection.connection.cursor()
    try:
        with cursor, cursor.copy(statement) as target:
            target.write(_lines(rows))
    except connection.dialect.loaded_dbapi.Error as error:  # SQLAlchemy does not know COPY
        raise translated(connection, cursor, statement, error) from error


def _lines(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows as lines. Columns are formatted one by one, which costs less than value by value."""
    values = itemgetter(*rows[0])  # every row in the same order
    columns = map(_texts, zip(*map(values, rows), strict=True))
    return "\n".join(map("\t".join, zip(*columns, strict=True))) + "\n"


def _texts(column: Sequence[Any]) -> Sequence[str]:
    """Return the texts of a column; values that rows share are formatted once."""
    types = set(map(type, column))
    if types == {str}:
        return list(map(_escaped, column)) if _HAS_SPECIAL("".join(column)) else column
    if types == {bytes}:
        return list(map(_formatted, column))
    identities = list(map(id, column))
    texts = {
        identity: _formatted(value) for identity, value in dict(zip(identities, column, strict=True)).items()
    }
    return [texts[identity] for identity in identities]


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES) if _HAS_SPECIAL(text) else text  # translating takes ten times as long


def _formatted(value: object) -> str:
    """Return the text of a value: null, text, a time, bytes, a number, a truth value, or JSON."""
    if value is None:
        return _NULL
    if isinstance(value, str):
        return _escaped(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return f"\\\\x{value.hex()}"  # two backslashes: COPY reads the first as an escape
    return _escaped(json.dumps(value))
