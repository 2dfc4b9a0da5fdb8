"""Row locks and change times of contacts, for the modules of e-mails and phones.

Those modules cannot import `contacts`, which imports them, so the table is declared partially here.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import String, column, select, table, update

from app.domain.errors import ContactNotFound
from app.domain.normal.names.names import PersonName
from app.engine.contacts.bulk import batched
from app.infra.database.db import UtcDateTime
from app.infra.database.session import Session

_CONTACTS = table(
    "contacts",
    column("id", String),
    column("first_name", String),
    column("last_name", String),
    column("full_name", String),
    column("updated_at", UtcDateTime),
)


def lock_contact(session: Session, contact_id: str) -> PersonName | None:
    """Lock the contact against concurrent changes of its e-mails and phones, and return its name.

    Inserting a row with a foreign key to the contact, such as a reveal, is not blocked.

    Raises:
        ContactNotFound: there is no such contact.

    """
    query = select(_CONTACTS).where(_CONTACTS.c.id == contact_id).with_for_update(key_share=True)
    row = session.execute(query).one_or_none()
    if row is None:
        raise ContactNotFound
    return PersonName(row.first_name or "", row.last_name or "", row.full_name) if row.full_name else None


def touch(session: Session, contact_ids: Collection[str], now: datetime) -> None:
    """Set the time of the last visible change of the contacts."""
    for part in batched(contact_ids):
        session.execute(update(_CONTACTS).where(_CONTACTS.c.id.in_(part)).values(updated_at=now))
