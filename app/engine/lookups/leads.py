"""Leads: the known people of a website's company, looked up by the hash of the website."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Row, ScalarSelect, Select, Subquery, and_, bindparam, select, true, tuple_

from app.engine.contacts.contacts import Contact
from app.engine.contacts.saved import saved_profiles
from app.engine.contacts.saved.saved_profiles import SavedProfile, SavedSummary
from app.engine.lookups import company_overviews, company_people, contact_data, representations
from app.engine.lookups.company_overviews import HashKind
from app.engine.lookups.company_people import Filter, PageCursor
from app.engine.lookups.contact_data import ContactData
from app.infra.database.session import Session


class _Lead(NamedTuple):
    """A person of the company."""

    id: str
    full_name: str | None
    title: str | None
    seniority: str | None
    department: str | None
    linkedin_url: str | None
    member_url: str | None


def by_website_hash(
    session: Session, workspace_id: str, request: Mapping[str, Any], *, prices: Mapping[str, int]
) -> dict[str, Any] | None:
    """Return a page of people of the first known company in `request["hashes"]`, or None.

    `request` also has department, seniority, has, limit and cursor, validated by the view. A page may be
    shorter than its limit, because suppressed people are removed from it.
    """
    hashes, limit, cursor = request["hashes"], request["limit"], request.get("cursor")
    criteria = Filter(
        department=request.get("department"),
        seniority=request.get("seniority"),
        has=frozenset(request.get("has") or ()),
        rules=session.settings.regional_rules,
    )
    values = {"workspace_id": workspace_id, "limit": limit + 1} | company_overviews.values(hashes)
    if cursor:
        after = PageCursor.parse(cursor)
        values |= {"rank": after.rank, "name": after.name, "contact_id": after.contact_id}
    statement = _statement(len(hashes), criteria, is_first=not cursor)
    rows = session.execute(statement, values).all()
    if not rows:
        return None
    overview = company_overviews.overview(rows[0])
    page = [row for row in rows[:limit] if row.lead_id is not None]
    people = [_Lead._make(getattr(row, f"lead_{name}") for name in _Lead._fields) for row in page]
    stored = contact_data.load(session, workspace_id, [*people, *overview.unchecked])
    counts = overview.count_people(session, criteria, stored)
    return {
        "matched_hash": overview.matched_hash,
        "company": representations.company_card(overview.company),
        "total": sum(counts.values()) if criteria.department is None else counts.get(criteria.department, 0),
        "by_department": {name: count for name, count in counts.items() if name is not None},
        "email_pattern": overview.email_pattern,
        "leads": [
            _lead(contact, stored, _saved(row), prices)
            for contact, row in zip(people, page, strict=True)
            if not stored.is_suppressed(contact)
        ],
        "next_cursor": _next_cursor(rows, limit),
    }


@lru_cache(maxsize=256)
def _statement(hashes: int, criteria: Filter, *, is_first: bool) -> Select[Any]:
    """Return the statement for the company and a page of its people, each with the saved profile."""
    found = company_overviews.found(HashKind.WEBSITE, hashes, criteria)
    company_id = select(found.c.company_id).scalar_subquery()
    people = _page(company_id, criteria, is_first=is_first)
    order = (people.c.lead_rank, people.c.lead_last_name, people.c.lead_id)
    return select(found, people).outerjoin_from(found, people, true()).order_by(*order)


def _page(company_id: ScalarSelect[str], criteria: Filter, *, is_first: bool) -> Subquery:
    saved = and_(
        SavedProfile.workspace_id == bindparam("workspace_id"),
        SavedProfile.linkedin_url == Contact.linkedin_url,
    )
    query = (
        select(
            *(getattr(Contact, name).label(f"lead_{name}") for name in _Lead._fields),
            company_people.RANK.label("lead_rank"),
            company_people.LAST_NAME.label("lead_last_name"),
            *(getattr(SavedProfile, name).label(f"saved_{name}") for name in SavedSummary._fields),
        )
        .outerjoin(SavedProfile, saved)
        .where(criteria.conditions(company_id))
        .order_by(*company_people.ORDER)
        .limit(bindparam("limit"))
    )
    if not is_first:
        after = tuple_(bindparam("rank"), bindparam("name"), bindparam("contact_id"))
        query = query.where(tuple_(*company_people.ORDER) > after)
    return query.subquery("people")


def _next_cursor(rows: Sequence[Row[Any]], limit: int) -> str | None:
    if len(rows) <= limit:
        return None
    last = rows[limit - 1]
    return PageCursor(last.lead_rank, last.lead_last_name, last.lead_id).cursor()


def _saved(row: Row[Any]) -> SavedSummary | None:
    if row.saved_id is None:
        return None
    return SavedSummary._make(getattr(row, f"saved_{name}") for name in SavedSummary._fields)


def _lead(
    contact: _Lead, stored: ContactData, saved: SavedSummary | None, prices: Mapping[str, int]
) -> dict[str, Any]:
    excluded = stored.exclusion_of(contact)
    return {
        "contact_id": contact.id,
        "full_name": contact.full_name,
        "title": contact.title,
        "seniority": contact.seniority,
        "department": contact.department,
        "linkedin_url": contact.linkedin_url,
        "saved": None if saved is None else saved_profiles.summary(saved),
        "available": [] if excluded else representations.masked_fields(stored, contact.id, prices),
        "excluded": excluded and excluded.to_public(),
    }
