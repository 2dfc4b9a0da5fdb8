"""How certain it is that a record that was found is about the person who is looked up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.domain.normal.emails import email_reasons
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


def is_certain(match: Match, person: LookedUp, matches: int) -> bool:
    """Return whether the record is about the person beyond doubt, being one of so many that were found.

    A profile says so, and an address that is not a team's. Colleagues may share a number, a team's address or
    a name: these say so if no other record is found by them and the names are not two.
    """
    if PROFILE in match.matched_on:
        return True
    if are_two_people(person.profiles, match.person.profiles):
        return False
    own = {email for email in person.emails if "role" not in email_reasons(email)}
    names = {record_keys.name_key(person.name), record_keys.name_key(match.person.name)} - {""}
    return not own.isdisjoint(match.person.emails) or (matches == 1 and len(names) <= 1)
