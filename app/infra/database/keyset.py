"""Keyset pagination of lists that are ordered by creation time and id, newest first."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, func, literal, select, tuple_

from app.domain.ids import time_of
from app.infra.database.db import UtcDateTime


def is_older(table: type[Any], row_id: str, *is_visible: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition for rows behind this one in the list.

    If it was deleted, or `is_visible` does not apply to it, its creation time is the time in its id, by the
    clock of a process.
    """
    stored = select(table.created_at).where(table.id == row_id, *is_visible).scalar_subquery()
    created_at = func.coalesce(stored, literal(time_of(row_id), UtcDateTime()))
    return tuple_(table.created_at, table.id) < tuple_(created_at, literal(row_id))
