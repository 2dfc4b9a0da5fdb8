"""Inserts or merges e-mails and phones of contacts, which share one implementation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, cast

from sqlalchemy import select, text

from app.domain.ids import Prefix
from app.domain.records.merging import Change
from app.engine.contacts import rejected_values
from app.engine.contacts.bulk import batched, new_ids, rows_in, update_all
from app.engine.ledger import reveals
from app.infra.database.bulk_statements import insert_all
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedText
from app.infra.database.session import Session

RETAINED_SINCE = text("(CASE WHEN verified_at > first_seen_at THEN verified_at ELSE first_seen_at END)")
"""When the retention of a value starts: when it was collected or verified, whichever was later."""


class ContactPoint(Protocol):
    """An e-mail or phone found for a contact."""

    @property
    def contact_id(self) -> str:
        """The contact's id."""

    @property
    def value(self) -> str:
        """The normalised value, unique per contact."""


Item = TypeVar("Item", bound=ContactPoint)


@dataclass(frozen=True, slots=True)
class ContactPointSpec(Generic[Item]):
    """The table of one kind of contact point, and how its rows are made and merged.

    `field` is the contact's field, `value` the column, `encrypted` are the encrypted columns. `make` builds a
    row, `merge` changes one, and `written` are the columns that a merge may change.
    """

    table: type[Base]
    field: str
    value: str
    prefix: Prefix
    make: Callable[[Item], dict[str, Any]]
    merge: Callable[[dict[str, Any], Item], Change]
    written: tuple[str, ...]
    encrypted: tuple[str, ...]


def upsert_many(
    session: Session, spec: ContactPointSpec[Item], items: Sequence[Item], fresh: Collection[str]
) -> list[Change]:
    """Insert or merge many; `fresh` are contacts just inserted. The caller has locked the contacts."""
    pairs = {(item.contact_id, item.value) for item in items if item.contact_id not in fresh}
    removed = rejected_values.rejected(session, pairs)
    stored = _stored_rows(session, spec, {item.contact_id for item in items if item.contact_id not in fresh})
    ids = new_ids(spec.prefix, len(items))
    new: dict[str, dict[str, Any]] = {}
    changed: dict[str, dict[str, Any]] = {}
    changes = []
    for item in items:
        if (item.contact_id, item.value) in removed:
            changes.append(Change.NONE)
            continue
        row = stored.get((item.contact_id, item.value))
        if row is None:
            row_id = next(ids)
            row = new[row_id] = stored[item.contact_id, item.value] = spec.make(item)
            row["id"] = row_id
            changes.append(Change.CHANGED)
            continue
        changes.append(spec.merge(row, item))
        if changes[-1] is not Change.NONE and row["id"] not in new:
            changed[row["id"]] = row
    insert_all(session, spec.table, _encrypted(session, spec, new.values()))
    if added := [row["id"] for row in new.values() if row["contact_id"] not in fresh]:
        for part in batched(added):
            reveals.add_to_owners(session, spec.field, part)
    update_all(session, spec.table, list(changed.values()), spec.written)
    return changes


def _stored_rows(
    session: Session, spec: ContactPointSpec[Item], contact_ids: Collection[str]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the stored rows of the contacts by contact id and value."""
    table = spec.table.__table__
    found = rows_in(session, select(table), table.c.contact_id, contact_ids)
    rows = (dict(zip(table.c.keys(), row, strict=True)) for row in found)
    return {(row["contact_id"], row[spec.value]): row for row in rows}


def _encrypted(
    session: Session, spec: ContactPointSpec[Any], rows: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows as they are stored: with the index of the value, and encrypted."""
    ring, rows = session.keys.ring, list(rows)
    columns = {
        name: cast("EncryptedText", spec.table.__table__.c[name].type).encrypted_all(
            ring, [(row["id"], row[name]) for row in rows]
        )
        for name in spec.encrypted
    }
    columns[f"{spec.value}_index"] = [ring.index(spec.field, row[spec.value]) for row in rows]
    return [
        row | dict(zip(columns, values, strict=True))
        for row, values in zip(rows, zip(*columns.values(), strict=True), strict=True)
    ]
