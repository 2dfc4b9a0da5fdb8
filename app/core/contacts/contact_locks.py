"""Contacts as their e-mails and phones see them: a name, and when something about them last changed.

Contacts know their e-mails and phones, not the other way round; this is the little that these need to know.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import String, column, select, table, update
from sqlalchemy.orm import Session

from app.core.contacts.bulk import batched
from app.domain.errors import ContactNotFound
from app.domain.normal.names import PersonName
from app.infra.db import UtcDateTime

_CONTACTS = table(
    "contacts",
    column("id", String),
    column("first_name", String),
    column("last_name", String),
    column("full_name", String),
    column("updated_at", UtcDateTime),
)


def lock_contact(session: Session, contact_id: str) -> PersonName | None:
    """Give the contact's name and let nobody else write its e-mails and phones meanwhile.

    Who only adds a row that names the contact, such as a reveal, need not wait.

    Raises:
        ContactNotFound: there is no such contact.

    """
    query = select(_CONTACTS).where(_CONTACTS.c.id == contact_id).with_for_update(key_share=True)
    row = session.execute(query).one_or_none()
    if row is None:
        raise ContactNotFound
    return PersonName(row.first_name or "", row.last_name or "", row.full_name) if row.full_name else None


def touch(session: Session, contact_ids: Collection[str], now: datetime) -> None:
    """Say that something visible about the contacts changed."""
    for part in batched(contact_ids):
        session.execute(update(_CONTACTS).where(_CONTACTS.c.id.in_(part)).values(updated_at=now))
