"""People as a search shows them: masked, as of now, to the workspace that reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, select

from app.domain.people_criteria import PeopleCriteria
from app.engine.contacts.contacts import Contact
from app.engine.lookups import contact_data, people_search, representations
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


SHOWN = (
    *("contact_id", "full_name", "title", "seniority", "department", "linkedin_url", "location"),
    *("available", "excluded"),
)
_COLUMNS = [getattr(Contact, name) for name in _Person._fields]


def stored(
    session: Session, workspace_id: str, criteria: PeopleCriteria, *, limit: int, prices: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the stored people of the company who meet the criteria, most senior first; it is free."""
    found = people_search.search(session, workspace_id, criteria, limit=limit, prices=prices)
    return [{name: person[name] for name in SHOWN} for person in found.people]


def by_ids(
    session: Session, workspace_id: str, contact_ids: Sequence[str], *, prices: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the people with these ids, in this order, without those who are suppressed or deleted now."""
    if not contact_ids:
        return []
    query = select(*_COLUMNS).where(Contact.id.in_(contact_ids))
    rows = {row["contact_id"]: row for row in _shown(session, workspace_id, query, prices)}
    return [rows[contact_id] for contact_id in contact_ids if contact_id in rows]


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
