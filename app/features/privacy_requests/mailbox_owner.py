"""The owner of a mailbox: the contacts that may be shown to a person who has proved an address.

An address identifies a person only if it is not the address of a role (info@…), works, was named by a source
and not guessed from a pattern, and belongs to no two people with different names. Otherwise only the address
is shown and deleted, and the operator decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from sqlalchemy import select

from app.domain.errors import InvalidValue
from app.domain.findings import EmailStatus
from app.domain.normal.emails import email_reasons
from app.domain.normal.names.names import PersonName, parse_name
from app.domain.records.name_corrections import is_correction
from app.domain.records.shared_addresses import are_different_people
from app.engine.contacts import emails
from app.engine.contacts.contacts import Contact, parsed_name
from app.engine.contacts.emails import Email
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.privacy import erasure, rectification
from app.infra.database.session import Session


class Doubt(StrEnum):
    """Why an address does not identify a person."""

    ROLE = "role"
    SHARED = "shared"
    BOUNCED = "bounced"
    GUESSED = "guessed"


@dataclass(frozen=True, slots=True)
class MailboxOwner:
    """The contacts with an address, and why they must not be shown; without a doubt they are one person."""

    email: str
    contacts: Sequence[Contact]
    doubt: Doubt | None = None

    @property
    def identifier(self) -> Identifier:
        """Return the address as an identifier."""
        return Identifier("email", self.email)

    @property
    def visible(self) -> Sequence[Contact]:
        """Return the contacts that may be shown."""
        return () if self.doubt else self.contacts


def find(session: Session, email: str) -> MailboxOwner:
    """Return whom the address in normal form belongs to."""
    contacts = erasure.find_contacts(session, [Identifier("email", email)], ())
    return MailboxOwner(email, contacts, _doubt(session, email, contacts))


def is_name_of(contact: Contact, full_name: str) -> bool:
    """Return whether this is a correction of the name that a source or the operator gave the contact.

    A mailbox does not prove a name: under the name of a colleague, its reader would be found instead of them.
    A correction is compared with the name from before the person's own corrections, because several small
    ones could add up to another name.
    """
    source = rectification.source_name(contact)
    if not source:
        return False
    try:
        known = parsed_name(contact) if source == contact.full_name else parse_name(source)
        entered = parse_name(full_name)
    except InvalidValue:  # no letter, or too long
        return False
    return is_correction(known, PersonName(entered.first, entered.last, full_name))


def _doubt(session: Session, email: str, contacts: Sequence[Contact]) -> Doubt | None:
    if "role" in email_reasons(email):
        return Doubt.ROLE
    names = [parsed_name(contact) for contact in contacts if contact.full_name]
    if any(are_different_people(first, second) for first, second in combinations(names, 2)):
        return Doubt.SHARED
    stored = select(Email).where(Email.contact_id.in_([contact.id for contact in contacts]))
    rows = [row for row in session.scalars(stored) if row.email == email]
    if any(row.status == EmailStatus.INVALID or row.reported_at is not None for row in rows):
        return Doubt.BOUNCED  # the mailbox may have been given to someone else
    if any(emails.is_guess(row) for row in rows):
        return Doubt.GUESSED  # the mailbox may belong to another person with a similar name
    return None
