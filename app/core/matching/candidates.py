"""Queries for the contacts that may match a subject: by exact keys, or by name and company."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, Select, bindparam, case, select
from sqlalchemy.orm import Session

from app.core.contacts.companies import Company
from app.core.contacts.contacts import Contact
from app.core.contacts.emails import Email
from app.core.contacts.phones import Phone
from app.domain.normal import names
from app.domain.normal.names import PersonName
from app.domain.records import similarity
from app.domain.records.subjects import Subject

KEYS = ("contact_id", "linkedin_url", "email", "phone")  # strongest first
MAX_CONTACTS = 100
MAX_COMPANIES = 50
MIN_WORD_LENGTH = 3
_AFTER = "zzzz"  # appended to a prefix, sorts after every string with that prefix, in any collation


@dataclass(frozen=True, slots=True)
class ContactRow:
    """A stored contact and its company."""

    contact: Contact
    company: Company | None


@dataclass(frozen=True, slots=True)
class CandidateCompany:
    """A stored company that may match a subject, with the matching field and the similarity (0 to 1)."""

    company: Company
    key: str
    score: float


# Statements are built once: building them is most of the cost of a short query.
_PEOPLE = select(Contact, Company).outerjoin(Company, Company.id == Contact.company_id).limit(MAX_CONTACTS)
_VALUES: BindParameter[Any] = bindparam("values", expanding=True)
_BY_KEY: dict[str, Select[Any]] = {
    "contact_id": _PEOPLE.add_columns(Contact.id.label("value")).where(Contact.id.in_(_VALUES)),
    "linkedin_url": _PEOPLE.add_columns(Contact.linkedin_url.label("value")).where(
        Contact.linkedin_url.in_(_VALUES)
    ),
    "email": _PEOPLE.add_columns(Email.email.label("value"))
    .join(Email, Email.contact_id == Contact.id)
    .where(Email.email.in_(_VALUES)),
    "phone": _PEOPLE.add_columns(Phone.e164.label("value"))
    .join(Phone, Phone.contact_id == Contact.id)
    .where(Phone.e164.in_(_VALUES)),
}
_BY_DOMAIN = select(Company).where(Company.domain.in_(_VALUES))
_BY_COMPANY_KEY = select(Company).where(Company.name_key.in_(_VALUES)).limit(MAX_COMPANIES)
_SIMILAR = (
    select(Company)
    .where(Company.name_key.between(bindparam("low"), bindparam("high")))
    .order_by(Company.name_key)
    .limit(MAX_COMPANIES)
)
_COMPANY_IDS: BindParameter[Any] = bindparam("companies", expanding=True)
_BY_LAST_NAME = _PEOPLE.where(
    Contact.company_id.in_(_COMPANY_IDS), Contact.last_key.in_(bindparam("last_keys", expanding=True))
).order_by(case((Contact.name_key == bindparam("whole"), 0), else_=1), Contact.id)
_BY_SIMILAR_LAST_NAME = _PEOPLE.where(
    Contact.company_id.in_(_COMPANY_IDS), Contact.last_key.between(bindparam("low"), bindparam("high"))
).order_by(Contact.last_key, Contact.id)
_BY_WHOLE_NAME = _PEOPLE.where(Contact.name_key == bindparam("whole"), Contact.company_id.in_(_COMPANY_IDS))


def by_keys(session: Session, subjects: Sequence[Subject]) -> list[dict[str, tuple[ContactRow, ...]]]:
    """Return for each subject the contacts by exact key, with one query per kind of key."""
    people_by_key = {}
    for key in KEYS:
        values = {value for subject in subjects if (value := getattr(subject, key))}
        people_by_key[key] = _with_key(session, key, sorted(values))
    return [
        {key: people for key in KEYS if (people := people_by_key[key].get(getattr(subject, key)))}
        for subject in subjects
    ]


def by_ids(session: Session, contact_ids: Collection[str]) -> dict[str, ContactRow]:
    """Return the existing contacts by id."""
    people_by_id = _with_key(session, "contact_id", sorted(contact_ids))
    return {contact_id: people[0] for contact_id, people in people_by_id.items()}


def _with_key(session: Session, key: str, values: Sequence[str]) -> Mapping[str, tuple[ContactRow, ...]]:
    if not values:
        return {}
    rows = session.execute(_BY_KEY[key], {"values": values}).all()
    if len(rows) == MAX_CONTACTS and len(values) > 1:  # one common value must not hide the others
        return dict(pair for value in values for pair in _with_key(session, key, [value]).items())
    people: dict[str, list[ContactRow]] = defaultdict(list)
    for contact, company, value in rows:
        people[value].append(ContactRow(contact, company))
    return {value: tuple(sorted(rows, key=lambda row: row.contact.id)) for value, rows in people.items()}


def candidate_companies(
    session: Session, subjects: Iterable[Subject]
) -> dict[Subject, tuple[CandidateCompany, ...]]:
    """Return the companies that may match each subject, best first: by domain, by name, by a similar name.

    A company with another domain than the subject's does not match, whatever its name.
    """
    subjects = list(subjects)
    domains = {subject.company_domain for subject in subjects if subject.company_domain}
    by_domain = {company.domain: company for company in _companies(session, _BY_DOMAIN, domains)}
    keys = {
        subject: names.company_key(subject.company_name)
        for subject in subjects
        if subject.company_name and subject.company_domain not in by_domain
    }
    by_name = _companies(session, _BY_COMPANY_KEY, set(keys.values()))
    result: dict[Subject, tuple[CandidateCompany, ...]] = {}
    for subject in subjects:
        if company := by_domain.get(subject.company_domain):
            result[subject] = (CandidateCompany(company, "company_domain", 1.0),)
        elif key := keys.get(subject):
            same = [
                CandidateCompany(company, "company_name", 1.0)
                for company in by_name
                if company.name_key == key
            ]
            usable = [candidate for candidate in same if _has_compatible_domain(candidate.company, subject)]
            result[subject] = tuple(usable) or _similar(session, subject, key)
    return result


def _companies(session: Session, statement: Any, values: set[str]) -> Sequence[Company]:  # noqa: ANN401 -- a SELECT, whose type changed with SQLAlchemy 2.1
    return session.scalars(statement, {"values": sorted(values)}).all() if values else ()


def _similar(session: Session, subject: Subject, key: str) -> tuple[CandidateCompany, ...]:
    """Return companies with a similar name, among those whose names start with the same word."""
    first_word = key.partition(" ")[0]
    if len(first_word) < MIN_WORD_LENGTH:
        return ()
    near = session.scalars(_SIMILAR, {"low": first_word, "high": first_word + _AFTER})
    scored = [
        CandidateCompany(
            company, "company_name", similarity.company_score(subject.company_name or "", company.name or "")
        )
        for company in near
        if _has_compatible_domain(company, subject)
    ]
    return tuple(
        sorted(
            (candidate for candidate in scored if candidate.score >= similarity.AGREES),
            key=lambda candidate: -candidate.score,
        )
    )


def _has_compatible_domain(company: Company, subject: Subject) -> bool:
    """Return whether the company has no domain other than the subject's, which matched no company."""
    return not (subject.company_domain and company.domain)


def contacts_named_at(
    session: Session, name: PersonName, companies: Iterable[Company]
) -> tuple[ContactRow, ...]:
    """Return people of these companies by last name, else by full name, else by a similar last name."""
    ids = [company.id for company in companies]
    last_keys = {key for part in (name.last, name.first) for key in names.spellings(part) if key}
    whole_name = names.name_key(name.full)
    rows = session.execute(
        _BY_LAST_NAME, {"companies": ids, "last_keys": sorted(last_keys), "whole": whole_name}
    ).all()
    if not rows:
        rows = session.execute(_BY_WHOLE_NAME, {"companies": ids, "whole": whole_name}).all()
    low = names.name_key(name.last)[:2]
    if not rows and low:
        rows = session.execute(
            _BY_SIMILAR_LAST_NAME, {"companies": ids, "low": low, "high": low + _AFTER}
        ).all()
    return tuple(ContactRow(contact, company) for contact, company in rows)
