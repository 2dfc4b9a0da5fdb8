"""Counts the plain values in encrypted columns, such as a process of an earlier release writes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ColumnElement, Text, and_, func, literal, or_, select, type_coerce
from sqlalchemy import cast as sql_cast

from app.engine.ledger.reveals import RevealedValue
from app.engine.uploads import upload_files
from app.engine.uploads.upload_tables import UploadFile
from app.infra.crypto.key_ring import INDEX_LENGTH
from app.infra.database.encrypted_columns import EMPTY, MARK, EncryptedJson, EncryptedText, encrypted_columns
from app.infra.database.session import Session


def count(session: Session) -> dict[str, int]:
    """Return the number of plain values by column, as `table.column`; only of columns that have any.

    It reads every row of the encrypted tables. Values not encrypted yet after an upgrade count, too.
    """
    conditions = {f"{column.table.name}.{column.name}": _is_plain(column) for column in encrypted_columns()}
    value = RevealedValue.__table__.c.value
    conditions["revealed_values.value"] = or_(func.length(value) != INDEX_LENGTH, value.contains("@"))
    conditions["upload_files.content"] = ~upload_files.begins_with(UploadFile.content, upload_files.MARK)
    counts = {
        name: session.scalar(select(func.count()).where(condition)) or 0
        for name, condition in conditions.items()
    }
    return {name: number for name, number in sorted(counts.items()) if number}


def _is_plain(column: Column[Any]) -> ColumnElement[bool]:
    type_ = column.type
    assert isinstance(type_, EncryptedText)  # noqa: S101 -- for mypy
    stored = type_coerce(sql_cast(column, Text), Text)
    if isinstance(type_, EncryptedJson):
        return and_(stored.not_in(EMPTY), stored.not_like(f'%"encrypted":%"{MARK}%'))
    is_text = or_(stored.not_like(f"{MARK}%"), stored.like("% %"))
    if not type_.index:
        return and_(stored != literal(""), is_text)
    index = column.table.c[type_.index]
    return or_(stored.is_(None), is_text, func.length(index) != INDEX_LENGTH)
