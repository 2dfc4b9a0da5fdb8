"""Encrypts stored values again under the current key, and values of earlier releases for the first time.

A table is read in batches in the order of its primary key, each batch in a transaction of its own, which also
stores the position. An interrupted run continues there. After a pass that changed anything, another one looks
for what was locked or written with the earlier key meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Row,
    Select,
    Table,
    Text,
    Update,
    bindparam,
    delete,
    select,
    tuple_,
    type_coerce,
    update,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.core.accounts import totp
from app.core.contacts.bulk import batched
from app.core.crm import connections
from app.core.ledger import reveals
from app.core.uploads import upload_files
from app.core.uploads.upload_tables import UploadFile
from app.infra.db import Base, insert
from app.infra.encrypted_columns import (
    EMPTY,
    EncryptedText,
    encrypted_columns,
    key_id_of,
    key_ring,
    row_name,
)

BATCH = 500
SECRETS = "secrets"
"""The name of the secrets of accounts and CRM connections, of which there are few."""
FILES = UploadFile.__tablename__


class EncryptionProgress(Base):
    """How far a table is encrypted under a key.

    `position` is the primary key of the last row of this pass that was read, `pending` counts the rows of the
    pass that were not yet under the key, `rows` those of all passes.
    """

    __tablename__ = "encryption_progress"

    name: Mapped[str] = mapped_column(primary_key=True)
    key_id: Mapped[int]
    position: Mapped[list[Any]]
    pending: Mapped[int] = mapped_column(BigInteger)
    rows: Mapped[int] = mapped_column(BigInteger)
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


@dataclass(frozen=True, slots=True)
class Change:
    """A row to encrypt: its primary key, the stored and the new values, and the new index by the old one."""

    key: tuple[Any, ...]
    stored: dict[str, str | None]
    values: dict[str, Any]
    indexes: dict[str, str]


def names() -> list[str]:
    """Return the names of what is encrypted: the tables, and the secrets of accounts and CRM connections."""
    return [*(table.name for table in _tables()), FILES, SECRETS]


def progress(session: Session) -> list[EncryptionProgress]:
    """Return the progress of the tables whose encryption has begun."""
    return list(session.scalars(select(EncryptionProgress).order_by(EncryptionProgress.name)))


def restart(session: Session, *, now: datetime) -> None:
    """Begin anew with everything that was finished, in case a process wrote with an earlier key since."""
    for name in names():
        row = _locked(session, name, now)
        if row.finished_at is not None:
            row.position, row.pending, row.rows = [], 0, 0
            row.started_at, row.finished_at = now, None
    session.flush()


def encrypt_next(session: Session, name: str, *, now: datetime) -> bool:
    """Encrypt the next batch of a table under the current key; return whether the table is finished.

    Raises:
        Undecryptable: a value cannot be read, because its key is not set.

    """
    row = _locked(session, name, now)
    if row.finished_at is None:
        if name == SECRETS:
            row.rows = totp.encrypt_again(session) + connections.encrypt_again(session)
            row.finished_at = now
        elif name == FILES:
            row.rows += upload_files.encrypt_next(session)
            row.finished_at = None if upload_files.is_any_outdated(session) else now
        else:
            _encrypt_batch(session, Base.metadata.tables[name], row, now)
        session.flush()
    return row.finished_at is not None


def _encrypt_batch(session: Session, table: Table, row: EncryptionProgress, now: datetime) -> None:
    found = _after(session, table, row.position)
    changes = list(_changes(session, table, found))
    field = _field(table)
    if field is not None and changes:
        indexes = {before: after for change in changes for before, after in change.indexes.items()}
        changes += _changes(session, table, _twins(session, table, indexes, found))
    free = _free(session, table, changes)
    if field is not None and free:
        indexes = {before: after for change in free for before, after in change.indexes.items()}
        reveals.replace_indexes(session, field, indexes)
        free = _without_duplicates(session, table, free)
    _write(session, table, free)
    row.pending += len(changes)
    row.rows += len(changes)
    if found:
        row.position = list(found[-1][: len(table.primary_key)])
        return
    if field is not None:
        reveals.replace_plain_values(session, field)
    row.finished_at = None if row.pending else now
    row.position, row.pending = [], 0


def _locked(session: Session, name: str, now: datetime) -> EncryptionProgress:
    """Return the progress of a table under the current key, locked until the transaction ends."""
    start: dict[str, Any] = {"key_id": key_ring(session).current_id, "position": [], "pending": 0, "rows": 0}
    start["started_at"] = now
    session.execute(insert(session, EncryptionProgress).values(name=name, **start).on_conflict_do_nothing())
    query = select(EncryptionProgress).where(EncryptionProgress.name == name).with_for_update()
    row = session.scalars(query, execution_options={"populate_existing": True}).one()
    if row.key_id != start["key_id"]:
        for column, value in (start | {"finished_at": None}).items():
            setattr(row, column, value)
    return row


def _selected(table: Table) -> Select[*tuple[Any, ...]]:
    """Select the primary keys, the texts of the encrypted columns as they are stored, and their indexes."""
    stored = [_text(column).label(f"stored_{column.key}") for column in _columns(table)]
    indexes = [table.c[type_.index] for type_ in map(_type, _columns(table)) if type_.index]
    return select(*table.primary_key, *stored, *indexes).order_by(*table.primary_key)


def _after(session: Session, table: Table, position: Sequence[Any]) -> Sequence[Row[*tuple[Any, ...]]]:
    query = _selected(table).limit(BATCH)
    if position:
        first, *others = table.primary_key
        is_after = tuple_(first, *others) > tuple_(*position) if others else first > position[0]
        query = query.where(is_after)
    return session.execute(query).all()


def _twins(
    session: Session, table: Table, indexes: Collection[str], found: Sequence[Row[*tuple[Any, ...]]]
) -> list[Row[*tuple[Any, ...]]]:
    """Return the other rows with the same values, so that equal values never have different indexes."""
    (index,) = [table.c[type_.index] for type_ in map(_type, _columns(table)) if type_.index]
    known = {row[0] for row in found}
    rows = (session.execute(_selected(table).where(index.in_(part))) for part in batched(indexes))
    return [row for part in rows for row in part if row[0] not in known]


def _changes(session: Session, table: Table, rows: Iterable[Row[*tuple[Any, ...]]]) -> Iterator[Change]:
    """Yield the rows that are not encrypted under the current key."""
    ring, columns, width = key_ring(session), _columns(table), len(table.primary_key)
    for row in rows:
        change = Change(tuple(row[:width]), {}, {}, {})
        for column, stored in zip(columns, row[width:], strict=False):
            type_, name = _type(column), row_name(*change.key)
            index = row[-1] if type_.index else None
            text = index if stored is None else stored
            if text is None or text in EMPTY or _is_under(ring.current_id, type_, text):
                continue
            plain = type_.decrypted(ring, name, text)
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


def _without_duplicates(session: Session, table: Table, changes: Sequence[Change]) -> list[Change]:
    """Delete the rows whose contact has the same value under the new index, and return the other changes.

    A process of the previous release inserts such a row if it still runs after the upgrade, because it does
    not find the encrypted value.
    """
    (name,) = [type_.index for type_ in map(_type, _columns(table)) if type_.index]
    query, indexes = select(table.c.id, table.c.contact_id, table.c[name]), _new_indexes(changes)
    known = (session.execute(query.where(table.c.id.in_(part))) for part in batched(indexes))
    contacts = {row.id: row.contact_id for part in known for row in part}
    stored = (
        session.execute(query.where(table.c[name].in_(part))) for part in batched(set(indexes.values()))
    )
    owners = {(row[1], row[2]): row.id for part in stored for row in part}
    duplicates = {
        key for key, index in indexes.items() if owners.setdefault((contacts[key], index), key) != key
    }
    for part in batched(duplicates):
        session.execute(delete(table).where(table.c.id.in_(part)))
    return [change for change in changes if change.key[0] not in duplicates]


def _new_indexes(changes: Sequence[Change]) -> dict[str, str]:
    """Return the new index by the id of its row."""
    return {change.key[0]: index for change in changes for index in change.indexes.values()}


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
    is_same = [
        _text(table.c[name]).is_not_distinct_from(bindparam(f"old_{name}", type_=Text())) for name in compared
    ]
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


def _tables() -> list[Table]:
    return list(dict.fromkeys(column.table for column in encrypted_columns()))


def _columns(table: Table) -> list[Column[Any]]:
    return [column for column in table.c if isinstance(column.type, EncryptedText)]


def _field(table: Table) -> str | None:
    """Return the kind of the table's values that have a blind index, or None."""
    return next((type_.field for type_ in map(_type, _columns(table)) if type_.index), None)


def _type(column: Column[Any]) -> EncryptedText:
    return cast("EncryptedText", column.type)


def _text(column: Column[Any]) -> ColumnElement[str]:
    """Return the column as the text that is stored."""
    return type_coerce(sql_cast(column, Text), Text)


def _is_under(key_id: int, type_: EncryptedText, stored: str) -> bool:
    """Return whether a stored text is encrypted under this key; a plain one may contain the same letters."""
    ciphertext = type_.ciphertext(stored)
    return ciphertext is not None and key_id_of(ciphertext) == key_id
