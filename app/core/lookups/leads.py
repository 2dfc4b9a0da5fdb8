"""Leads: the known people of a website's company, looked up by the hash of the website (contract 2.10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.core.contacts import saved_profiles
from app.core.contacts.contacts import Contact
from app.core.contacts.saved_profiles import SavedRow
from app.core.lookups import company_hashes, company_people, contact_data, representations
from app.core.lookups.company_hashes import HashKind
from app.core.lookups.company_people import Filter, PageCursor
from app.core.lookups.contact_data import ContactData


def by_website_hash(
    session: Session, workspace_id: str, request: Mapping[str, Any], *, prices: Mapping[str, int]
) -> dict[str, Any] | None:
    """Return a page of people of the first known company in `request["hashes"]`, or None.

    `request` also has department, seniority, has, limit and cursor, validated by the view. A page may be
    shorter than its limit, because suppressed people are removed from it.
    """
    match = company_hashes.first_known(session, HashKind.WEBSITE, request["hashes"])
    if match is None:
        return None
    matched, company = match
    criteria = Filter(
        company_id=company.id,
        department=request.get("department"),
        seniority=request.get("seniority"),
        has=request.get("has") or (),
    )
    cursor = request.get("cursor")
    people, next_cursor = company_people.page(
        session, criteria, limit=request["limit"], after=PageCursor.parse(cursor) if cursor else None
    )
    counts = company_people.by_department(session, workspace_id, criteria)
    return {
        "matched_hash": matched,
        "company": representations.company_card(company),
        "total": sum(counts.values()) if criteria.department is None else counts.get(criteria.department, 0),
        "by_department": {name: count for name, count in counts.items() if name is not None},
        "email_pattern": company_hashes.email_pattern(session, company),
        "leads": _leads(session, workspace_id, people, prices),
        "next_cursor": None if next_cursor is None else next_cursor.cursor(),
    }


def _leads(
    session: Session, workspace_id: str, people: Sequence[Contact], prices: Mapping[str, int]
) -> list[dict[str, Any]]:
    stored = contact_data.load(session, workspace_id, people)
    urls = [contact.linkedin_url for contact in people if contact.linkedin_url]
    saved = saved_profiles.by_url(session, workspace_id, urls)
    return [_lead(contact, stored, saved, prices) for contact in people if not stored.is_suppressed(contact)]


def _lead(
    contact: Contact, stored: ContactData, saved: Mapping[str, SavedRow], prices: Mapping[str, int]
) -> dict[str, Any]:
    profile = saved.get(contact.linkedin_url or "")
    return {
        "contact_id": contact.id,
        "full_name": contact.full_name,
        "title": contact.title,
        "seniority": contact.seniority,
        "department": contact.department,
        "linkedin_url": contact.linkedin_url,
        "saved": None if profile is None else saved_profiles.summary(profile),
        "available": representations.masked_fields(stored, contact.id, prices),
    }
