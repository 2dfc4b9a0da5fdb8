"""What pushes wrote to a CRM: the id of each contact's record there, and digests of the values written.

A value of the CRM that has the digest was written by a push; another one was edited by a person. Only keyed
digests are stored, so that the row does not say what the values are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ForeignKey, Index, select
from sqlalchemy.orm import Mapped, mapped_column

from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.bulk_statements import is_among
from app.infra.database.db import Base, insert
from app.infra.database.session import Session

_PURPOSE = "crm_value"
_KEPT = 4
"""Digests per property: of the value sent and of the value as stored, of this push and the one before."""


class CrmWrittenRecord(Base):
    """The record of a contact in a CRM; `written_digests` has digests of values by property, newest first."""

    __tablename__ = "crm_records"
    __table_args__ = (Index("ix_crm_records_connection_id_crm_id", "connection_id", "crm_id"),)

    connection_id: Mapped[str] = mapped_column(
        ForeignKey("crm_connections.id", ondelete="CASCADE"), primary_key=True
    )
    contact_id: Mapped[str] = mapped_column(
        ForeignKey("contacts.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    crm_id: Mapped[str | None]
    written_digests: Mapped[dict[str, Any]]


class WrittenValues:
    """Recognizes the values that pushes wrote to one record."""

    def __init__(self, keys: DigestKeys, record: CrmWrittenRecord) -> None:
        self._keys = keys
        self._context = f"{record.connection_id}/{record.contact_id}"
        self._digests: Mapping[str, list[str]] = dict(record.written_digests)
        self.crm_id = record.crm_id

    def has(self, name: str, value: str) -> bool:
        """Return whether a push wrote this value to the property."""
        return self.digest(name, value) in self._digests.get(name, ())

    def is_stored_form(self, name: str, stored: str, value: str) -> bool:
        """Return whether the CRM stored the value so when the last push wrote it."""
        return self._digests.get(name, [])[:2] == [self.digest(name, stored), self.digest(name, value)]

    def digest(self, name: str, value: str) -> str:
        """Return the keyed digest of a property's value."""
        message = f"{self._context}\0{name}\0{value.strip()}"
        return self._keys.digest(_PURPOSE, message).hex()

    def with_values(self, values: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the digests, with the digests of more values."""
        digests = {name: list(known) for name, known in self._digests.items()}
        for name, value in values.items():
            known = [digest for digest in digests.get(name, ()) if digest != self.digest(name, value)]
            digests[name] = [self.digest(name, value), *known][:_KEPT]
        return digests


def lock(session: Session, connection_id: str, contact_id: str) -> CrmWrittenRecord:
    """Return the row of a contact in a CRM, inserted if there is none, locked until the transaction ends."""
    session.execute(
        insert(session, CrmWrittenRecord)
        .values(connection_id=connection_id, contact_id=contact_id, written_digests={})
        .on_conflict_do_nothing()
    )
    return session.get_one(
        CrmWrittenRecord, (connection_id, contact_id), with_for_update=True, populate_existing=True
    )


def contacts_of(session: Session, connection_id: str, crm_ids: Sequence[str]) -> dict[str, str]:
    """Return the contact that is pushed to each of these records, by the id of the record."""
    record = CrmWrittenRecord.__table__.c
    query = select(record.crm_id, record.contact_id).where(
        record.connection_id == connection_id, is_among(session, record.crm_id, crm_ids)
    )
    return {row.crm_id: row.contact_id for row in session.execute(query.order_by(record.contact_id.desc()))}


def written_to(session: Session, connection_id: str, contact_ids: Sequence[str], name: str) -> set[str]:
    """Return the contacts in whose records a push has written this property."""
    record = CrmWrittenRecord.__table__.c
    query = select(record.contact_id, record.written_digests).where(
        record.connection_id == connection_id, is_among(session, record.contact_id, contact_ids)
    )
    return {row.contact_id for row in session.execute(query) if name in row.written_digests}


def written_values(session: Session, record: CrmWrittenRecord) -> WrittenValues:
    """Return what recognizes the values that pushes wrote to the record."""
    return WrittenValues(session.keys, record)


def note(session: Session, record: CrmWrittenRecord, values: Mapping[str, str]) -> None:
    """Note the values as written by a push; done before the request, since its response may be lost."""
    record.written_digests = written_values(session, record).with_values(values)
    session.flush()
