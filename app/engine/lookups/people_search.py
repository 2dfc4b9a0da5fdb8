"""Search for stored people by title, seniority, department, company and country, free and masked.

A search finds at most a thousand people who meet the criteria (`people_finder`), and sorts and counts these.
So its time is bounded, however many people are stored; a search for more is to be narrowed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, bindparam, select

from app.domain.errors import InvalidValue
from app.domain.ids import is_id
from app.domain.messages import Message
from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved import saved_profiles
from app.engine.contacts.saved.saved_profiles import SavedProfile, SavedSummary
from app.engine.contacts.stored_rows import CompanyCard
from app.engine.contacts.suppressions.suppressions import Suppression
from app.engine.lookups import contact_data, people_finder, representations
from app.engine.lookups.contact_data import ContactData
from app.engine.lookups.people_finder import Found, Position, position
from app.infra.database.session import Session

MAX_CHECKED = 500
"""Suppressed people are left out of the counts if at most so many are found."""
NO_CURSOR = Message(
    "Send next_cursor of the previous page. If its last person is gone, start with the first page."
)
MAX_VALUES = 20
"""The values of each field that are counted, the most frequent ones."""
COUNTED = ("seniority", "department", "country", "industry", "headcount")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPeople:
    """A page of the people who meet the criteria, most senior first, as a list of leads has them.

    Each also has their location, their company and, in full, the values that the workspace owns. `total` and
    `counts` are of all pages; if `is_at_least`, more people meet the criteria than are on all pages, about
    `estimate`, if that is known. `counts` has the number of people by value, for each name in `COUNTED`.
    """

    people: list[dict[str, Any]]
    total: int
    is_at_least: bool
    estimate: int | None
    counts: dict[str, dict[str, int]]
    next_cursor: str | None


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


def search(
    session: Session,
    workspace_id: str,
    criteria: PeopleCriteria,
    *,
    limit: int,
    cursor: str | None = None,
    prices: Mapping[str, int],
    as_admin: bool = False,
) -> StoredPeople:
    """Return a page of the stored people who meet the criteria; `prices` are credits by kind of job.

    Suppressed people are left out, so a page may be shorter than its limit. Those whom the workspace excludes
    are marked, and nothing of them is available.

    Raises:
        InvalidValue: the text is not a cursor, or the last person of the previous page was erased.

    """
    finding = people_finder.find(session, criteria)
    found = finding.people
    after = _position_of(session, cursor) if cursor else None
    behind = [one for one in found if after is None or one.position > after]
    page, checked = behind[:limit], found if _must_check(session, found) else ()
    rows = _read(session, workspace_id, {one.id for one in (*page, *checked)})
    people = {id_: _person(row) for id_, row in rows.items()}
    data = contact_data.load(session, workspace_id, list(people.values()), as_admin=as_admin)
    hidden = {id_ for id_, person in people.items() if data.is_suppressed(person)}
    hidden |= {one.id for one in (*page, *checked)} - people.keys()
    counted = [one for one in found if one.id not in hidden] if checked else found
    return StoredPeople(
        people=[_public(rows[one.id], people[one.id], data, prices) for one in page if one.id not in hidden],
        total=len(counted),
        is_at_least=finding.is_at_least,
        estimate=finding.estimate,
        counts={name: _count(counted, name) for name in COUNTED},
        next_cursor=page[-1].id if len(behind) > limit else None,
    )


def by_ids(
    session: Session, workspace_id: str, contact_ids: Sequence[str], *, prices: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the people with these ids as `search` does, in this order, without the suppressed."""
    rows = _read(session, workspace_id, set(contact_ids))
    people = {id_: _person(row) for id_, row in rows.items()}
    data = contact_data.load(session, workspace_id, list(people.values()))
    return [
        _public(rows[id_], people[id_], data, prices)
        for id_ in contact_ids
        if id_ in people and not data.is_suppressed(people[id_])
    ]


def _position_of(session: Session, cursor: str) -> Position:
    """Return the place of the last person of a page: a cursor is an id, so that no URL contains a name."""
    columns = (Contact.seniority, Contact.last_key)
    row = (
        session.execute(select(*columns).where(Contact.id == cursor)).first()
        if is_id(cursor, "con")
        else None
    )
    if row is None:
        raise InvalidValue(NO_CURSOR)
    return position(row.seniority, row.last_key, cursor)


def _must_check(session: Session, found: Sequence[Found]) -> bool:
    """Return whether suppressed people are to be left out of the counts."""
    return 0 < len(found) <= MAX_CHECKED and session.scalar(select(Suppression.digest).limit(1)) is not None


def _count(found: Sequence[Found], name: str) -> dict[str, int]:
    counts = Counter(getattr(one, name) for one in found)
    counts.pop(None, None)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_VALUES])


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


def _person(row: Any) -> _Person:  # noqa: ANN401 -- a row of `_read`
    return _Person._make(getattr(row, name) for name in _Person._fields)


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
        "revealed": representations.revealed(data, person.id),
        "available": [] if excluded else representations.masked_fields(data, person.id, prices),
        "excluded": excluded and excluded.to_public(),
    }
