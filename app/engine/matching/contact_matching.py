"""Matches subjects to stored contacts, with a confidence and the matching fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.domain.errors import InvalidValue
from app.domain.normal.names import names
from app.domain.normal.names.names import PersonName
from app.domain.records.profile_links import are_two_people, urls_of
from app.domain.records.shared_identifiers import are_other_people
from app.domain.records.similarity import similarity
from app.domain.records.similarity.company_similarity import company_score
from app.domain.records.similarity.name_similarity import name_score
from app.domain.records.subjects import Subject
from app.engine.contacts.contacts import parsed_name
from app.engine.contacts.stored_rows import StoredCompany, StoredContact
from app.engine.matching import caller_identifiers, candidates, near_names, reverse_lookups
from app.engine.matching.candidates import KEYS, ContactRow
from app.engine.matching.company_candidates import CandidateCompany, candidate_companies
from app.infra.database.session import Session

Outcome: TypeAlias = Literal["matched", "ambiguous", "none"]

MAX_CANDIDATES = 5
_KINDS: dict[Outcome, tuple[str, ...]] = {
    "none": caller_identifiers.KINDS,
    "ambiguous": (caller_identifiers.WORDS,),
}
"""The kinds of caller identifiers to search by outcome; an ambiguous subject only matches as a whole."""
_NOBODY = Subject()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A contact that may match the subject; `confidence` is 0 to 1."""

    confidence: float
    matched_on: tuple[str, ...]
    contact: StoredContact
    company: StoredCompany | None


@dataclass(frozen=True, slots=True)
class Match:
    """The result of matching a subject. `company` is the contact's or, without one, the subject's.

    `remembered` are the contacts that the workspace received earlier for the same subject, `contact` first;
    the caller's identifiers are not stored with them. `subject` is the one that was searched for: without the
    values about which the workspace is told nothing (`reverse_lookups`).
    """

    outcome: Outcome
    confidence: float = 0.0
    matched_on: tuple[str, ...] = ()
    contact: StoredContact | None = None
    company: StoredCompany | None = None
    candidates: tuple[Candidate, ...] = ()
    remembered: tuple[StoredContact, ...] = ()
    subject: Subject = _NOBODY

    @property
    def companies(self) -> list[StoredCompany]:
        """The companies that were read with the contacts."""
        read = (self.company, *(candidate.company for candidate in self.candidates))
        return [company for company in read if company is not None]


def find(
    session: Session, subject: Subject, *, workspace_id: str | None = None, is_sale: bool = False
) -> Match:
    """Return the match of the subject, as `find_many` does; an unknown `contact_id` matches no contact."""
    return find_many(session, [subject], workspace_id=workspace_id, is_sale=is_sale)[0]


def find_many(
    session: Session,
    subjects: Sequence[Subject],
    *,
    workspace_id: str | None = None,
    is_sale: bool = False,
) -> list[Match]:
    """Return the match of each subject, in order; exact keys and companies are queried for all at once.

    The contacts' own keys are tried first, then the identifiers by which the given workspace requested a
    contact before, then the name at a company. An address or a number about which the workspace is told
    nothing leads to no contact, unless the answer `is_sale`, which is paid for.
    """
    given = subjects
    if workspace_id is not None and not is_sale:
        subjects = reverse_lookups.visible(session, workspace_id, given)
    matches = find_by_keys(session, subjects)
    if workspace_id is not None and any(match.outcome != "matched" for match in matches):
        matches = _or_remembered(session, workspace_id, given, matches)
    missed = [subject for subject, match in zip(subjects, matches, strict=True) if match.outcome == "none"]
    employers = candidate_companies(session, missed) if missed else {}
    return [
        replace(
            _by_name(session, subject, employers.get(subject, ())) if match.outcome == "none" else match,
            subject=subject,
        )
        for subject, match in zip(subjects, matches, strict=True)
    ]


def find_by_keys(session: Session, subjects: Sequence[Subject]) -> list[Match]:
    """Return the match of each subject by the contacts' own keys, in one query per kind of key."""
    return [
        replace(_by_keys(subject, people), subject=subject)
        for subject, people in zip(subjects, candidates.by_keys(session, subjects), strict=True)
    ]


def _by_keys(subject: Subject, people_by_key: Mapping[str, tuple[ContactRow, ...]]) -> Match:
    """Match by the strongest key; a weaker key counts if it leads to one of the same people."""
    people: tuple[ContactRow, ...] = ()
    keys: list[str] = []
    for key in KEYS:
        hits = {person.contact.id for person in people_by_key.get(key, ())}
        common = tuple(person for person in people if person.contact.id in hits)
        if hits and (common or not people):
            people = common or people_by_key[key]
            keys.append(key)
    if not people or (subject.contact_id and "contact_id" not in keys):
        return Match("none")
    name = _name(subject)
    scored = [_score(subject, name, person, tuple(keys)) for person in people]
    if not similarity.CERTAIN.intersection(keys):
        return _decide(scored)
    if keys == ["linkedin_url"] and _is_doubtful(name, people[0].contact):
        return _decide([_doubted(scored[0])])
    return _matched(scored[0])


