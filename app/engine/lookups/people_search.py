"""Search for stored people by title, seniority, department, company and country, free and masked.

A search takes the first `MAX_FOUND` people who meet the criteria, in no particular order, and sorts and
counts these. So its time is bounded, however many people are stored; a search for more is to be narrowed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, false, func, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.normal.companies.company_names import company_key
from app.domain.normal.texts.title_words import TitleWord, searched_words
from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved import saved_profiles
from app.engine.contacts.saved.saved_profiles import SavedProfile, SavedSummary
from app.engine.contacts.seniorities import SENIORITIES
from app.engine.contacts.stored_rows import CompanyCard
from app.engine.contacts.suppressions.suppressions import Suppression
from app.engine.lookups import contact_data, representations
from app.engine.lookups.company_people import PageCursor
from app.engine.lookups.contact_data import ContactData
from app.infra.database.session import Session

MAX_FOUND = 10_000
MAX_CHECKED = 500
"""Suppressed people are left out of the counts if at most so many are found."""
MAX_VALUES = 20
"""The values of each field that are counted, the most frequent ones."""
_RANKS = {name: rank for rank, name in enumerate(SENIORITIES)}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPeople:
    """A page of the people who meet the criteria, most senior first, as a list of leads has them.

    Each also has their location and their company. `total` and `counts` are of all pages; if `is_at_least`,
    there are more people than `total`, and the counts are of the first `MAX_FOUND` people. `counts` has, for
    seniority, department, country, industry and headcount, the number of people by value.
    """

    people: list[dict[str, Any]]
    total: int
    is_at_least: bool
    counts: dict[str, dict[str, int]]
    next_cursor: str | None


class _Found(NamedTuple):
    """A person who meets the criteria: what the order and the counts depend on."""

    id: str
    seniority: str | None
    last_key: str | None
    department: str | None
    country: str | None
    industry: str | None
    headcount: str | None

    @property
    def position(self) -> tuple[int, str, str]:
        """The place in the order: the most senior first."""
        return _RANKS.get(self.seniority or "", len(_RANKS)), self.last_key or "", self.id


class _Person(NamedTuple):
    """A person on a page."""

    id: str
    full_name: str | None
    title: str | None
    seniority: str | None
    department: str | None
    linkedin_url: str | None
    member_url: str | None
    city: str | None
    country: str | None


COUNTED = ("seniority", "department", "country", "industry", "headcount")


def search(
    session: Session,
    workspace_id: str,
    criteria: PeopleCriteria,
    *,
    limit: int,
    cursor: str | None = None,
    prices: Mapping[str, int],
) -> StoredPeople:
    """Return a page of the stored people who meet the criteria; `prices` are credits by kind of job.

    Suppressed people are left out, so a page may be shorter than its limit. Those whom the workspace excludes
    are marked, and nothing of them is available.

    Raises:
        InvalidValue: the text is not a cursor.

    """
    after = PageCursor.parse(cursor) if cursor else None
    met = sorted(_find(session, criteria), key=_position)
    found = met[:MAX_FOUND]
    behind = [
        one for one in found if after is None or one.position > (after.rank, after.name, after.contact_id)
    ]
    page, checked = behind[:limit], found if _must_check(session, found) else ()
    rows = _read(session, workspace_id, {one.id for one in (*page, *checked)})
    people = {id_: _Person._make(getattr(row, name) for name in _Person._fields) for id_, row in rows.items()}
    data = contact_data.load(session, workspace_id, list(people.values()))
    hidden = {id_ for id_, person in people.items() if data.is_suppressed(person)}
    hidden |= {one.id for one in (*page, *checked)} - people.keys()
    counted = [one for one in found if one.id not in hidden]
    last = page[-1].position if len(behind) > limit else None
    return StoredPeople(
        people=[_public(rows[one.id], people[one.id], data, prices) for one in page if one.id not in hidden],
        total=len(counted),
        is_at_least=len(met) > MAX_FOUND,
        counts={name: _count(counted, name) for name in COUNTED},
        next_cursor=PageCursor(*last).cursor() if last else None,
    )


def _position(found: _Found) -> tuple[int, str, str]:
    return found.position


def _must_check(session: Session, found: Sequence[_Found]) -> bool:
    """Return whether suppressed people are to be left out of the counts."""
    return 0 < len(found) <= MAX_CHECKED and session.scalar(select(Suppression.digest).limit(1)) is not None


def _count(found: Sequence[_Found], name: str) -> dict[str, int]:
    counts = Counter(getattr(one, name) for one in found)
    counts.pop(None, None)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_VALUES])


def _find(session: Session, criteria: PeopleCriteria) -> list[_Found]:
    """Return the people who meet the criteria, `MAX_FOUND` and one more at most."""
    own = [getattr(Contact, name) for name in _Found._fields[:5]]
    query = (
        select(*own, Company.industry, Company.headcount)
        .outerjoin(Company, Company.id == Contact.company_id)
        .where(_of_person(criteria), _of_company(criteria))
        .limit(MAX_FOUND + 1)
    )
    return [_Found._make(row) for row in session.execute(query)]


def _of_person(criteria: PeopleCriteria) -> ColumnElement[bool]:
    """Return the condition for the title, the seniority, the department and the country of a person."""
    titles = [and_(*map(_has_word, words)) for text in criteria.titles if (words := searched_words(text))]
    conditions = [
        *([or_(false(), *titles)] if criteria.titles else []),
        *_any_of(Contact.seniority, criteria.seniorities),
        *_any_of(Contact.department, criteria.departments),
        *_any_of(Contact.country, criteria.countries),
    ]
    return and_(true(), *conditions)


def _of_company(criteria: PeopleCriteria) -> ColumnElement[bool]:
    """Return the condition for the company of a person."""
    industries = [industry.lower() for industry in criteria.industries]
    conditions = [
        *_any_of(func.lower(Company.industry), industries),
        *_any_of(Company.headcount, criteria.headcounts),
    ]
    if criteria.company_domain is not None:
        conditions.append(Company.domain == criteria.company_domain)
    elif criteria.company_name is not None:
        conditions.append(Company.name_key == company_key(criteria.company_name))
    return and_(true(), *conditions)


def _any_of(column: Any, values: Collection[str]) -> list[ColumnElement[bool]]:  # noqa: ANN401 -- a column or a function
    return [column.in_(sorted(values))] if values else []


def _has_word(word: TitleWord) -> ColumnElement[bool]:
    end = "" if word.is_prefix else " "
    terms = and_(*(Contact.title_terms.like(f"% {term}{end}%") for term in word.terms))
    fields: tuple[tuple[InstrumentedAttribute[str | None], str | None], ...] = (
        (Contact.seniority, word.seniority),
        (Contact.department, word.department),
    )
    return or_(terms, *(column == value for column, value in fields if value))


def _read(session: Session, workspace_id: str, ids: Collection[str]) -> dict[str, Any]:
    """Return the people with their companies and the workspace's saved profiles, by id."""
    query: Select[Any] = (
        select(
            *(getattr(Contact, name) for name in _Person._fields),
            *(getattr(Company, name).label(f"company_{name}") for name in CompanyCard._fields),
            *(getattr(SavedProfile, name).label(f"saved_{name}") for name in SavedSummary._fields),
        )
        .outerjoin(Company, Company.id == Contact.company_id)
        .outerjoin(
            SavedProfile,
            and_(
                SavedProfile.workspace_id == bindparam("workspace_id"),
                SavedProfile.linkedin_url == Contact.linkedin_url,
            ),
        )
        .where(Contact.id.in_(bindparam("ids", expanding=True)))
    )
    rows = session.execute(query, {"workspace_id": workspace_id, "ids": sorted(ids)}) if ids else ()
    return {row.id: row for row in rows}


def _public(row: Any, person: _Person, data: ContactData, prices: Mapping[str, int]) -> dict[str, Any]:  # noqa: ANN401 -- a row of `_read`
    """Return the person as in a list of leads, with their location and their company."""
    excluded = data.exclusion_of(person)
    company = None
    if row.company_id is not None:
        company = CompanyCard._make(getattr(row, f"company_{name}") for name in CompanyCard._fields)
    saved = None
    if row.saved_id is not None:
        saved = SavedSummary._make(getattr(row, f"saved_{name}") for name in SavedSummary._fields)
    return {
        "contact_id": person.id,
        "full_name": person.full_name,
        "title": person.title,
        "seniority": person.seniority,
        "department": person.department,
        "linkedin_url": person.linkedin_url,
        "location": {"city": person.city, "country": person.country},
        "company": None if company is None else representations.company_card(company),
        "saved": None if saved is None else saved_profiles.summary(saved),
        "available": [] if excluded else representations.masked_fields(data, person.id, prices),
        "excluded": excluded and excluded.to_public(),
    }
