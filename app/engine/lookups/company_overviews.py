"""Companies by hash, each read in one statement with the counts of its people and of its e-mail patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    CTE,
    Row,
    ScalarSelect,
    SQLColumnExpression,
    and_,
    bindparam,
    case,
    exists,
    false,
    func,
    select,
)
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.email_patterns import patterns
from app.domain.email_patterns.patterns import PatternStat
from app.domain.normal.hashes import hex_hash, parse_hash
from app.engine.contacts import learned_patterns
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.stored_rows import CompanyCard
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.suppressions.suppressions import Suppression
from app.engine.lookups import people_counts
from app.engine.lookups.company_people import Filter
from app.engine.lookups.contact_data import ContactData
from app.engine.lookups.people_counts import PeopleCount
from app.infra.database.json_functions import JsonArray, JsonObject
from app.infra.database.session import Session

MAX_CHECKED = 500
"""Suppressed people are left out of the counts if at most so many people are counted."""


class HashKind(StrEnum):
    """The hashed value."""

    WEBSITE = "website"
    LINKEDIN = "linkedin"


COLUMNS: dict[HashKind, InstrumentedAttribute[bytes | None]] = {
    HashKind.WEBSITE: Company.domain_hash,
    HashKind.LINKEDIN: Company.linkedin_hash,
}


class CountedPerson(NamedTuple):
    """A person who is counted, with the profiles by which they may be suppressed."""

    id: str
    department: str | None
    linkedin_url: str | None
    member_url: str | None


@dataclass(frozen=True, slots=True)
class Overview:
    """A company, the hash that it was found by, and the counts of its people, None for no department.

    `unchecked` are the counted people if suppressed ones must be found among them. `must_store` is
    whether the counts are new and the company is large.
    """

    matched_hash: str
    company: CompanyCard
    email_pattern: dict[str, Any] | None
    departments: Counter[str | None]
    unchecked: Sequence[CountedPerson]
    must_store: bool

    def count_people(self, session: Session, criteria: Filter, data: ContactData) -> dict[str | None, int]:
        """Return the number of people by department without suppressed ones, the largest first.

        `data` is the data of `unchecked`. The counts are stored if the company is large.
        """
        if Identifier("domain", self.company.domain or "") in data.suppressed:
            return {}
        suppressed = (person.department for person in self.unchecked if data.is_suppressed(person))
        counts = self.departments - Counter(suppressed)
        if self.must_store and criteria.has_known_seniority:
            by_name = {name or "": count for name, count in counts.items()}
            people_counts.store(session, self.company.id, criteria, by_name)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0] or "")))


@lru_cache(maxsize=256)
def found(kind: HashKind, hashes: int, criteria: Filter) -> CTE:
    """Return the query for the company of the first known hash; `values` returns its parameters."""
    column = COLUMNS[kind]
    company_id = _first_known(column, hashes)
    counted = people_counts.by_department(Company.id, criteria)
    any_suppressed, people = exists(select(Suppression.digest)), _people(Company.id, criteria)
    is_large = people_counts.is_large(Company.id) if criteria.key else false()
    return (
        select(
            *(getattr(Company, name).label(f"company_{name}") for name in CompanyCard._fields),
            column.label("hash"),
            func.coalesce(PeopleCount.departments, counted).label("departments"),
            PeopleCount.counted_at,
            case((PeopleCount.counted_at.is_(None), is_large), else_=False).label("is_large"),
            _forms(Company.domain).label("forms"),
            case((and_(PeopleCount.counted_at.is_(None), any_suppressed), people), else_=None).label(
                "people"
            ),
        )
        .outerjoin(PeopleCount, people_counts.is_stored(Company.id, criteria))
        .where(Company.id == company_id)
        .cte("found")
    )


def values(hashes: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of `found`."""
    digests = [parse_hash(digits) for digits in hashes]
    each = {f"hash_{index}": digest for index, digest in enumerate(digests)}
    return {"hashes": digests, "large": people_counts.LARGE} | each


def overview(row: Row[Any]) -> Overview:
    """Return the overview in a row of `found`."""
    departments: Counter[str | None] = Counter()
    departments.update({name or None: count for name, count in (row.departments or {}).items()})
    is_new, total = row.counted_at is None, departments.total()
    people = (row.people or {}) if total <= MAX_CHECKED else {}
    return Overview(
        matched_hash=hex_hash(row.hash),
        company=CompanyCard._make(getattr(row, f"company_{name}") for name in CompanyCard._fields),
        email_pattern=_pattern(row.forms or {}),
        departments=departments,
        unchecked=[CountedPerson(contact_id, *columns) for contact_id, columns in people.items()],
        must_store=is_new and (row.is_large or total > people_counts.LARGE),
    )


def _first_known(column: InstrumentedAttribute[bytes | None], hashes: int) -> ScalarSelect[str]:
    query = select(Company.id).where(column.in_(bindparam("hashes", expanding=True))).limit(1)
    if hashes > 1:
        position = case(*((column == bindparam(f"hash_{index}"), index) for index in range(hashes)))
        query = query.order_by(position)
    return query.correlate(None).scalar_subquery()


def _forms(domain: SQLColumnExpression[str | None]) -> ScalarSelect[dict[str, Any]]:
    newest = learned_patterns.newest_forms(domain).correlate(Company).subquery()
    counts = select(newest.c.form, func.count().label("emails")).group_by(newest.c.form).subquery()
    return select(JsonObject(counts.c.form, counts.c.emails)).scalar_subquery()


def _pattern(forms: Mapping[str, int]) -> dict[str, Any] | None:
    """Return the usual pattern of the addresses, or None if too few are known."""
    ordered = sorted(forms.items(), key=lambda item: (-item[1], item[0]))
    learned = patterns.learn(PatternStat(form, count) for form, count in ordered)
    if learned is None:
        return None
    return {
        "pattern": learned.pattern,
        "confidence": learned.confidence,
        "sample_size": learned.sample_size,
    }


def _people(company_id: SQLColumnExpression[str], criteria: Filter) -> ScalarSelect[dict[str, Any]]:
    """Select what `ContactData.is_suppressed` reads of the people, by their ids."""
    condition = criteria.conditions(company_id, any_department=True)
    columns = (Contact.id, Contact.department, Contact.linkedin_url, Contact.member_url)
    query = select(*columns).where(condition).limit(MAX_CHECKED + 1).correlate_except(Contact)
    people = query.subquery()
    return select(
        JsonObject(people.c.id, JsonArray(people.c.department, people.c.linkedin_url, people.c.member_url))
    ).scalar_subquery()
