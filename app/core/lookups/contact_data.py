"""Holdings: what is stored of some contacts, what of it a workspace owns, and who must not be shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlalchemy import BindParameter, Row, and_, bindparam, select
from sqlalchemy.orm import Session

from app.core.contacts import bounce_reports, suppressions
from app.core.contacts.bounce_reports import IS_OPEN, Feedback
from app.core.contacts.contacts import Contact
from app.core.contacts.emails import Email
from app.core.contacts.phones import Phone
from app.core.contacts.suppressions import Identifier
from app.core.ledger import reveals
from app.core.ledger.reveals import Owned
from app.domain.records.subjects import Subject


@dataclass(frozen=True, slots=True)
class BouncedEmail:
    """An address as the workspace sees it that reported its bounce, as long as nobody confirmed that."""

    row: Row[Any]

    @property
    def status(self) -> str:
        """At best risky."""
        return bounce_reports.status_after_bounce(self.row.status)

    @property
    def status_reasons(self) -> list[str]:
        """Those of the address, and `bounced`."""
        return bounce_reports.reasons_with_bounce(self.row.status_reasons)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- any other column
        """Return what is stored of the address."""
        return getattr(self.row, name)


EmailRow: TypeAlias = Email | Row[Any] | BouncedEmail
PhoneRow: TypeAlias = Phone | Row[Any]

# Rows of the table, not objects, by statements put together once: a third of the time on a hot path.
_IDS: BindParameter[Any] = bindparam("ids", expanding=True)
_MY_BOUNCE = and_(Feedback.email_id == Email.id, Feedback.workspace_id == bindparam("workspace_id"), IS_OPEN)
_EMAILS = (
    select(Email.__table__, Feedback.id.label("bounce_id"))
    .outerjoin(Feedback, _MY_BOUNCE)
    .where(Email.__table__.c.contact_id.in_(_IDS))
)
_PHONES = select(Phone.__table__).where(Phone.__table__.c.contact_id.in_(_IDS))


@dataclass(frozen=True, slots=True)
class ContactData:
    """E-mails and phones by contact id, what of them the workspace owns, and values that are suppressed."""

    emails: Mapping[str, Sequence[EmailRow]] = field(default_factory=dict)
    phones: Mapping[str, Sequence[PhoneRow]] = field(default_factory=dict)
    owned: Owned = field(default_factory=Owned)
    suppressed: frozenset[Identifier] = frozenset()

    def owns(self, row: EmailRow | PhoneRow) -> bool:
        """Return whether the workspace owns the value, with its contact's field or under another contact."""
        field = "email" if hasattr(row, "email") else "phone"
        is_field_owned = (row.contact_id, field) in self.owned.fields
        return is_field_owned or (field, value_of(row)) in self.owned.values

    def is_suppressed(self, contact: Contact | None, subject: Subject | None = None) -> bool:
        """Tell whether anything that names the person, stored or said, is on the suppression list."""
        if not self.suppressed:
            return False
        said = () if subject is None else given_identifiers(subject)
        return not self.suppressed.isdisjoint([*self._stored(contact), *said])

    def _stored(self, contact: Contact | None) -> Iterable[Identifier]:
        return () if contact is None else stored_identifiers(contact, self.emails, self.phones)


def value_of(row: EmailRow | PhoneRow) -> str:
    """Return the address or number."""
    return str(row.email if hasattr(row, "email") else row.e164)


def load(
    session: Session,
    workspace_id: str,
    contacts: Collection[Contact],
    subjects: Iterable[Subject] = (),
) -> ContactData:
    """Gather what is stored of all these contacts, in four queries however many they are.

    `subjects` are the callers' words, looked for on the suppression list, too.
    """
    ids = sorted({contact.id for contact in contacts})
    emails, phones = _emails(session, workspace_id, ids), _phones(session, ids)
    identifiers = {one for contact in contacts for one in stored_identifiers(contact, emails, phones)}
    identifiers |= {one for subject in subjects for one in given_identifiers(subject)}
    return ContactData(
        emails,
        phones,
        owned=reveals.owned(session, workspace_id, ids),
        suppressed=suppressions.suppressed(session, identifiers),
    )


def stored_identifiers(
    contact: Contact, emails: Mapping[str, Sequence[EmailRow]], phones: Mapping[str, Sequence[PhoneRow]]
) -> list[Identifier]:
    """Give everything stored that names the contact."""
    found = [Identifier("email", row.email) for row in emails.get(contact.id, ())]
    found += [Identifier("phone", row.e164) for row in phones.get(contact.id, ())]
    if contact.linkedin_url:
        found.append(Identifier("linkedin_url", contact.linkedin_url))
    return found


def given_identifiers(subject: Subject) -> list[Identifier]:
    """Give everything by which the caller names the person."""
    said = (("linkedin_url", subject.linkedin_url), ("email", subject.email), ("phone", subject.phone))
    return [Identifier(kind, value) for kind, value in said if value]


def _emails(session: Session, workspace_id: str, ids: Sequence[str]) -> dict[str, list[EmailRow]]:
    found: dict[str, list[EmailRow]] = defaultdict(list)
    if ids:
        for row in session.execute(_EMAILS, {"ids": ids, "workspace_id": workspace_id}):
            found[row.contact_id].append(BouncedEmail(row) if row.bounce_id else row)
    return dict(found)


def _phones(session: Session, ids: Sequence[str]) -> dict[str, list[PhoneRow]]:
    found: dict[str, list[PhoneRow]] = defaultdict(list)
    if ids:
        for row in session.execute(_PHONES, {"ids": ids}):
            found[row.contact_id].append(row)
    return dict(found)
