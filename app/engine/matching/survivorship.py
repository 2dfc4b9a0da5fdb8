"""Stores the records of several providers about one person or company, and reports their conflicts.

The surviving values are chosen where records are merged, in `contacts` and `companies`. The other values are
not stored with the contact or company, only reported to the caller that requested them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from app.domain.findings import COMPANY_FIELDS, FoundCompany, FoundContact
from app.domain.normal.names.name_keys import person_key
from app.domain.records import conflicts
from app.domain.records.conflicts import CONTACT_FIELDS, EMPLOYER, SourceRecord
from app.domain.records.identifier_merge import with_identifier, with_profiles
from app.domain.records.profile_links import urls_of
from app.domain.records.subjects import Subject
from app.engine.contacts import companies, contacts
from app.engine.contacts.stored_rows import StoredCompany, StoredContact
from app.engine.matching import contact_matching
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecords:
    """The stored record, then the records of the providers, each with the id of its contact or company."""

    contacts: tuple[tuple[str, SourceRecord], ...] = ()
    companies: tuple[tuple[str, SourceRecord], ...] = ()


def store_person(
    session: Session,
    subject: Subject,
    found: Sequence[FoundContact],
    *,
    ranking: tuple[str, ...],
    now: datetime,
    workspace_id: str | None = None,
) -> SourceRecords:
    """Store the providers' records of the person; `ranking` lists the providers, most trusted first.

    The stored record counts if the workspace is told about it (`reverse_lookups`).

    `subject` is what the providers were asked about: stored values of a contact, or a caller's identifiers. A
    LinkedIn URL missing from a record is added only if all providers were certainly asked about one person.
    """
    match = contact_matching.find(session, subject, workspace_id=workspace_id)
    people: list[tuple[str, SourceRecord, str | None]] = []
    companies_found: list[tuple[str, SourceRecord]] = []
    if match.contact is not None:
        stored = match.contact
        record = SourceRecord.from_row(stored, CONTACT_FIELDS, stored.provenance)
        people.append((stored.id, record, stored.company_id))
        if match.company is not None:
            companies_found.append((match.company.id, _company_record(match.company)))
    for finding in _with_certain_profile(found, subject):
        contact = contacts.upsert(session, conflicts.ranked(finding, ranking), now=now)
        company = companies.find(session, finding.company) if finding.company else None
        record = SourceRecord.from_finding(finding, CONTACT_FIELDS)
        people.append((contact.id, record, company.id if company else None))
        if company is not None and finding.company is not None:
            companies_found.append((company.id, SourceRecord.from_finding(finding.company, COMPANY_FIELDS)))
    session.expire_all()  # the rows were written without the ORM
    employed = [
        (contact_id, record.employed_by(_company_name(session, company_id)))
        for contact_id, record, company_id in people
    ]
    return SourceRecords(contacts=tuple(employed), companies=tuple(companies_found))


def store_company(
    session: Session,
    requested: FoundCompany,
    found: Sequence[FoundCompany],
    *,
    ranking: tuple[str, ...],
    now: datetime,
) -> SourceRecords:
    """Store the providers' records of the company.

    A domain or LinkedIn page missing from a record is filled with the stored one, or with the only identifier
    of the request. If the caller named several, one of them may belong to another company.
    """
    stored = companies.find(session, requested)
    records = [(stored.id, _company_record(stored))] if stored else []
    domain, page = (stored.domain, stored.linkedin_url) if stored else _only_identifier(requested)
    for finding in found:
        is_other = _is_other(finding, domain, page)
        completed = finding if is_other else _completed(finding, domain, page)
        ranked = conflicts.ranked(completed, ranking)
        company = companies.upsert(session, ranked, now=now, was_asked=bool(domain and not is_other))
        records.append((company.id, SourceRecord.from_finding(completed, COMPANY_FIELDS)))
    return SourceRecords(companies=tuple(records))


def first_contact(session: Session, records: SourceRecords) -> StoredContact | None:
    """Return the contact of the first record: the stored one, or else the most trusted provider's."""
    return contacts.get(session, records.contacts[0][0]) if records.contacts else None


