"""Deletes e-mails and phones after their retention, and the contacts that are left without any.

The period of a value starts when it was collected or verified, whichever was later; it is not renewed when a
source reports the value again (GDPR, article 5(1)(e)). Values that a workspace paid for are deleted like all
others, but not while the reveal can be refunded. A value found again is stored again, and is free for the
workspaces that own it, as long as the contact is stored.

The contact remains if a workspace saved it, or if the person had values removed that must not return.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, case, delete, exists, false, func, select
from sqlalchemy.orm import InstrumentedAttribute

from app.engine.contacts import bulk, contact_locks
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.rejected_values import RejectedValue
from app.engine.contacts.saved.saved_profiles import SavedProfile
from app.engine.ledger import reveals
from app.engine.ledger.reveals import REFUND_WITHIN, Reveal
from app.infra.database import database_clock
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

BATCH = 100
_TABLES = (Email, Phone)


@dataclass(frozen=True, slots=True)
class Deleted:
    """The numbers of deleted e-mails, phones and contacts."""

    emails: int = 0
    phones: int = 0
    contacts: int = 0

    @property
    def is_any(self) -> bool:
        """Return whether anything was deleted."""
        return bool(self.emails or self.phones or self.contacts)


def delete_expired(session: Session, *, period: timedelta, now: Moment) -> Deleted:
    """Delete a batch of values whose period has ended, and their contacts that have no others.

    Contacts that other transactions lock are left to a later batch.
    """
    current = database_clock.value(session, now)
    before, recently = current - period, current - REFUND_WITHIN
    bulk.lock_resolution(session)
    expired = {contact_id for table in _TABLES for contact_id in _expired(session, table, before, recently)}
    ids = _locked(session, expired)
    if not ids:
        return Deleted()
    emails, phones = (_delete_values(session, table, ids, before, recently) for table in _TABLES)
    contacts = _delete_empty(session, ids, recently)
    contact_locks.touch(session, ids, current)
    return Deleted(emails, phones, contacts)


def _expired(
    session: Session, table: type[Email | Phone], before: datetime, recently: datetime
) -> Sequence[str]:
    """Return the contacts of the values whose period ended first."""
    since = _retained_since(table)
    query = select(table.contact_id).where(since < before, ~_is_refundable(table.contact_id, recently))
    return session.scalars(query.order_by(since).limit(BATCH)).all()


def _locked(session: Session, contact_ids: Collection[str]) -> Sequence[str]:
    """Lock the contacts, also against new reveals; return those that no other transaction locks."""
    query = select(Contact.id).where(Contact.id.in_(contact_ids)).order_by(Contact.id)
    return session.scalars(query.with_for_update(skip_locked=True)).all()


def _delete_values(
    session: Session,
    table: type[Email | Phone],
    contact_ids: Collection[str],
    before: datetime,
    recently: datetime,
) -> int:
    return _delete(
        session,
        table,
        table.contact_id.in_(contact_ids),
        _retained_since(table) < before,
        ~_is_refundable(table.contact_id, recently),
    )


def _delete_empty(session: Session, contact_ids: Collection[str], recently: datetime) -> int:
    """Delete the contacts that have no e-mails and phones, and no reason to be kept."""
    kept = (Email.contact_id, Phone.contact_id, SavedProfile.contact_id, RejectedValue.contact_id)
    empty = select(Contact.id).where(
        Contact.id.in_(contact_ids),
        *(~exists().where(column == Contact.id) for column in kept),
        ~_is_refundable(Contact.id, recently),
    )
    ids = session.scalars(empty).all()
    reveals.reassign_shared(session, ids)
    return _delete(session, Contact, Contact.id.in_(ids))


def _retained_since(table: type[Email | Phone]) -> ColumnElement[datetime]:
    """Return when the retention of a value starts, as the index `retained_since` has it."""
    return case((table.verified_at > table.first_seen_at, table.verified_at), else_=table.first_seen_at)


def _is_refundable(contact_id: InstrumentedAttribute[str], recently: datetime) -> ColumnElement[bool]:
    """Return the condition that a reveal of the contact may still be refunded.

    It is a scalar subquery, which PostgreSQL reads from the index of contacts: a NOT EXISTS would read
    all reveals.
    """
    latest = select(func.max(Reveal.created_at)).where(Reveal.contact_id == contact_id).scalar_subquery()
    return func.coalesce(latest >= recently, false())


def _delete(session: Session, table: type[Email | Phone | Contact], *conditions: ColumnElement[bool]) -> int:
    statement = delete(table).where(*conditions).returning(table.id)
    return len(session.scalars(statement.execution_options(synchronize_session=False)).all())
