"""Exports contacts and companies as rows that the importer can read.

Suppressed contacts are omitted, and so are values that a regional rule or a do-not-call register hides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Row, func, select

from app.domain.call_registers import do_not_call, is_hidden
from app.domain.findings import COMPANY_FIELDS, PERSON_FIELDS
from app.domain.records.profile_links import urls_of
from app.domain.regional_rules import RegionalRules
from app.engine.call_registers import listings
from app.engine.contacts import hidden_values, switchboards
from app.engine.contacts.bulk import BATCH_SIZE, batched
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.emails import Email
from app.engine.contacts.phones import Phone
from app.engine.contacts.stored_rows import StoredEmail, StoredPhone
from app.engine.contacts.suppressions.suppression_checks import any_suppressed
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.infra.clock import rfc3339
from app.infra.database.bulk_statements import is_among
from app.infra.database.session import Session
from app.infra.database.statements import columns_of

EMAIL_PARTS = ("", "_type", "_status", "_confidence", "_verified_at", "_seen_at")
PHONE_PARTS = ("", "_type", "_status", "_do_not_call", "_verified_at", "_seen_at")
"""The endings of the columns of a value and its attributes."""

OPERATOR = ""
"""In place of a workspace: no workspace's choice applies to what the operator exports."""
_PERSON_COLUMNS = (*PERSON_FIELDS, *(f"company_{name}" for name in COMPANY_FIELDS))
_EMPLOYER = [getattr(Company, name).label(f"company_{name}") for name in COMPANY_FIELDS]
_PEOPLE = (
    select(*(getattr(Contact, name) for name in PERSON_FIELDS), *_EMPLOYER, Contact.id, Contact.provenance)
    .outerjoin(Company, Company.id == Contact.company_id)
    .order_by(Contact.id)
)
_COMPANIES = select(*_EMPLOYER, Company.id, Company.provenance).order_by(Company.id)
_EMAIL_VALUES = ("email", "type", "status", "confidence", "verified_at", "last_seen_at")
_PHONE_VALUES = ("e164", "type", "status", "do_not_call", "verified_at", "last_seen_at")


class ExportedEmail(NamedTuple):
    """The columns of an e-mail that are exported."""

    contact_id: str
    email: str
    type: str
    status: str
    confidence: float | None
    verified_at: datetime | None
    last_seen_at: datetime


class ExportedPhone(NamedTuple):
    """The columns of a phone that are exported, and those that decide whether it is."""

    contact_id: str
    e164: str
    type: str
    status: str
    do_not_call: bool | None
    verified_at: datetime | None
    last_seen_at: datetime
    extension: str | None
    line_type: str
    country: str | None


Value = TypeVar("Value", ExportedEmail, ExportedPhone)


def contact_columns(session: Session) -> list[str]:
    """Return the columns of a contact export; e-mail and phone columns for the contact with the most."""
    columns = [*_PERSON_COLUMNS, "updated_at"]
    for field, parts, table in (("email", EMAIL_PARTS, Email), ("phone", PHONE_PARTS, Phone)):
        is_shown = hidden_values.is_shown(session.settings.regional_rules, table)
        counts = select(func.count().label("n")).select_from(table).where(is_shown)
        of_contacts = counts.group_by(table.contact_id).subquery()
        max_count = session.scalar(select(func.max(of_contacts.c.n))) or 1
        columns += [name for index in range(max_count) for name in numbered(field, parts, index)]
    return columns


def company_columns() -> list[str]:
    """Return the columns of a company export."""
    return [*(f"company_{name}" for name in COMPANY_FIELDS), "updated_at"]


def contact_rows(session: Session) -> Iterator[dict[str, str]]:
    """Yield every contact that is not suppressed, oldest first; columns without a value are left out."""
    last = ""
    while batch := session.execute(_PEOPLE.where(Contact.id > last).limit(BATCH_SIZE)).all():
        yield from _visible(session, batch)
        last = batch[-1].id


def company_rows(session: Session) -> Iterator[dict[str, str]]:
    """Yield every company, oldest first; columns without a value are left out."""
    last = ""
    while batch := session.execute(_COMPANIES.where(Company.id > last).limit(BATCH_SIZE)).all():
        for company in batch:
            yield texts(company_columns(), company) | {"updated_at": _date(company.provenance)}
        last = batch[-1].id