def first_company(session: Session, records: SourceRecords) -> StoredCompany | None:
    """Return the company of the first record."""
    return companies.get(session, records.companies[0][0]) if records.companies else None


def field_provenance(
    session: Session,
    records: SourceRecords,
    *,
    contact: StoredContact | None,
    company: StoredCompany | None,
    profile: bool,
) -> dict[str, Any]:
    """Return the sources of the shown contact's and company's fields, and the conflicting values.

    `sources` is `{"contact": {field: {source, at}}, "company": …}`, `conflicts` a list of `{entity, field,
    value, source, at, other: {value, source, at}}`. Without `profile` only the contact's employer is
    included, and only if the company is shown.
    """
    sources: dict[str, Any] = {"contact": {}, "company": {}}
    conflicting: list[dict[str, Any]] = []
    shown: list[tuple[str, SourceRecord, list[SourceRecord]]] = []
    if contact is not None:
        fields = (*(CONTACT_FIELDS if profile else ()), *((EMPLOYER,) if company else ()))
        current = SourceRecord.from_row(contact, CONTACT_FIELDS, contact.provenance)
        current = current.employed_by(_company_name(session, contact.company_id)).only(fields)
        shown.append(("contact", current, _records_of(records.contacts, contact.id)))
    if company is not None:
        shown.append(("company", _company_record(company), _records_of(records.companies, company.id)))
    for entity, current, received in shown:
        sources[entity] = conflicts.sources(current, received)
        conflicting += conflicts.conflicts(entity, current, received)
    return {"sources": sources, "conflicts": conflicting}


def _records_of(records: Sequence[tuple[str, SourceRecord]], entity_id: str) -> list[SourceRecord]:
    return [record for record_id, record in records if record_id == entity_id]


def _with_certain_profile(found: Sequence[FoundContact], subject: Subject) -> list[FoundContact]:
    """Return the findings with the LinkedIn URL of their person, if that is certain.

    It is the stored contact's, or the only identifier of the request. If the request was for one name at one
    company, it is the one that another provider returned for the same name.
    """
    kind, value = subject.only_identifier or ("", "")
    profile = value if kind == "linkedin_url" else None
    if subject.contact_id is not None:
        profile = subject.linkedin_url
        found = [with_identifier(finding, subject) for finding in found]
    if profile is not None:
        return [with_profiles(finding, (profile,)) for finding in found]
    with_profile = next((finding for finding in found if finding.linkedin_url), None)
    if with_profile is None or not (subject.contact_id is not None or subject.names_one_way):
        return list(found)
    return [
        with_profiles(finding, urls_of(with_profile))
        if _may_have_same_name(finding, with_profile)
        else finding
        for finding in found
    ]


def _may_have_same_name(finding: FoundContact, other: FoundContact) -> bool:
    if not (finding.full_name and other.full_name):
        return True
    return person_key(finding.full_name) == person_key(other.full_name)


def _only_identifier(requested: FoundCompany) -> tuple[str | None, str | None]:
    """Return the domain and page of a company that is named by only one of them, else None for both."""
    values = [value for value in (requested.domain, requested.linkedin_url, requested.name) if value]
    return (requested.domain, requested.linkedin_url) if len(values) == 1 else (None, None)


def _is_other(finding: FoundCompany, domain: str | None, page: str | None) -> bool:
    """Return whether the finding has another domain or page."""
    pairs = ((finding.domain, domain), (finding.linkedin_url, page))
    return any(value and expected and value != expected for value, expected in pairs)


def _completed(finding: FoundCompany, domain: str | None, page: str | None) -> FoundCompany:
    return replace(finding, domain=finding.domain or domain, linkedin_url=finding.linkedin_url or page)


def _company_record(company: StoredCompany) -> SourceRecord:
    return SourceRecord.from_row(company, COMPANY_FIELDS, company.provenance)


def _company_name(session: Session, company_id: str | None) -> str | None:
    company = companies.get(session, company_id) if company_id else None
    return (company.name or company.domain) if company else None