def _is_doubtful(name: PersonName | None, contact: StoredContact) -> bool:
    """Return whether the profile alone does not show whose it is: several people have it, or another name."""
    stored = parsed_name(contact) if contact.full_name else None
    if name is None or stored is None:
        return contact.linkedin_shared
    return are_other_people(stored, name)


def _doubted(candidate: Candidate) -> Candidate:
    return replace(candidate, confidence=round(candidate.confidence * similarity.SHORTENED, 4))


def _or_remembered(
    session: Session, workspace_id: str, subjects: Sequence[Subject], matches: Sequence[Match]
) -> list[Match]:
    """Replace failed matches by the contacts that the workspace received for the same identifiers."""
    unmatched = {
        index: (subjects[index], _KINDS[match.outcome])
        for index, match in enumerate(matches)
        if match.outcome != "matched" and subjects[index].contact_id is None
    }
    remembered = caller_identifiers.find(session, workspace_id, list(unmatched.values()))
    people = candidates.by_ids(session, {contact_id for _kind, ids in remembered for contact_id in ids})
    result = list(matches)
    for index, (kind, ids) in zip(unmatched, remembered, strict=True):
        if contacts := [people[contact_id] for contact_id in ids if contact_id in people]:
            result[index] = _remembered(kind, contacts)
    return result


def _remembered(kind: str, people: Sequence[ContactRow]) -> Match:
    confidence = similarity.EXACT.get(kind, similarity.BY_NAME["company_domain"])
    return Match(
        "matched",
        confidence,
        (kind,) if kind in similarity.EXACT else ("full_name",),
        people[0].contact,
        people[0].company,
        remembered=tuple(person.contact for person in people),
    )


def _by_name(session: Session, subject: Subject, employers: Sequence[CandidateCompany]) -> Match:
    """Match by the subject's name among the people of the candidate companies."""
    company = employers[0].company if employers else None
    name = _name(subject)
    if subject.contact_id or name is None or company is None:
        return Match("none", company=company)
    companies = [employer.company for employer in employers]
    best = {employer.company.id: employer for employer in employers}
    for search in (candidates.contacts_named_at, near_names.nearest_named_at):
        scored = [
            _candidate(
                person,
                ("full_name", best[person.contact.company_id or ""].key),
                name=name_score(name, parsed_name(person.contact)),
                company=best[person.contact.company_id or ""].score,
            )
            for person in search(session, name, companies)
            if not are_two_people(urls_of(person.contact), urls_of(subject))
        ]
        match = _decide(scored)
        if match.outcome != "none":
            return match
    return Match("none", company=company)


def _score(subject: Subject, name: PersonName | None, person: ContactRow, keys: tuple[str, ...]) -> Candidate:
    """Score a contact found by exact keys; the name and company, if given, also count."""
    agreeing = list(keys)
    alike = employed = None
    if name is not None and person.contact.full_name:
        alike = name_score(name, parsed_name(person.contact))
        agreeing += ["full_name"] * (alike >= similarity.AGREES)
    if person.company is not None and (subject.company_domain or subject.company_name):
        employed, field = _company_score(subject, person.company)
        agreeing += [field] * (employed >= similarity.AGREES)
    return _candidate(person, tuple(agreeing), name=alike, company=employed)


def _company_score(subject: Subject, company: StoredCompany) -> tuple[float, str]:
    if subject.company_domain and subject.company_domain == company.domain:
        return 1.0, "company_domain"
    return company_score(subject.company_name or "", company.name or ""), "company_name"


def _candidate(
    person: ContactRow, matched_on: tuple[str, ...], *, name: float | None, company: float | None
) -> Candidate:
    confidence = similarity.confidence(matched_on=matched_on, name=name, company=company)
    return Candidate(confidence, matched_on, person.contact, person.company)


def _decide(scored: Sequence[Candidate]) -> Match:
    possible = [candidate for candidate in scored if candidate.confidence >= similarity.POSSIBLE]
    best = sorted(possible, key=lambda candidate: (-candidate.confidence, candidate.contact.id))
    best = best[:MAX_CANDIDATES]
    outcome = similarity.decide([candidate.confidence for candidate in best])
    if outcome == "matched":
        return _matched(best[0])
    if outcome == "ambiguous":
        return Match("ambiguous", best[0].confidence, best[0].matched_on, candidates=tuple(best))
    return Match("none")


def _matched(candidate: Candidate) -> Match:
    return Match("matched", candidate.confidence, candidate.matched_on, candidate.contact, candidate.company)


def _name(subject: Subject) -> PersonName | None:
    """Return the subject's name, or None if there is none or it has no letter."""
    if subject.first_name and subject.last_name:
        return PersonName(subject.first_name, subject.last_name, subject.name or "")
    try:
        return names.parse_name(subject.full_name) if subject.full_name else None
    except InvalidValue:
        return None
