"""Rows of tables with encrypted columns: those that are not under the current key are encrypted again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import (
    Column,
    ColumnElement,
    Row,
    Select,
    Table,
    Text,
    Update,
    bindparam,
    select,
    tuple_,
    type_coerce,
    update,
)
from sqlalchemy import cast as sql_cast

from app.engine.contacts.bulk import batched
from app.engine.ledger import reveals
from app.infra.database.encrypted_columns import (
    EMPTY,
    EncryptedText,
    encrypted_columns,
    key_id_of,
    row_name,
)
from app.infra.database.session import Session

BATCH = 500


@dataclass(frozen=True, slots=True)
class Change:
    """A row to encrypt: its primary key, the stored and the new values, and the new index by the old one."""

    key: tuple[Any, ...]
    stored: dict[str, str]
    values: dict[str, Any]
    indexes: dict[str, str]


def tables() -> list[Table]:
    """Return the tables with encrypted columns."""
    return list(dict.fromkeys(column.table for column in encrypted_columns()))


def indexed_field(table: Table) -> str | None:
    """Return the kind of the table's values that have a blind index, or None."""
    return next((type_.field for type_ in map(_type, _columns(table)) if type_.index), None)


def read_after(session: Session, table: Table, position: Sequence[Any]) -> Sequence[Row[*tuple[Any, ...]]]:
    """Return the next rows behind a primary key, BATCH at most; an empty position is before the first."""
    query = _selected(table).limit(BATCH)
    if position:
        first, *others = table.primary_key
        is_after = tuple_(first, *others) > tuple_(*position) if others else first > position[0]
        query = query.where(is_after)
    return session.execute(query).all()


def encrypt(session: Session, table: Table, rows: Sequence[Row[*tuple[Any, ...]]]) -> int:
    """Encrypt the rows of `read_after`, and all rows with the same values; return how many had another key.

    Rows that another transaction has locked are left for the next pass.
    """
    changes = list(_changes(session, table, rows))
    field = indexed_field(table)
    if field is not None and changes:
        changes += _changes(session, table, _rows_sharing_values(session, table, _indexes(changes), rows))
    free = _free(session, table, changes)
    if field is not None and free:
        reveals.replace_indexes(session, field, _indexes(free))
    _write(session, table, free)
    return len(changes)


def _indexes(changes: Iterable[Change]) -> dict[str, str]:
    """Return the new index by the old one."""
    return {before: after for change in changes for before, after in change.indexes.items()}


def _selected(table: Table) -> Select[*tuple[Any, ...]]:
    """Select the primary keys, the texts of the encrypted columns as they are stored, and their indexes."""
    stored = [_text(column).label(f"stored_{column.key}") for column in _columns(table)]
    indexes = [table.c[type_.index] for type_ in map(_type, _columns(table)) if type_.index]
    return select(*table.primary_key, *stored, *indexes).order_by(*table.primary_key)


def _rows_sharing_values(
    session: Session, table: Table, indexes: Collection[str], found: Sequence[Row[*tuple[Any, ...]]]
) -> list[Row[*tuple[Any, ...]]]:
    """Return the other rows with the same values, so that equal values never have different indexes."""
    (index,) = [table.c[type_.index] for type_ in map(_type, _columns(table)) if type_.index]
    known = {row[0] for row in found}
    rows = (session.execute(_selected(table).where(index.in_(part))) for part in batched(indexes))
    return [row for part in rows for row in part if row[0] not in known]


def _changes(session: Session, table: Table, rows: Iterable[Row[*tuple[Any, ...]]]) -> Iterator[Change]:
    """Yield the rows that are not encrypted under the current key."""
    ring, columns, width = session.keys.ring, _columns(table), len(table.primary_key)
    for row in rows:
        change = Change(tuple(row[:width]), {}, {}, {})
        for column, stored in zip(columns, row[width:], strict=False):
            type_, name = _type(column), row_name(*change.key)
            index = row[-1] if type_.index else None
            if stored is None or stored in EMPTY or key_id_of(type_.ciphertext(stored)) == ring.current_id:
                continue
            plain = type_.decrypted(ring, name, stored)
            change.stored[column.key] = stored
            change.values[column.key] = type_.encrypted(ring, name, plain)
            if index is not None:
                change.indexes[index] = change.values[type_.index] = ring.index(type_.field, plain)
        if change.values:
            yield change


def _free(session: Session, table: Table, changes: Sequence[Change]) -> list[Change]:
    """Lock the rows and return their changes, without those that share a value with a row locked elsewhere.

    Otherwise that row would have an index under which no workspace owns its value.
    """
    keys = _lockable(session, table, [change.key for change in changes])
    held = {index for change in changes if change.key not in keys for index in change.indexes.values()}
    return [change for change in changes if change.key in keys and held.isdisjoint(change.indexes.values())]


def _write(session: Session, table: Table, changes: Sequence[Change]) -> None:
    """Store the new values in the locked rows that are as they were read."""
    groups: dict[tuple[str, ...], list[Change]] = {}
    for change in changes:
        groups.setdefault(tuple(change.values), []).append(change)
    for columns, group in groups.items():
        session.execute(
            _update(table, columns, tuple(group[0].stored)), [_parameters(change) for change in group]
        )


def _update(table: Table, columns: Sequence[str], compared: Sequence[str]) -> Update:
    """Return the statement that stores these columns of a row if the compared ones are as they were read."""
    is_row = [column == bindparam(f"key_{place}") for place, column in enumerate(table.primary_key)]
    is_same = [_text(table.c[name]) == bindparam(f"old_{name}", type_=Text()) for name in compared]
    values = {name: bindparam(f"new_{name}", type_=table.c[name].type) for name in columns}
    return update(table).where(*is_row, *is_same).values(values)


def _parameters(change: Change) -> dict[str, Any]:
    keys = {f"key_{place}": value for place, value in enumerate(change.key)}
    old = {f"old_{name}": text for name, text in change.stored.items()}
    return keys | old | {f"new_{name}": value for name, value in change.values.items()}


def _lockable(session: Session, table: Table, keys: Sequence[tuple[Any, ...]]) -> frozenset[tuple[Any, ...]]:
    """Lock the rows, except those that another transaction has locked, and return their keys."""
    query = select(*table.primary_key).order_by(*table.primary_key).with_for_update(skip_locked=True)
    parts = (session.execute(query.where(_has_key(table, part))) for part in batched(keys))
    return frozenset(tuple(row) for part in parts for row in part)


def _has_key(table: Table, keys: Sequence[tuple[Any, ...]]) -> ColumnElement[bool]:
    first, *others = table.primary_key
    return tuple_(first, *others).in_(keys) if others else first.in_([key for (key,) in keys])


def _columns(table: Table) -> list[Column[Any]]:
    return [column for column in table.c if isinstance(column.type, EncryptedText)]


def _type(column: Column[Any]) -> EncryptedText:
    return cast("EncryptedText", column.type)


def _text(column: Column[Any]) -> ColumnElement[str]:
    """Return the column as the text that is stored."""
    return type_coerce(sql_cast(column, Text), Text)
