"""Lookups: the stored data of people visible to the workspace, without provider calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.records.subjects import Subject
from app.engine.contacts.saved import saved_profiles
from app.engine.contacts.saved.saved_profiles import SavedSummary
from app.engine.contacts.stored_rows import StoredCompany, StoredContact
from app.engine.lookups import contact_data, representations
from app.engine.lookups.contact_data import ContactData
from app.engine.matching import contact_matching
from app.engine.matching.contact_matching import Candidate, Match
from app.infra.database.session import Session

CONFIDENCE_DIGITS = 2


def look_up(
    session: Session, workspace_id: str, subjects: Sequence[Subject], *, prices: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return one result for each subject, in order.

    `prices` are credits by kind of job. The caller has counted the addresses and numbers that the workspace
    tries (`reverse_lookups.admit`); those about which it is told nothing change nothing in the result. The
    number of queries does not depend on the number of subjects, except that each subject matched by name
    needs its own.
    """
    matches = contact_matching.find_many(session, subjects, workspace_id=workspace_id)
    subjects = [match.subject for match in matches]
    urls = [url for subject, match in zip(subjects, matches, strict=True) for url in _urls(subject, match)]
    people = _people(matches)
    data = contact_data.load(
        session,
        workspace_id,
        people,
        subjects,
        saved_urls=urls,
        same_people=[match.remembered for match in matches],
        employers=contact_data.employers_of(
            people, (company for match in matches for company in match.companies)
        ),
    )
    return [
        _result(subject, match, data, prices) | {"saved": _saved(subject, match, data.saved)}
        for subject, match in zip(subjects, matches, strict=True)
    ]


def _result(subject: Subject, match: Match, data: ContactData, prices: Mapping[str, int]) -> dict[str, Any]:
    people = match.remembered or (match.contact,)
    suppressed = any(data.is_suppressed(contact, subject) for contact in people)
    candidates = [candidate for candidate in match.candidates if not data.is_suppressed(candidate.contact)]
    if suppressed or (match.candidates and not candidates):
        company = match.company if match.contact is None else None
        return _no_match(company, suppressed=True)
    if match.contact is not None:
        return _matched(match, match.contact, data, prices)
    if candidates:
        return _no_match(None, suppressed=False) | {
            "outcome": "ambiguous",
            "match": _match(match.confidence, match.matched_on),
            "candidates": [_candidate(candidate) for candidate in candidates],
        }
    return _no_match(match.company, suppressed=False)


def _matched(
    match: Match, contact: StoredContact, data: ContactData, prices: Mapping[str, int]
) -> dict[str, Any]:
    return {
        "outcome": "matched",
        "match": _match(match.confidence, match.matched_on),
        "candidates": [],
        "contact": representations.contact_card(contact),
        "company": _company(match.company),
        **_values(match, contact, data, prices),
        "suppressed": False,
    }


def _values(
    match: Match, contact: StoredContact, data: ContactData, prices: Mapping[str, int]
) -> dict[str, Any]:
    """Return the available and the revealed values of the person, merged over all remembered contacts."""
    if len(match.remembered) <= 1:
        return {
            "available": representations.masked_fields(data, contact.id, prices),
            "revealed": representations.revealed(data, contact.id),
        }
    available = [
        entry
        for person in match.remembered
        for entry in representations.masked_fields(data, person.id, prices)
    ]
    revealed = [representations.revealed(data, person.id) for person in match.remembered]
    best = {(entry["field"], entry["type"], entry["masked"]): entry for entry in reversed(available)}
    return {
        "available": list(reversed(best.values())),
        "revealed": {
            name: list({str(value): value for values in revealed for value in values[name]}.values())
            for name in ("emails", "phones")
        },
    }


def _no_match(company: StoredCompany | None, *, suppressed: bool) -> dict[str, Any]:
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


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "confidence": round(candidate.confidence, CONFIDENCE_DIGITS),
        "contact": representations.contact_card(candidate.contact),
        "company": _company(candidate.company),
    }


def _company(company: StoredCompany | None) -> dict[str, Any] | None:
    return None if company is None else representations.company_card(company)


def _saved(subject: Subject, match: Match, saved: Mapping[str, SavedSummary]) -> dict[str, Any] | None:
    for url in _urls(subject, match):
        if url in saved:
            return saved_profiles.summary(saved[url])
    return None


def _urls(subject: Subject, match: Match) -> list[str]:
    stored = match.contact.linkedin_url if match.contact else None
    return [url for url in (subject.linkedin_url, stored) if url]


def _people(matches: Sequence[Match]) -> list[StoredContact]:
    matched = [match.contact for match in matches if match.contact is not None and not match.remembered]
    matched += [contact for match in matches for contact in match.remembered]
    return matched + [candidate.contact for match in matches for candidate in match.candidates]
