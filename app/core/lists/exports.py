"""Exports contacts and companies as rows that the importer can read; suppressed contacts are omitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.core.contacts import emails, phones
from app.core.contacts.bulk import BATCH_SIZE
from app.core.contacts.companies import Company
from app.core.contacts.contacts import Contact
from app.core.contacts.emails import Email
from app.core.contacts.phones import Phone
from app.core.contacts.suppressions import Identifier, suppressed
from app.infra.clock import rfc3339

_PERSON = (
    "full_name", "first_name", "last_name", "title", "seniority", "department", "linkedin_url",
    "city", "country",
)  # fmt: skip
_COMPANY = ("name", "domain", "linkedin_url", "industry", "headcount", "city", "country")
_EMAIL = ("", "_type", "_status", "_confidence", "_verified_at", "_seen_at")
_PHONE = ("", "_type", "_status", "_do_not_call", "_verified_at", "_seen_at")


def contact_columns(session: Session) -> list[str]:
    """Return the columns of a contact export; e-mail and phone columns for the contact with the most."""
    columns = [*_PERSON, *(f"company_{name}" for name in _COMPANY), "updated_at"]
    for field, parts, table in (("email", _EMAIL, Email), ("phone", _PHONE, Phone)):
        counts = select(func.count().label("n")).select_from(table).group_by(table.contact_id).subquery()
        max_count = session.scalar(select(func.max(counts.c.n))) or 1
        columns += [f"{_numbered(field, index)}{part}" for index in range(max_count) for part in parts]
    return columns


def company_columns() -> list[str]:
    """Return the columns of a company export."""
    return [*(f"company_{name}" for name in _COMPANY), "updated_at"]


def contact_rows(session: Session) -> Iterator[dict[str, str]]:
    """Yield every contact that is not suppressed, oldest first."""
    last = ""
    query = select(Contact, Company).outerjoin(Company, Company.id == Contact.company_id).order_by(Contact.id)
    while batch := session.execute(query.where(Contact.id > last).limit(BATCH_SIZE)).all():
        yield from _visible(session, batch)
        last = batch[-1][0].id
        session.expunge_all()


def company_rows(session: Session) -> Iterator[dict[str, str]]:
    """Yield every company, oldest first."""
    last = ""
    query = select(Company).order_by(Company.id)
    while batch := session.scalars(query.where(Company.id > last).limit(BATCH_SIZE)).all():
        yield from (_company(company) | {"updated_at": _date(company.provenance)} for company in batch)
        last = batch[-1].id
        session.expunge_all()


def _visible(session: Session, batch: Sequence[Any]) -> Iterator[dict[str, str]]:
    ids = [contact.id for contact, _ in batch]
    known_emails, known_phones = emails.by_contact(session, ids), phones.by_contact(session, ids)
    values = {
        contact.id: [
            Identifier("linkedin_url", contact.linkedin_url or ""),
            *(Identifier("email", row.email) for row in known_emails.get(contact.id, [])),
            *(Identifier("phone", row.e164) for row in known_phones.get(contact.id, [])),
        ]
        for contact, _ in batch
    }
    suppressed_identifiers = suppressed(
        session, (value for identifiers in values.values() for value in identifiers)
    )
    for contact, company in batch:
        if suppressed_identifiers.isdisjoint(values[contact.id]):
            yield _row(contact, company, known_emails.get(contact.id, []), known_phones.get(contact.id, []))


def _row(
    contact: Contact, company: Company | None, own_emails: Sequence[Email], own_phones: Sequence[Phone]
) -> dict[str, str]:
    row = {name: _text(getattr(contact, name)) for name in _PERSON}
    row |= _company(company) if company else {}
    row["updated_at"] = _date(contact.provenance)
    for index, email in enumerate(own_emails):
        row |= _about(_numbered("email", index), email.email, email, _EMAIL[1:])
    for index, phone in enumerate(own_phones):
        text = f"{phone.e164};ext={phone.extension}" if phone.extension else phone.e164
        row |= _about(_numbered("phone", index), text, phone, _PHONE[1:])
    return row


def _company(company: Company) -> dict[str, str]:
    return {f"company_{name}": _text(getattr(company, name)) for name in _COMPANY}


def _about(field: str, text: str, value: Email | Phone, parts: Sequence[str]) -> dict[str, str]:
    attributes = {part: getattr(value, part.removeprefix("_"), None) for part in parts}
    attributes["_seen_at"] = value.last_seen_at
    return {field: text} | {f"{field}{part}": _text(attribute) for part, attribute in attributes.items()}


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return rfc3339(value) or ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _date(provenance: Mapping[str, Any]) -> str:
    return max((stamp["at"] for stamp in provenance.values()), default="")


def _numbered(field: str, index: int) -> str:
    return field if index == 0 else f"{field}_{index + 1}"
