"""The index by which PostgreSQL finds names by the beginnings of their words."""

from __future__ import annotations

_MAX_LETTERS = 500
"""A word of a text search vector has at most 2,046 bytes."""


def words_sql(table: str = "") -> str:
    """Return the SQL of the words of the column `name_key`, for the index and for queries of the table."""
    column = f"{table}.name_key" if table else "name_key"
    return f"array_to_tsvector(string_to_array(btrim(\"left\"(coalesce({column}, ''), {_MAX_LETTERS})), ' '))"
