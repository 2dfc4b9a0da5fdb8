"""Writes imported contacts and companies, except suppressed contacts, and counts the changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from app.domain.findings import FoundCompany, FoundContact
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.people_rows import ParsedPerson
from app.domain.lists.warning_kinds import CONFLICT_FIELDS, TAKEN_DOMAIN
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names.name_keys import person_key
from app.domain.records.merging import Change
from app.domain.records.profile_links import urls_of
from app.domain.records.shared_identifiers import shared_identifiers
from app.domain.suppression_lists import forms
from app.engine.contacts import companies, contacts, switchboards
from app.engine.contacts.bulk import lock_resolution
from app.engine.contacts.contacts import UpsertResult
from app.engine.contacts.phones import HEAD_OFFICE
from app.engine.contacts.suppressions.suppression_checks import any_suppressed
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.lists import imported_rows
from app.infra.database.session import Session

_COUNTED = {None: "new", Change.CHANGED: "updated", Change.REFRESHED: "unchanged", Change.NONE: "unchanged"}


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What was counted, what of the rows is also another's, and the lines of those that share a person's.

    `contacts` are the contacts of the people who are not suppressed, in the order of the rows.
    """

    counts: Counter[str] = field(default_factory=Counter)
    warnings: CellWarnings = field(default_factory=CellWarnings)
    conflict_lines: tuple[int, ...] = ()
    contacts: tuple[UpsertResult, ...] = ()


def ingest_contacts(session: Session, people: Sequence[ParsedPerson], *, now: datetime) -> IngestResult:
    """Upsert the contacts that are not suppressed; count the new, updated, unchanged and suppressed ones.

    A person with an identifier of another person is stored as a separate contact, with a warning. A contact
    with a suppressed profile, e-mail or phone is dropped entirely; of the suppressed number of a company only
    the number is. The digests of rows of which nothing was dropped are stored.
    """
    lock_resolution(session)  # from here on no other transaction can erase one of them
    suppressed_identifiers = any_suppressed(
        session, (identifier for person in people for identifier in _identifiers(person.found))
    )
    of_companies = _of_companies(session, people, suppressed_identifiers)
    allowed = [
        (person, record)
        for person in people
        if (record := _allowed(person.found, suppressed_identifiers, of_companies)) is not None
    ]
    numbers = {key: number for person in people for key, number in person.numbers.items()}
    results = contacts.upsert_many(session, [record for _, record in allowed], now=now, numbers=numbers)
    complete = {
        person.digest: result.contact_id
        for (person, record), result in zip(allowed, results, strict=True)
        if person.digest is not None and record is person.found
    }
    imported_rows.store(session, complete, now=now)
    counts = Counter(_COUNTED[result.change] for result in results)
    counts["suppressed"] += len(people) - len(allowed)
    lines = [(person.line, result) for (person, _), result in zip(allowed, results, strict=True)]
    warnings = CellWarnings()
    for line, result in lines:
        for code in result.conflicts:
            warnings.add(CONFLICT_FIELDS[code], code, line=line)
    shared = tuple(line for line, result in lines if {*result.conflicts} - {TAKEN_DOMAIN})
    return IngestResult(counts, warnings, shared, tuple(results))


def ingest_companies(session: Session, records: Sequence[FoundCompany], *, now: datetime) -> IngestResult:
    """Upsert the companies; count the new, updated and unchanged ones."""
    results = companies.upsert_many(session, records, now=now)
    counts = Counter(_COUNTED[result.change] for result in results)
    warnings = CellWarnings()
    for result in results:
        if result.domain_taken:
            warnings.add(CONFLICT_FIELDS[TAKEN_DOMAIN], TAKEN_DOMAIN)
    return IngestResult(counts, warnings)


def _identifiers(record: FoundContact) -> list[Identifier]:
    """Return what may suppress the person; of one without identifiers, the name at the company."""
    values = [Identifier("email", email.email) for email in record.emails]
    values += [Identifier("phone", phone.e164) for phone in record.phones]
    values += [Identifier("linkedin_url", url) for url in urls_of(record)]
    company = record.company
    if company is None:
        return values
    if not values and record.full_name:
        employers = (company.domain, company_key(company.name or ""))
        key = person_key(record.full_name)
        values = [Identifier("name", forms.employment(key, employer)) for employer in employers if employer]
    return values + ([Identifier("domain", company.domain)] if company.domain else [])


def _of_companies(
    session: Session, people: Sequence[ParsedPerson], suppressed_identifiers: frozenset[Identifier]
) -> frozenset[Identifier]:
    """Return the suppressed numbers that belong to companies, by this list or by what is stored."""
    listed = {item for item in suppressed_identifiers if item.kind == "phone"}
    if not listed:
        return frozenset()
    phones = [phone for person in people for phone in person.found.phones]
    common = {Identifier("phone", phone.e164) for phone in phones if switchboards.may_be_one(phone)}
    offices = {Identifier("phone", phone.e164) for phone in phones if phone.type == HEAD_OFFICE}
    shared = shared_identifiers(person.found for person in people)
    in_list = {item for item in listed & common if item.value in shared}
    return frozenset(offices & listed) | in_list | switchboards.among(session, listed)


def _allowed(
    record: FoundContact,
    suppressed_identifiers: frozenset[Identifier],
    of_companies: frozenset[Identifier],
) -> FoundContact | None:
    hits = (
        suppressed_identifiers.intersection(_identifiers(record)) if suppressed_identifiers else frozenset()
    )
    if not hits:
        return record
    if hits - of_companies:
        return None
    phones = tuple(phone for phone in record.phones if Identifier("phone", phone.e164) not in hits)
    is_identified = record.linkedin_url or record.emails or phones or (record.full_name and record.company)
    return replace(record, phones=phones) if is_identified else None
