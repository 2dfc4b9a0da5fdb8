"""The rows of an uploaded list: stored once when the file is read, and read again in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, TypeVarTuple

from sqlalchemy import ColumnElement, Select, Text, cast, delete, func, select, update

from app.domain.lists import verified_rows
from app.domain.lists.files.csv_records import Row
from app.domain.lists.headers import upload_columns
from app.engine.work import turns
from app.engine.work.turns import Turn
from app.features.uploads import erasure, files
from app.features.uploads.erasure import RowMentions
from app.features.uploads.tables import Operation, Upload, UploadFile, UploadRow, UploadStatus
from app.infra.database.database_clock import Moment
from app.infra.database.db import insert
from app.infra.database.encrypted_columns import encrypted, row_name
from app.infra.database.session import Session

Selected = TypeVarTuple("Selected")

UNREADABLE = "unreadable"
MAX_CHARACTERS = 1 << 20
"""The length of the cells that are read or priced at once, so that it takes a part of the lease."""


def content(session: Session, upload_id: str) -> bytes | None:
    """Return the bytes of the uploaded file; None if its rows are stored already."""
    stored = session.scalar(select(UploadFile.content).where(UploadFile.upload_id == upload_id))
    return None if stored is None else files.decrypted(session, upload_id, stored)


@dataclass(frozen=True, slots=True)
class ReadTable:
    """How a file was read: its header, the proposed fields of its columns, and its format."""

    header: Sequence[str]
    columns: Sequence[str | None]
    delimiter: str
    format: dict[str, Any]
    operation: Operation = Operation.ENRICH

    @property
    def is_mapped(self) -> bool:
        """Return whether the proposed fields suffice for a price."""
        if self.operation is Operation.VERIFY:
            return verified_rows.problem_of(self.columns) is None
        return upload_columns.names_people(self.columns)


def operation(session: Session, upload_id: str) -> Operation:
    """Return what is done with the rows of the upload."""
    stored = session.scalar(select(Upload.operation).where(Upload.id == upload_id))
    return Operation(stored or Operation.ENRICH)


def content_options(session: Session, upload_id: str) -> dict[str, Any]:
    """Return the `TableOptions` of the file, as far as the member said them."""
    options = session.scalar(select(Upload.table_options).where(Upload.id == upload_id)) or {}
    return {name: option for name, option in options.items() if name != "country"}


def add(
    session: Session,
    turn: Turn,
    table: ReadTable,
    first: int,
    rows: Sequence[Row],
    *,
    mentions: Sequence[RowMentions] | None = None,
    now: Moment,
) -> None:
    """Insert rows with numbers from `first`.

    `mentions` is what `erasure.mentioned_in` returned, None if nobody was erased before.
    Rows that a lost worker inserted stay: the same file has the same rows. Rows of erased people are empty.
    The header is stored with the first rows, since an erasure needs it to know whom a row is about.
    """
    _store(session, turn, _mapping(session, turn, table.header, table.columns))
    turns.renew(session, turn, now=now)
    numbered = dict(enumerate(rows, first))
    kept = erasure.without_erased_people(
        session, {number: row.cells for number, row in numbered.items()}, table.columns, mentions
    )
    values = [
        _values(session, turn.id, number, row, kept.get(number, row.cells))
        for number, row in numbered.items()
    ]
    session.execute(insert(session, UploadRow).on_conflict_do_nothing(), values)


def finish_reading(session: Session, turn: Turn, table: ReadTable, row_count: int, *, now: Moment) -> None:
    """Store the header with the proposed mapping, and the size of the rows; delete the file.

    A list whose proposed columns suffice is priced at once, others wait for a mapping.
    """
    status = UploadStatus.PRICING if table.is_mapped else UploadStatus.MAPPING
    size = select(func.sum(_stored_length())).where(UploadRow.upload_id == turn.id)
    values = {
        **_mapping(session, turn, table.header, table.columns),
        "delimiter": table.delimiter,
        "table_format": table.format,
        "row_count": row_count,
        "size": size.scalar_subquery(),
        "status": status.value,
        "touched_at": now,
    }
    _store(session, turn, values)
    session.execute(delete(UploadFile).where(UploadFile.upload_id == turn.id))
    turns.end(session, turn, due_at=now if table.is_mapped else None)


def fail_reading(session: Session, turn: Turn, detail: str, *, reason: str = UNREADABLE) -> None:
    """Store why the file cannot be read, and delete what was stored of it; the caller ends the turn."""
    values = {"status": UploadStatus.FAILED.value, "reason": reason, "detail": detail, "size": 0}
    _store(session, turn, values | _mapping(session, turn, [], []))
    session.execute(delete(UploadFile).where(UploadFile.upload_id == turn.id))
    session.execute(delete(UploadRow).where(UploadRow.upload_id == turn.id))


def batch(session: Session, upload_id: str, *, first: int, limit: int) -> list[UploadRow]:
    """Return rows from this number on, fewer than the limit if their cells are long, but at least one."""
    return list(session.scalars(fitting(session, select(UploadRow), upload_id, first=first, limit=limit)))


def sample(session: Session, upload_id: str, *, limit: int) -> list[list[str]]:
    """Return the cells of the first readable rows, as many as the header has; erased rows are left out.

    They are fewer than the limit if they are long, as in `batch`.
    """
    readable = select(UploadRow.cells).where(UploadRow.fault.is_(None))
    rows = session.scalars(fitting(session, readable, upload_id, first=0, limit=limit))
    return [cells for cells in rows if cells]


def fitting(
    session: Session, query: Select[*Selected], upload_id: str, *, first: int, limit: int
) -> Select[*Selected]:
    """Return the query for rows of the upload from this number on, as many as may be read at once.

    These are at least one, if there is one. The others are neither sent by the database nor decrypted.
    """
    rows = query.where(UploadRow.upload_id == upload_id, UploadRow.number >= first)
    rows = rows.order_by(UploadRow.number).limit(limit)
    lengths = accumulate(session.scalars(rows.with_only_columns(_stored_length())))
    count = sum(1 for total in lengths if total <= MAX_CHARACTERS)
    return rows.limit(max(1, count))


def _stored_length() -> ColumnElement[int]:
    """Return the length of the cells of a row, as they are stored."""
    return func.length(cast(UploadRow.cells, Text))


def _mapping(
    session: Session, turn: Turn, header: Sequence[str], columns: Sequence[str | None]
) -> dict[str, Any]:
    stored = encrypted(session, Upload.header, turn.id, list(header))
    return {"header": stored, "columns": list(columns)}


def _values(session: Session, upload_id: str, number: int, row: Row, cells: Sequence[str]) -> dict[str, Any]:
    return {
        "upload_id": upload_id,
        "number": number,
        "line": row.line,
        "cells": encrypted(session, UploadRow.cells, row_name(upload_id, number), list(cells)),
        "subject": None,
        "person_digest": None,
        "cost": 0,
        "is_readable": row.fault is None,
        "fault": row.fault,
        "duplicate_of": None,
        "is_pending": False,
        "chunk": None,
        "item": None,
        "charged": 0,
        "tries": 0,
    }


def _store(session: Session, turn: Turn, values: dict[str, Any]) -> None:
    changed = update(Upload).where(Upload.id == turn.id).values(values)
    session.execute(changed.execution_options(synchronize_session=False))