def _visible(session: Session, batch: Sequence[Row[*tuple[Any, ...]]]) -> Iterator[dict[str, str]]:
    ids = [contact.id for contact in batch]
    emails = _by_contact(session, Email, ExportedEmail, ids)
    phones = _by_contact(session, Phone, ExportedPhone, ids)
    people = [(contact, emails.get(contact.id, []), phones.get(contact.id, [])) for contact in batch]
    registers = listings.find(session, OPERATOR, {row.e164 for rows in phones.values() for row in rows})
    suppressed = any_suppressed(session, (value for person in people for value in _identifiers(*person)))
    of_companies = switchboards.among(session, suppressed)
    for contact, addresses, numbers in people:
        listed = suppressed.intersection(_identifiers(contact, addresses, numbers))
        if not listed - of_companies:
            shown = [
                row._replace(do_not_call=do_not_call(row.do_not_call, registers.get(row.e164, ())))
                for row in numbers
                if Identifier("phone", row.e164) not in listed
                and not is_hidden(registers.get(row.e164, ()), as_admin=True)
            ]
            yield _row(*_without_hidden(session.settings.regional_rules, contact, addresses, shown))


def _without_hidden(
    rules: RegionalRules,
    contact: Row[*tuple[Any, ...]],
    emails: Sequence[ExportedEmail],
    phones: Sequence[ExportedPhone],
) -> tuple[Row[*tuple[Any, ...]], Sequence[ExportedEmail], Sequence[ExportedPhone]]:
    """Return the contact, and its e-mails and phones without those that the rules hide."""
    country = contact.country or contact.company_country
    return (
        contact,
        [row for row in emails if not rules.hides_email(row.type, country)],
        [row for row in phones if not rules.hides_phone(row.type, row.line_type, country, row.country)],
    )


def _by_contact(
    session: Session, table: type[Email | Phone], row: type[Value], ids: Collection[str]
) -> dict[str, list[Value]]:
    """Return the e-mails or phones of the contacts by contact id."""
    columns = table.__table__.c
    query = select(*columns_of(table, row._fields)).order_by(columns.id)
    found: dict[str, list[Value]] = {}
    for part in batched(ids):
        for value in map(
            row._make, session.execute(query.where(is_among(session, columns.contact_id, part)))
        ):
            found.setdefault(value.contact_id, []).append(value)
    return found


def _identifiers(
    contact: Row[*tuple[Any, ...]], emails: Sequence[ExportedEmail], phones: Sequence[ExportedPhone]
) -> Iterator[Identifier]:
    yield from (Identifier("linkedin_url", url) for url in urls_of(contact))
    yield Identifier("domain", contact.company_domain or "")
    yield from (Identifier("email", row.email) for row in emails)
    yield from (Identifier("phone", row.e164) for row in phones)


def _row(
    contact: Row[*tuple[Any, ...]], emails: Sequence[ExportedEmail], phones: Sequence[ExportedPhone]
) -> dict[str, str]:
    row = texts(_PERSON_COLUMNS, contact)
    row["updated_at"] = _date(contact.provenance)
    return row | value_cells(emails, phones)


def value_cells(
    emails: Sequence[ExportedEmail | StoredEmail], phones: Sequence[ExportedPhone | StoredPhone]
) -> dict[str, str]:
    """Return the cells of a contact's e-mails and phones, of which there may be any number."""
    cells: dict[str, str] = {}
    for index, email in enumerate(emails):
        values = [getattr(email, name) for name in _EMAIL_VALUES]
        cells |= texts(numbered("email", EMAIL_PARTS, index), values)
    for index, phone in enumerate(phones):
        names = numbered("phone", PHONE_PARTS, index)
        cells |= texts(names, [getattr(phone, name) for name in _PHONE_VALUES])
        if isinstance(phone, StoredPhone) and phone.listings:
            flag = do_not_call(phone.do_not_call, phone.listings)
            cells |= {} if flag is None else {names[3]: _text(flag)}
        if phone.extension:
            cells[names[0]] = f"{phone.e164};ext={phone.extension}"
    return cells


def texts(columns: Sequence[str], values: Sequence[Any]) -> dict[str, str]:
    """Return the texts of the first values, which the columns show."""
    return {
        column: value if isinstance(value, str) else _text(value)
        for column, value in zip(columns, values, strict=False)
        if value is not None
    }


@lru_cache(maxsize=1024, typed=True)  # 1.0 is equal to True
def _text(value: object) -> str:
    if isinstance(value, datetime):
        return rfc3339(value) or ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _date(provenance: Mapping[str, Any]) -> str:
    return max((stamp["at"] for stamp in provenance.values()), default="")


@lru_cache(maxsize=1024)
def numbered(field: str, parts: Sequence[str], index: int) -> tuple[str, ...]:
    """Return the columns of a contact's e-mail or phone: `email`, `email_type`, then `email_2` and so on."""
    name = field if index == 0 else f"{field}_{index + 1}"
    return tuple(f"{name}{part}" for part in parts)
