"""Lookups: the stored data of people visible to the workspace, without provider calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from app.domain.records.subjects import Subject
from app.domain.reverse_lookups import values_in
from app.engine.contacts.saved import saved_profiles
from app.engine.contacts.saved.saved_profiles import SavedSummary
from app.engine.contacts.stored_rows import StoredCompany, StoredContact
from app.engine.lookups import contact_data, lookup_parts, representations
from app.engine.lookups.contact_data import ContactData, Wanted
from app.engine.lookups.lookup_parts import CurrentCompany, Find, LookedUp, distinct
from app.engine.matching import contact_matching
from app.engine.matching.contact_matching import Candidate, Match
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.infra.grouping import ALONE, Grouped, Results

CONFIDENCE_DIGITS = 2
MAX_GROUP = 64


class Lookup(NamedTuple):
    """The people that a workspace looks up, for an admin or a member."""

    workspace_id: str
    subjects: Sequence[Subject]
    as_admin: bool = False


class Lookups:
    """Looks people up; those whom concurrent requests name by a profile or an id, in the same queries.

    `prices` are credits by kind of job. `slot` holds a slot for reading, for the workspace with this id,
    during its block. `finds` are the functions of features that add to the results.
    """

    def __init__(
        self,
        database: Database,
        prices: Mapping[str, int],
        slot: Callable[[str], AbstractContextManager[None]],
        finds: Sequence[Find] = (),
    ) -> None:
        self._database, self._prices, self._slot, self._finds = database, prices, slot, finds
        self._together = Grouped(self._look_up_all, name="lookup", size=MAX_GROUP)

    def look_up(
        self, workspace_id: str, subjects: Sequence[Subject], *, as_admin: bool = False
    ) -> list[dict[str, Any]]:
        """Return one result for each subject, in order, as the function `look_up` does."""
        lookup = Lookup(workspace_id, subjects, as_admin)
        return self._together(lookup) if _has_one_key(subjects) else self._look_up(lookup)

    def with_parts_of_leads(self, workspace_id: str, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return the page of leads with what features add to each of them now; one statement for the page."""
        people = [_as_looked_up(workspace_id, lead, found["company"]) for lead in found["leads"]]
        return {**found, "leads": self.with_parts(people, found["leads"])}

    def with_parts_of_people(
        self, workspace_id: str, people: Sequence[Mapping[str, Any]], *, as_admin: bool = False
    ) -> list[dict[str, Any]]:
        """Return stored people with what features add to each of them now; one statement for all."""
        shown = [
            _as_looked_up(workspace_id, person, person["company"] or {}, as_admin=as_admin)
            for person in people
        ]
        return self.with_parts(shown, people)

    def with_parts(
        self, people: Sequence[LookedUp], rows: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the rows of a workspace's people with what features add to each now, as to a lookup."""
        shown = [dict(row) for row in rows]
        if self._finds and shown:
            with self._slot(people[0].workspace_id), self._database.reading() as session:
                lookup_parts.add(session, self._finds, people, shown)
        return shown

    def _look_up_all(self, lookups: Sequence[Lookup]) -> Results[list[dict[str, Any]]]:
        if len(lookups) == 1:
            return [self._look_up(lookups[0])]
        with self._database.reading() as session:
            wanted = [(one.workspace_id, one.subjects[0]) for one in lookups]
            admins = [one.as_admin for one in lookups]
            results = look_up_by_key(session, wanted, prices=self._prices, finds=self._finds, admins=admins)
        return [ALONE if result is None else [result] for result in results]

    def _look_up(self, lookup: Lookup) -> list[dict[str, Any]]:
        with self._slot(lookup.workspace_id), self._database.reading() as session:
            return look_up(
                session,
                lookup.workspace_id,
                lookup.subjects,
                prices=self._prices,
                finds=self._finds,
                as_admin=lookup.as_admin,
            )


def _has_one_key(subjects: Sequence[Subject]) -> bool:
    """Return whether this is one person with a profile or an id, and without an address or a number."""
    one = subjects[0]
    return len(subjects) == 1 and bool(one.linkedin_url or one.contact_id) and not values_in(one)


def look_up(
    session: Session,
    workspace_id: str,
    subjects: Sequence[Subject],
    *,
    prices: Mapping[str, int],
    finds: Sequence[Find] = (),
    as_admin: bool = False,
) -> list[dict[str, Any]]:
    """Return one result for each subject, in order, for an admin or a member.

    `prices` are credits by kind of job. The caller has counted the addresses and numbers that the workspace
    tries (`reverse_lookups.admit`); those about which it is told nothing change nothing in the result. The
    number of queries does not depend on the number of subjects, except that each subject matched by name
    needs its own.
    """
    matches = contact_matching.find_many(session, subjects, workspace_id=workspace_id)
    wanted = _wanted(workspace_id, subjects, matches, as_admin=as_admin)
    (data,) = contact_data.load_all(session, [wanted])
    results = [_entry(subject, match, data, prices) for subject, match in zip(subjects, matches, strict=True)]
    people = [
        lookup_parts.of_match(workspace_id, match, data, is_barred=result["suppressed"], as_admin=as_admin)
        for match, result in zip(matches, results, strict=True)
    ]
    lookup_parts.add(session, finds, people, results)
    return results


def look_up_by_key(
    session: Session,
    wanted: Sequence[tuple[str, Subject]],
    *,
    prices: Mapping[str, int],
    finds: Sequence[Find] = (),
    admins: Sequence[bool] = (),
) -> list[dict[str, Any] | None]:
    """Return the result for each workspace and subject, or None for one that no profile or id leads to.

    `admins` says for each whether an admin reads it; without it, members do.
    The number of queries does not depend on the number of subjects. None of them has an address or a number.
    """
    matches = contact_matching.find_by_keys(session, [subject for _workspace_id, subject in wanted])
    readers = zip(wanted, matches, admins or [False] * len(wanted), strict=True)
    matched = [one for one in readers if one[1].outcome == "matched"]
    found = [(reader, subject, match) for (reader, subject), match, _as_admin in matched]
    loaded = contact_data.load_all(
        session,
        [_wanted(reader, [one], [match], as_admin=as_admin) for (reader, one), match, as_admin in matched],
    )
    results = [
        _entry(one, match, data, prices) for (_reader, one, match), data in zip(found, loaded, strict=True)
    ]
    people = [
        lookup_parts.of_match(reader, match, data, is_barred=result["suppressed"], as_admin=as_admin)
        for ((reader, _one), match, as_admin), data, result in zip(matched, loaded, results, strict=True)
    ]
    lookup_parts.add(session, finds, people, results)
    answers = iter(results)
    return [next(answers) if match.outcome == "matched" else None for match in matches]


def _wanted(
    workspace_id: str, subjects: Sequence[Subject], matches: Sequence[Match], *, as_admin: bool
) -> Wanted:
    people = _people(matches)
    return Wanted(
        workspace_id,
        people,
        subjects=[match.subject for match in matches],
        asked=subjects,
        saved_urls=[url for match in matches for url in _urls(match)],
        same_people=[match.remembered for match in matches],
        employers=contact_data.employers_of(
            people, (company for match in matches for company in match.companies)
        ),
        as_admin=as_admin,
    )


def _entry(subject: Subject, match: Match, data: ContactData, prices: Mapping[str, int]) -> dict[str, Any]:
    result = _result(match, data, prices) | {"saved": _saved(match, data.saved)}
    people = match.remembered or ((match.contact,) if match.contact else ())
    excluded = None if result["suppressed"] else data.exclusion_of_any(people, subject)
    if excluded is None:
        return result | {"excluded": None}
    return result | {"available": [], "excluded": excluded.to_public()}


def _as_looked_up(
    workspace_id: str, lead: Mapping[str, Any], company: Mapping[str, Any], *, as_admin: bool = False
) -> LookedUp:
    """Return the person of a list, who is known by what is shown for free; `company` may be empty."""
    return LookedUp(
        workspace_id=workspace_id,
        profiles=distinct(lead["linkedin_url"]),
        name=lead["full_name"] or "",
        companies=distinct(company.get("name")),
        domains=distinct(company.get("domain")),
        current_company=CurrentCompany(company["name"], company["domain"]) if company else None,
        as_admin=as_admin,
    )


def _result(match: Match, data: ContactData, prices: Mapping[str, int]) -> dict[str, Any]:
    people = match.remembered or (match.contact,)
    suppressed = any(data.is_suppressed(contact, match.subject) for contact in people)
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


def _saved(match: Match, saved: Mapping[str, SavedSummary]) -> dict[str, Any] | None:
    for url in _urls(match):
        if url in saved:
            return saved_profiles.summary(saved[url])
    return None


def _urls(match: Match) -> list[str]:
    stored = match.contact.linkedin_url if match.contact else None
    return [url for url in (match.subject.linkedin_url, stored) if url]


def _people(matches: Sequence[Match]) -> list[StoredContact]:
    matched = [match.contact for match in matches if match.contact is not None and not match.remembered]
    matched += [contact for match in matches for contact in match.remembered]
    return matched + [candidate.contact for match in matches for candidate in match.candidates]
