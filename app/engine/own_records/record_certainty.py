"""How certain it is that a record that was found is about the person who is looked up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from app.domain.normal.emails import email_reasons
from app.domain.normal.names.name_keys import name_key
from app.domain.records.profile_links import are_two_people
from app.engine.lookups.lookup_parts import LookedUp
from app.engine.own_records import record_keys
from app.engine.own_records.record_keys import NAME, PROFILE
from app.engine.own_records.recorded_people import RecordedPerson


class Match(Protocol):
    """A record that was found, and what the person was recognized by."""

    @property
    def person(self) -> RecordedPerson:
        """The person of the record."""

    @property
    def matched_on(self) -> Sequence[str]:
        """Some of `record_keys.CERTAINTY`."""


def is_namesake(match: Match, person: LookedUp) -> bool:
    """Return whether the record has only the name and the company in common, and another person's profile."""
    return list(match.matched_on) == [NAME] and are_two_people(person.profiles, match.person.profiles)


class Record(Protocol):
    """Whom a record is about."""

    @property
    def name(self) -> str:
        """The full name, empty if it is not known."""

    @property
    def profiles(self) -> Sequence[str]:
        """The profile URLs."""

    @property
    def emails(self) -> Sequence[str]:
        """The addresses."""


def is_certain(match: Match, person: LookedUp, matches: int) -> bool:
    """Return whether the record is about the person beyond doubt, being one of so many that were found.

    A profile says so, and an address that is not a team's. Colleagues may share a number, a team's address or
    a name: these say so if no other record is found by them and the names are not two.
    """
    if are_two_people(person.profiles, match.person.profiles) and PROFILE not in match.matched_on:
        return False
    is_alone = matches == 1 and not _are_two_names(person.name, match.person.name)
    return _is_identified(match.person, person) or is_alone


def is_doubtful(record: Record, person: LookedUp, found: Iterable[Record]) -> bool:
    """Return whether a record may be a colleague's because another one that was found is of somebody else.

    It is certain only as the one that its own system has; the other one has another name or profile.
    """
    return not _is_identified(record, person) and any(
        _are_two_names(record.name, other.name) or are_two_people(record.profiles, other.profiles)
        for other in found
        if other is not record
    )


def _is_identified(record: Record, person: LookedUp) -> bool:
    """Return whether they have in common a profile, or an address that is not a team's."""
    own = {email for email in person.emails if "role" not in email_reasons(email)}
    return not (own.isdisjoint(record.emails) and set(person.profiles).isdisjoint(record.profiles))


def _are_two_names(one: str, other: str) -> bool:
    """Return whether two texts name two people; one word names the person who has it in the name."""
    keys = {record_keys.name_key(one), record_keys.name_key(other)}
    if "" not in keys:
        return len(keys) > 1
    words, others = set(name_key(one).split()), set(name_key(other).split())
    return bool(words and others) and not (words <= others or others <= words)
