"""People as a search shows them: masked, as of now, to the workspace that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts.contacts import Contact
from app.engine.contacts.stored_rows import StoredCompany
from app.engine.lookups import company_people, contact_data, representations
from app.infra.database.session import Session


class _Person(NamedTuple):
    """The columns of a person that a search shows."""

    id: str
    full_name: str | None
    title: str | None
    seniority: str | None
    department: str | None
    linkedin_url: str | None
    member_url: str | None
    city: str | None
    country: str | None


_COLUMNS = [getattr(Contact, name) for name in _Person._fields]


def stored(
    session: Session,
    workspace_id: str,
    company: StoredCompany,
    criteria: PeopleCriteria,
    *,
    limit: int,
    prices: Mapping[str, int],
) -> list[dict[str, Any]]:
    """Return the stored people of the company who meet the criteria, most senior first; it is free."""
    query = select(*_COLUMNS).where(Contact.company_id == company.id, *_conditions(criteria))
    query = query.order_by(*company_people.ORDER).limit(limit)
    return _shown(session, workspace_id, query, prices)


def by_ids(
    session: Session, workspace_id: str, contact_ids: Sequence[str], *, prices: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the people with these ids, in this order, without those who are suppressed or deleted now."""
    if not contact_ids:
        return []
    query = select(*_COLUMNS).where(Contact.id.in_(contact_ids))
    rows = {row["contact_id"]: row for row in _shown(session, workspace_id, query, prices)}
    return [rows[contact_id] for contact_id in contact_ids if contact_id in rows]


def _conditions(criteria: PeopleCriteria) -> list[ColumnElement[bool]]:
    lists = {
        Contact.seniority: criteria.seniorities,
        Contact.department: criteria.departments,
        Contact.country: criteria.countries,
    }
    conditions: list[ColumnElement[bool]] = [column.in_(values) for column, values in lists.items() if values]
    if criteria.titles:
        conditions.append(or_(*map(_has_words, criteria.titles)))
    return conditions


def _has_words(title: str) -> ColumnElement[bool]:
    words = (func.lower(Contact.title).contains(word, autoescape=True) for word in title.split())
    return and_(*words)


def _shown(
    session: Session, workspace_id: str, query: Select[Any], prices: Mapping[str, int]
) -> list[dict[str, Any]]:
    people = [_Person._make(row) for row in session.execute(query)]
    data = contact_data.load(session, workspace_id, people)
    rows = []
    for person in people:
        if data.is_suppressed(person):
            continue
        excluded = data.exclusion_of(person)
        fields = representations.masked_fields(data, person.id, prices)
        rows.append(
            {
                "contact_id": person.id,
                "full_name": person.full_name,
                "title": person.title,
                "seniority": person.seniority,
                "department": person.department,
                "linkedin_url": person.linkedin_url,
                "location": {"city": person.city, "country": person.country},
                "available": [] if excluded else fields,
                "excluded": excluded and excluded.to_public(),
            }
        )
    return rows
