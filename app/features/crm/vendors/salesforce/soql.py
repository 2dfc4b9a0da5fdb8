"""Queries in SOQL (Salesforce Object Query Language): conditions with quoted values, and SELECT.

Source: SOQL and SOSL Reference, "SOQL SELECT Syntax" and "Quoted String Escape Sequences".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

MAX_VALUES = 100


def quoted(value: str) -> str:
    """Return a value as a string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ").replace("\r", " ")
    return f"'{escaped}'"


def equals(column: str, values: Sequence[str]) -> str:
    """Return the condition that a column has one of the values; without regard to case, as SOQL compares."""
    if len(values) == 1:
        return f"{column} = {quoted(values[0])}"
    return f"{column} IN ({', '.join(map(quoted, values[:MAX_VALUES]))})"


def contains(column: str, part: str) -> str:
    """Return the condition that a text is in a column, without regard to case."""
    escaped = part.replace("_", "\\_").replace("%", "\\%")
    return f"{column} LIKE '%{quoted(escaped)[1:-1]}%'"


def moment(at: datetime) -> str:
    """Return a time as a literal, which has no quotes."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def any_of(conditions: Sequence[str]) -> str:
    """Return the condition that one of these holds."""
    return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"


def select(
    columns: Iterable[str], table: str, condition: str, *, limit: int = 1, order: str = "CreatedDate"
) -> str:
    """Return the query of the first rows, the oldest by default; names of columns are validated before."""
    listed = ", ".join(dict.fromkeys(["Id", *columns]))
    return f"SELECT {listed} FROM {table} WHERE {condition} ORDER BY {order} LIMIT {limit}"  # noqa: S608 -- SOQL
