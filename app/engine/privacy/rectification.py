"""Corrections by the person (GDPR, article 16): no import and no provider overwrites them.

A corrected field has the source `person`, which is above every other. A value that was removed is rejected
for the contact, so that it is not stored with it again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, ValidationFailed
from app.domain.event_types import EventType
from app.domain.findings import PERSON
from app.domain.normal.names.names import parse_name
from app.domain.normal.places.countries import country_code
from app.domain.records.merging import sortable
from app.engine.audit_log import entries as audit_log
from app.engine.contacts import emails, phones, rejected_values
from app.engine.contacts.bulk import lock_resolution
from app.engine.contacts.contacts import Contact
from app.engine.contacts.resolution.contact_resolution import keys_of
from app.engine.privacy import recipient_events
from app.infra.database.db import Base
from app.infra.database.session import Session

FIELDS = ("full_name", "title", "city", "country", "company")
"""The fields that can be corrected; a company can only be removed."""
MAX_LENGTH = 200
_STORED = {"company": ("company_id",), "full_name": ("full_name", "first_name", "last_name")}
_NAMES = ("full_name",)
_SOURCE_NAME = "source_name"
"""The key, in the stamp of a name that the person corrected, of the name of a source or the operator."""


@dataclass(frozen=True, slots=True)
class Correction:
    """New values by field of FIELDS, None to remove one, and the e-mails and phones that are wrong.

    `is_own` means that it is by the person, whose name nobody has checked, and not by the operator.
    """

    values: Mapping[str, str | None] = field(default_factory=dict)
    wrong_emails: Collection[str] = ()
    wrong_phones: Collection[str] = ()
    is_own: bool = False


def rectify(
    session: Session, contact_ids: Sequence[str], correction: Correction, *, now: datetime
) -> list[str]:
    """Correct the contacts of a person, and notify the workspaces that revealed them.

    Return the names of what was changed.

    Raises:
        ValidationFailed: a value is too long, has control characters, or the country is unknown.

    """
    values = _checked(correction.values)
    lock_resolution(session)
    query = select(Contact).where(Contact.id.in_(contact_ids)).order_by(Contact.id).with_for_update()
    changed: dict[str, None] = {}
    for contact in session.scalars(query, execution_options={"populate_existing": True}).all():
        source = source_name(contact)
        fields = [name for name, value in values.items() if _set(contact, name, value, now)]
        if correction.is_own and "full_name" in fields:
            _keep_source_name(contact, source)
        fields += _remove(session, contact.id, correction, now)
        if fields:
            contact.updated_at = now
            session.flush()
            audit_log.record_each(session, Action.PERSON_RECTIFY, [contact.id])
            recipient_events.notify(
                session, EventType.PERSON_RECTIFIED, [contact.id], now=now, fields=list(dict.fromkeys(fields))
            )
        changed |= dict.fromkeys(fields)
    return list(changed)


def source_name(contact: Contact) -> str | None:
    """Return the name of the contact before the person's own corrections."""
    stamp = contact.provenance.get("full_name") or {}
    return stamp.get(_SOURCE_NAME) or contact.full_name


def _keep_source_name(contact: Contact, name: str | None) -> None:
    """Store the name from before the person's own corrections with the source of the present one."""
    stamp = contact.provenance["full_name"] | {_SOURCE_NAME: name}
    contact.provenance = contact.provenance | {"full_name": stamp}


def _checked(values: Mapping[str, str | None]) -> dict[str, str | None]:
    checked: dict[str, str | None] = {}
    for name, value in values.items():
        text = " ".join((value or "").split())
        if len(text) > MAX_LENGTH or not text.isprintable():
            raise _invalid(name, f"Use at most {MAX_LENGTH} printable characters.")
        if name == "company" and text:
            raise _invalid(name, "A company can only be removed. Ask the operator to store another one.")
        if name == "country" and text:
            text = _country(text)
        if name in _NAMES and not text:
            raise _invalid(name, "A name cannot be removed. Erase the data instead.")
        checked[name] = text or None
    return checked


def _country(text: str) -> str:
    try:
        return country_code(text)
    except ValueError as error:
        raise _invalid("country", "Use the name or the two letters of a country, such as DE.") from error


def _set(contact: Contact, name: str, value: str | None, now: datetime) -> bool:
    """Set the field, and mark its unit as corrected; return whether the value is new."""
    stored = _STORED.get(name, (name,))
    if getattr(contact, stored[0]) == value:
        return False
    if name == "full_name" and value is not None:
        parsed = parse_name(value)
        contact.full_name, contact.first_name, contact.last_name = value, parsed.first, parsed.last
    else:
        setattr(contact, stored[0], value)
    keys = keys_of({key: getattr(contact, key) for key in ("full_name", "first_name", "last_name", "title")})
    for key, of_row in keys.items():
        setattr(contact, key, of_row)
    stamp = {"source": PERSON, "at": sortable(now)}
    contact.provenance = contact.provenance | dict.fromkeys(stored, stamp)
    return True


def _remove(session: Session, contact_id: str, correction: Correction, now: datetime) -> list[str]:
    """Delete the wrong values of the contact, and reject them; return the names of their fields."""
    stored_emails = emails.by_contact(session, [contact_id]).get(contact_id, ())
    stored_phones = phones.by_contact(session, [contact_id]).get(contact_id, ())
    wrong: list[tuple[Base, str, str]] = [
        *((row, row.email, "emails") for row in stored_emails if row.email in correction.wrong_emails),
        *((row, row.e164, "phones") for row in stored_phones if row.e164 in correction.wrong_phones),
    ]
    for row, value, _name in wrong:
        rejected_values.reject(session, contact_id, value, now=now)
        session.delete(row)
    return [name for _row, _value, name in wrong]


def _invalid(name: str, detail: str) -> ValidationFailed:
    return ValidationFailed(errors=(FieldError(f"/{name}", detail),))
