"""The index of a workspace's CRM: its people, with their values encrypted, and the keys that lead to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, ForeignKey, LargeBinary, String, UniqueConstraint, delete, func, select
from sqlalchemy.orm import Mapped, mapped_column

from app.engine.accounts.workspaces import foreign_key
from app.engine.contacts.bulk import new_ids
from app.engine.own_records import record_keys
from app.engine.own_records.record_suppressions import without_suppressed
from app.features.crm.connections import CrmConnection
from app.features.crm.index.crm_people import CrmPerson, RecordKind
from app.infra.database.bulk_statements import insert_all, is_among
from app.infra.database.db import Base
from app.infra.database.encrypted_columns import EncryptedJson, encrypted
from app.infra.database.session import Session

_COLUMNS = frozenset({"crm_id", "kind", "changed_at"})
BATCH = 50_000
"""The records that are deleted in one transaction: about a second."""


class CrmIndexRecord(Base):
    """A person in a CRM; `changed_at` is by the CRM's clock, `read_at` when the record was last read."""

    __tablename__ = "crm_index"
    __table_args__ = (UniqueConstraint("connection_id", "kind", "crm_id"),)

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    connection_id: Mapped[str] = mapped_column(ForeignKey("crm_connections.id", ondelete="CASCADE"))
    kind: Mapped[str]
    crm_id: Mapped[str]
    workspace_id: Mapped[str] = mapped_column(foreign_key(), index=True)
    changed_at: Mapped[datetime | None]
    read_at: Mapped[datetime]
    person: Mapped[dict[str, Any]] = mapped_column(EncryptedJson("crm_index.person"))


class CrmIndexKey(Base):
    """A digest by which a record is found, and what it is of."""

    __tablename__ = "crm_index_keys"

    workspace_id: Mapped[str] = mapped_column(foreign_key(), primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    record_id: Mapped[str] = mapped_column(
        ForeignKey("crm_index.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    matched_on: Mapped[str]


def person_of(kind: str, crm_id: str, changed_at: datetime | None, values: Mapping[str, Any]) -> CrmPerson:
    """Return the person of a stored record; `values` is its column `person`."""
    return CrmPerson(crm_id=crm_id, kind=RecordKind(kind), changed_at=changed_at, **values)


def without_unchanged(session: Session, connection_id: str, people: Sequence[CrmPerson]) -> list[CrmPerson]:
    """Return the people who are not stored as they were changed last."""
    columns = CrmIndexRecord.__table__.c
    query = select(columns.kind, columns.crm_id, columns.changed_at).where(
        columns.connection_id == connection_id,
        is_among(session, columns.crm_id, [person.crm_id for person in people]),
    )
    stored = {(row.kind, row.crm_id): row.changed_at for row in session.execute(query)}
    return [
        person
        for person in people
        if person.changed_at is None or stored.get((person.kind, person.crm_id)) != person.changed_at
    ]


def store(session: Session, connection: CrmConnection, people: Sequence[CrmPerson], *, now: datetime) -> int:
    """Store the people of a CRM who are not suppressed, in place of what was stored of their records.

    Return how many more records are stored than before.
    """
    latest = list({(person.kind, person.crm_id): person for person in people}.values())
    forgotten = sum(
        forget(session, connection.id, kind, [person.crm_id for person in latest if person.kind is kind])
        for kind in {person.kind for person in latest}
    )
    allowed = without_suppressed(session, latest, lambda person: person)
    ids = new_ids("crr", len(allowed))
    rows, keys = [], []
    for person in allowed:
        record_id, workspace_id = next(ids), connection.workspace_id
        rows.append(
            {
                "id": record_id,
                "connection_id": connection.id,
                "kind": person.kind.value,
                "crm_id": person.crm_id,
                "workspace_id": workspace_id,
                "changed_at": person.changed_at,
                "read_at": now,
                "person": encrypted(
                    session, CrmIndexRecord.person, record_id, person.stored_values(without=_COLUMNS)
                ),
            }
        )
        keys += record_keys.rows(session.keys, workspace_id, record_id, person)
    insert_all(session, CrmIndexRecord, rows)
    insert_all(session, CrmIndexKey, keys)
    return len(rows) - forgotten


def forget(session: Session, connection_id: str, kind: str, crm_ids: Sequence[str]) -> int:
    """Delete what is stored of these records and their keys; return how many records that were."""
    columns = CrmIndexRecord.__table__.c
    is_one = (columns.connection_id == connection_id, columns.kind == kind)
    forgotten = delete(CrmIndexRecord).where(*is_one, is_among(session, columns.crm_id, list(crm_ids)))
    return len(session.execute(forgotten.returning(CrmIndexRecord.id)).all())


def forget_some(session: Session, connection_id: str) -> int:
    """Delete up to `BATCH` records of a CRM; return how many, 0 once there are none."""
    return _delete_some(session, CrmIndexRecord.connection_id == connection_id)


def forget_unread(session: Session, connection_id: str, *, before: datetime) -> int:
    """Delete up to `BATCH` records that were not read since, which the CRM no longer has; return how many."""
    is_unread = CrmIndexRecord.read_at < before
    return _delete_some(session, CrmIndexRecord.connection_id == connection_id, is_unread)


def _delete_some(session: Session, *conditions: ColumnElement[bool]) -> int:
    some = select(CrmIndexRecord.id).where(*conditions).limit(BATCH)
    deleted = session.execute(
        delete(CrmIndexRecord).where(CrmIndexRecord.id.in_(some)).returning(CrmIndexRecord.id)
    )
    return len(deleted.all())


def size(session: Session, connection_id: str) -> int:
    """Return how many records of a CRM are indexed."""
    query = select(func.count()).where(CrmIndexRecord.connection_id == connection_id)
    return session.scalars(query).one()
