"""Queries for the companies that may match a subject: by domain, by name, or by a similar name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, bindparam, select, union_all

from app.domain.normal.companies.company_names import company_key, parse_company
from app.domain.records.company_identity import are_one_company
from app.domain.records.similarity.company_similarity import company_score, similar_keys
from app.domain.records.similarity.similarity import AGREES
from app.domain.records.subjects import Subject
from app.engine.contacts.companies import Company
from app.engine.contacts.stored_rows import StoredCompany
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of, columns_of

MAX_COMPANIES = 50
ANOTHER_NAME = 0.9
"""The similarity of a company with the subject's domain and another name: its people are only possible."""
NEIGHBOURS = 20
"""How many companies next to a name in the index are compared with it, on each side."""
_COLUMNS = columns_of(Company, StoredCompany._fields)


@dataclass(frozen=True, slots=True)
class CandidateCompany:
    """A stored company that may match a subject, with the matching field and the similarity (0 to 1)."""

    company: StoredCompany
    key: str
    score: float


def _by_domain(dialect: str) -> Select[Any]:
    """Return the query for companies by domain."""
    table = Company.__table__.c
    return select(*_COLUMNS).where(any_of(dialect, table.domain, "values"))


def _by_key(dialect: str) -> Select[Any]:
    """Return the query for companies by the key of their name."""
    table = Company.__table__.c
    return select(*_COLUMNS).where(any_of(dialect, table.name_key, "values")).limit(MAX_COMPANIES)


def _by_similar_key(dialect: str) -> Select[Any]:
    """Return the query for companies with one of the keys `values`, or next to `key` in the index."""
    table = Company.__table__.c
    likely = select(table.id).where(any_of(dialect, table.name_key, "values")).limit(MAX_COMPANIES)
    after = select(table.id).where(table.name_key > bindparam("key")).order_by(table.name_key)
    before = select(table.id).where(table.name_key < bindparam("key")).order_by(table.name_key.desc())
    parts = (likely, after.limit(NEIGHBOURS), before.limit(NEIGHBOURS))
    ids = union_all(*(select(part.subquery().c.id) for part in parts))
    return select(*_COLUMNS).where(table.id.in_(ids)).order_by(table.id)


_BY_DOMAIN, _BY_KEY = Statement(StoredCompany, _by_domain), Statement(StoredCompany, _by_key)
_SIMILAR = Statement(StoredCompany, _by_similar_key)


def candidate_companies(
    session: Session, subjects: Iterable[Subject]
) -> dict[Subject, tuple[CandidateCompany, ...]]:
    """Return the companies that may match each subject, best first: by domain, by name, by a similar name.

    A company with another domain than the subject's does not match, whatever its name. If the company with
    the subject's domain has another name, companies of the subject's name come first.
    """
    subjects = list(subjects)
    domains = {subject.company_domain for subject in subjects if subject.company_domain}
    by_domain = {company.domain: company for company in _companies(session, _BY_DOMAIN, domains)}
    sure = {subject for subject in subjects if _is_named(by_domain.get(subject.company_domain), subject)}
    keys = {
        subject: company_key(subject.company_name)
        for subject in subjects
        if subject.company_name and subject not in sure
    }
    by_name = _companies(session, _BY_KEY, set(keys.values()))
    result: dict[Subject, tuple[CandidateCompany, ...]] = {}
    for subject in subjects:
        company, key = by_domain.get(subject.company_domain), keys.get(subject)
        if company and subject in sure:
            result[subject] = (CandidateCompany(company, "company_domain", 1.0),)
        elif key:
            same = [company for company in by_name if company.name_key == key]
            named = _scored(subject, same) or _scored(subject, _similar(session, subject, key))
            result[subject] = named or _of_domain(company)
    return result


def _is_named(company: StoredCompany | None, subject: Subject) -> bool:
    """Return whether the company with the subject's domain has the subject's name, or one has none."""
    if company is None:
        return False
    if not (company.name and subject.company_name):
        return True
    return are_one_company(company.name, subject.company_name, company.domain or "")


def _of_domain(company: StoredCompany | None) -> tuple[CandidateCompany, ...]:
    return (CandidateCompany(company, "company_domain", ANOTHER_NAME),) if company else ()


def _companies(
    session: Session, statement: Statement[StoredCompany], values: set[str]
) -> Sequence[StoredCompany]:
    return statement.all(session, {"values": sorted(values)}) if values else ()


def _similar(session: Session, subject: Subject, key: str) -> Sequence[StoredCompany]:
    words = parse_company(subject.company_name or "").words
    return _SIMILAR.all(session, {"values": similar_keys(words), "key": key})


def _scored(subject: Subject, companies: Iterable[StoredCompany]) -> tuple[CandidateCompany, ...]:
    """Return the companies that are similar enough, best first."""
    scored = [
        CandidateCompany(
            company, "company_name", company_score(subject.company_name or "", company.name or "")
        )
        for company in companies
        if not (subject.company_domain and company.domain)  # another website than the subject's
    ]
    usable = [candidate for candidate in scored if candidate.score >= AGREES]
    return tuple(sorted(usable, key=lambda candidate: (-candidate.score, candidate.company.id)))
