"""Stores the records of several providers about one person or company, and reports their conflicts.

The surviving values are chosen where records are merged, in `contacts` and `companies`. The other values are
not stored with the contact or company, only reported to the caller that requested them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from app.core.contacts import companies, contacts
from app.core.contacts.companies import Company
from app.core.contacts.contacts import Contact
from app.core.matching import contact_matching
from app.domain.findings import FoundCompany, FoundContact
from app.domain.normal.names import name_key
from app.domain.records import conflicts
from app.domain.records.conflicts import COMPANY_FIELDS, CONTACT_FIELDS, EMPLOYER, SourceRecord
from app.domain.records.identifier_merge import with_identifier
from app.domain.records.subjects import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecords:
    """The stored record, then those of the providers, each with the id of its contact or company."""

    contacts: tuple[tuple[str, SourceRecord], ...] = ()
    companies: tuple[tuple[str, SourceRecord], ...] = ()


def store_person(
    session: Session,
    subject: Subject,
    told: Sequence[FoundContact],
    *,
    ranking: tuple[str, ...],
    now: datetime,
) -> SourceRecords:
    """Store the providers' records of the person; `ranking` lists the providers, most trusted first.

    `subject` is what the providers were asked about: stored values of a contact, or a caller's identifiers. A
    LinkedIn URL missing from a record is added only if all providers were certainly asked about one person.
    """
    match = contact_matching.find(session, subject)
    stored, employer = match.contact, match.company if match.contact else None
    people: list[tuple[str, SourceRecord, str | None]] = []
    firms = [(employer.id, _of_company(employer))] if employer else []
    if stored is not None:
        people.append(
            (stored.id, SourceRecord.from_row(stored, CONTACT_FIELDS, stored.provenance), stored.company_id)
        )
    for found in _of_one_person(told, subject):
        kept = contacts.upsert(session, conflicts.ranked(found, ranking), now=now)
        firm = companies.find(session, found.company) if found.company else None
        people.append((kept.id, SourceRecord.from_finding(found, CONTACT_FIELDS), firm.id if firm else None))
        if firm is not None and found.company is not None:
            firms.append((firm.id, SourceRecord.from_finding(found.company, COMPANY_FIELDS)))
    session.expire_all()  # the rows were written without the ORM
    employed = [
        (contact_id, word.employed_by(_name(session, company_id))) for contact_id, word, company_id in people
    ]
    return SourceRecords(contacts=tuple(employed), companies=tuple(firms))


def store_company(
    session: Session,
    named: FoundCompany,
    told: Sequence[FoundCompany],
    *,
    ranking: tuple[str, ...],
    now: datetime,
) -> SourceRecords:
    """Store the providers' records of the company.

    A domain or LinkedIn page missing from a record is filled with the stored one, or with the only identifier
    of the request. If the caller named several, one of them may belong to another company.
    """
    stored = companies.find(session, named)
    said = [(stored.id, _of_company(stored))] if stored else []
    domain, page = (stored.domain, stored.linkedin_url) if stored else _only_name(named)
    for one in told:
        found = one if _is_another(one, domain, page) else _named(one, domain, page)
        kept = companies.upsert(session, conflicts.ranked(found, ranking), now=now)
        said.append((kept.id, SourceRecord.from_finding(found, COMPANY_FIELDS)))
    return SourceRecords(companies=tuple(said))


def first_contact(session: Session, said: SourceRecords) -> Contact | None:
    """Return the contact of the first record: the stored one, or else the most trusted provider's."""
    return session.get(Contact, said.contacts[0][0]) if said.contacts else None


def first_company(session: Session, said: SourceRecords) -> Company | None:
    """Return the company of the first record."""
    return companies.get(session, said.companies[0][0]) if said.companies else None


def field_provenance(
    session: Session, said: SourceRecords, *, contact: Contact | None, company: Company | None, profile: bool
) -> dict[str, Any]:
    """Return the sources of the shown contact's and company's fields, and the conflicting values.

    `sources` is `{"contact": {field: {source, at}}, "company": …}`, `conflicts` a list of `{entity, field,
    value, source, at, other: {value, source, at}}`. Without `profile` only the contact's employer is
    included, and only if the company is shown.
    """
    sources: dict[str, Any] = {"contact": {}, "company": {}}
    found: list[dict[str, Any]] = []
    shown: list[tuple[str, SourceRecord, list[SourceRecord]]] = []
    if contact is not None:
        fields = (*(CONTACT_FIELDS if profile else ()), *((EMPLOYER,) if company else ()))
        standing = SourceRecord.from_row(contact, CONTACT_FIELDS, contact.provenance)
        standing = standing.employed_by(_name(session, contact.company_id)).only(fields)
        shown.append(("contact", standing, [word for one, word in said.contacts if one == contact.id]))
    if company is not None:
        words = [word for one, word in said.companies if one == company.id]
        shown.append(("company", _of_company(company), words))
    for entity, standing, words in shown:
        sources[entity] = conflicts.sources(standing, words)
        found += conflicts.conflicts(entity, standing, words)
    return {"sources": sources, "conflicts": found}


def _of_one_person(told: Sequence[FoundContact], asked: Subject) -> list[FoundContact]:
    """Return the records with the LinkedIn URL of their person, if that is certain.

    It is the stored contact's, or the only identifier of the request. If the request was for one name at one
    company, it is the one that another provider returned for the same name.
    """
    kind, value = asked.only_identifier or ("", "")
    profile = value if kind == "linkedin_url" else None
    if asked.contact_id is not None:
        profile = asked.linkedin_url
        told = [with_identifier(one, asked) for one in told]
    if profile is not None:
        return [replace(one, linkedin_url=one.linkedin_url or profile) for one in told]
    named = next((one for one in told if one.linkedin_url), None)
    if named is None or not (asked.contact_id is not None or asked.names_one_way):
        return list(told)
    return [
        replace(one, linkedin_url=one.linkedin_url or named.linkedin_url)
        if _may_be_called_the_same(one, named)
        else one
        for one in told
    ]


def _may_be_called_the_same(one: FoundContact, other: FoundContact) -> bool:
    if not (one.full_name and other.full_name):
        return True
    return name_key(one.full_name) == name_key(other.full_name)


def _only_name(named: FoundCompany) -> tuple[str | None, str | None]:
    """Return the domain and page of a company that is named by only one of them, else None for both."""
    said = [value for value in (named.domain, named.linkedin_url, named.name) if value]
    return (named.domain, named.linkedin_url) if len(said) == 1 else (None, None)


def _is_another(one: FoundCompany, domain: str | None, page: str | None) -> bool:
    pairs = ((one.domain, domain), (one.linkedin_url, page))
    return any(told and asked and told != asked for told, asked in pairs)


def _named(one: FoundCompany, domain: str | None, page: str | None) -> FoundCompany:
    return replace(one, domain=one.domain or domain, linkedin_url=one.linkedin_url or page)


def _of_company(company: Company) -> SourceRecord:
    return SourceRecord.from_row(company, COMPANY_FIELDS, company.provenance)


def _name(session: Session, company_id: str | None) -> str | None:
    company = companies.get(session, company_id) if company_id else None
    return (company.name or company.domain) if company else None
