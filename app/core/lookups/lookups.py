"""Lookups: what a workspace may see of the people it names, without asking anybody (contract 2.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.core.contacts import saved_profiles
from app.core.contacts.companies import Company
from app.core.contacts.contacts import Contact
from app.core.contacts.saved_profiles import SavedRow
from app.core.lookups import contact_data, representations
from app.core.lookups.contact_data import ContactData
from app.core.matching import contact_matching
from app.core.matching.contact_matching import Candidate, Match
from app.domain.records.subjects import Subject

CONFIDENCE_DIGITS = 2


def look_up(
    session: Session, workspace_id: str, subjects: Sequence[Subject], *, prices: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Answer each subject, in order; the number of queries does not depend on how many there are.

    `prices` are credits by kind of job. Only subjects that have to be found by name cost queries each.
    """
    found = contact_matching.find_many(session, subjects, workspace_id=workspace_id)
    held = contact_data.load(session, workspace_id, _people(found), subjects)
    urls = [url for subject, match in zip(subjects, found, strict=True) for url in _urls(subject, match)]
    saved = saved_profiles.by_url(session, workspace_id, urls)
    return [
        _answer(subject, match, held, prices) | {"saved": _saved(subject, match, saved)}
        for subject, match in zip(subjects, found, strict=True)
    ]


def _answer(subject: Subject, match: Match, held: ContactData, prices: Mapping[str, int]) -> dict[str, Any]:
    people = match.remembered or (match.contact,)
    suppressed = any(held.is_suppressed(contact, subject) for contact in people)
    shown = [one for one in match.candidates if not held.is_suppressed(one.contact)]
    if suppressed or (match.candidates and not shown):
        company = match.company if match.contact is None else None
        return _none(company, suppressed=True)
    if match.contact is not None:
        return _matched(match, match.contact, held, prices)
    if shown:
        return _none(None, suppressed=False) | {
            "outcome": "ambiguous",
            "match": _match(match.confidence, match.matched_on),
            "candidates": [_candidate(one) for one in shown],
        }
    return _none(match.company, suppressed=False)


def _matched(match: Match, contact: Contact, held: ContactData, prices: Mapping[str, int]) -> dict[str, Any]:
    return {
        "outcome": "matched",
        "match": _match(match.confidence, match.matched_on),
        "candidates": [],
        "contact": representations.contact_card(contact),
        "company": _company(match.company),
        **_values(match, contact, held, prices),
        "suppressed": False,
    }


def _values(match: Match, contact: Contact, held: ContactData, prices: Mapping[str, int]) -> dict[str, Any]:
    """Return what can be had of the person and what is owned, of all contacts that are remembered."""
    if len(match.remembered) <= 1:
        return {
            "available": representations.masked_fields(held, contact.id, prices),
            "revealed": representations.revealed(held, contact.id),
        }
    available = [
        entry for one in match.remembered for entry in representations.masked_fields(held, one.id, prices)
    ]
    revealed = [representations.revealed(held, one.id) for one in match.remembered]
    best = {(entry["field"], entry["type"], entry["masked"]): entry for entry in reversed(available)}
    return {
        "available": list(reversed(best.values())),
        "revealed": {
            name: list({str(value): value for one in revealed for value in one[name]}.values())
            for name in ("emails", "phones")
        },
    }


def _none(company: Company | None, *, suppressed: bool) -> dict[str, Any]:
    return {
        "outcome": "none",
        "match": _match(0.0, ()),
        "candidates": [],
        "contact": None,
        "company": _company(company),
        "available": [],
        "revealed": {"emails": [], "phones": []},
        "suppressed": suppressed,
    }


def _match(confidence: float, matched_on: Sequence[str]) -> dict[str, Any]:
    return {"confidence": round(confidence, CONFIDENCE_DIGITS), "matched_on": list(matched_on)}


def _candidate(one: Candidate) -> dict[str, Any]:
    return {
        "confidence": round(one.confidence, CONFIDENCE_DIGITS),
        "contact": representations.contact_card(one.contact),
        "company": _company(one.company),
    }


def _company(company: Company | None) -> dict[str, Any] | None:
    return None if company is None else representations.company_card(company)


def _saved(subject: Subject, match: Match, saved: Mapping[str, SavedRow]) -> dict[str, Any] | None:
    for url in _urls(subject, match):
        if url in saved:
            return saved_profiles.summary(saved[url])
    return None


def _urls(subject: Subject, match: Match) -> list[str]:
    stored = match.contact.linkedin_url if match.contact else None
    return [url for url in (subject.linkedin_url, stored) if url]


def _people(found: Sequence[Match]) -> list[Contact]:
    matched = [match.contact for match in found if match.contact is not None and not match.remembered]
    matched += [contact for match in found for contact in match.remembered]
    return matched + [one.contact for match in found for one in match.candidates]
