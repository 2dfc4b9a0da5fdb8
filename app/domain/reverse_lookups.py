"""The limits on reverse lookups: how many addresses and numbers of others a workspace may try in a day.

A free answer to an address confirms whose it is, so that a guess would cost less than a reveal. Hits and
misses count alike, so that what is left of a limit does not depend on what is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from app.domain.normal.emails import email_domain, email_kind
from app.domain.normal.names.name_keys import person_key
from app.domain.records.subjects import Subject

KINDS = ("email", "phone")
"""The fields of a subject whose values are sold."""
WINDOW = timedelta(days=1)
"""The rolling period in which tried values are counted."""
_LAST_DIGITS = 4
"""Numbers that differ in these digits only count as one block, like the addresses of one domain."""


@dataclass(frozen=True, slots=True)
class ReverseLookupLimits:
    """How many values may be tried in a period: for a person, at a domain or block, and in a workspace."""

    per_person: int = 3
    per_domain: int = 5
    per_workspace: int = 50


@dataclass(frozen=True, slots=True)
class Attempt:
    """A value that a workspace has tried, the domain or block it belongs to, and the person it was tried for.

    All are digests. An address at a mail provider belongs to no domain, a value alone to no named person.
    """

    value: bytes
    domain: bytes | None
    person: bytes | None


def values_in(subject: Subject) -> list[tuple[str, str]]:
    """Return the kind and the value of the subject's address and number."""
    return [(kind, value) for kind in KINDS if (value := getattr(subject, kind))]


def without(subject: Subject, hidden: Iterable[tuple[str, str]]) -> Subject:
    """Return the subject without these values."""
    of_subject = set(values_in(subject)).intersection(hidden)
    return replace(subject, **{kind: None for kind, _value in of_subject}) if of_subject else subject


def domain_of(kind: str, value: str) -> str | None:
    """Return the domain of an address, unless anyone can have a mailbox there, or the block of a number."""
    if kind == "phone":
        return value[:-_LAST_DIGITS]
    return email_domain(value) if email_kind(value) == "work" else None


def person_of(subject: Subject) -> str | None:
    """Return by what else than an address or a number the subject names the person; None if by nothing."""
    name = person_key(subject.name) if subject.name else None
    return subject.contact_id or subject.linkedin_url or subject.member_url or name


def admitted(
    attempts: Iterable[Attempt], tried: Sequence[Attempt], limits: ReverseLookupLimits
) -> list[Attempt]:
    """Return the new attempts within the limits, in their order; `tried` are the attempts of the period."""
    known = {attempt.value for attempt in tried}
    domains = Counter(attempt.domain for attempt in tried)
    people = Counter(attempt.person for attempt in tried)
    new: list[Attempt] = []
    for attempt in attempts:
        is_within = (
            len(known) < limits.per_workspace
            and (attempt.domain is None or domains[attempt.domain] < limits.per_domain)
            and (attempt.person is None or people[attempt.person] < limits.per_person)
        )
        if is_within and attempt.value not in known:
            known.add(attempt.value)
            domains[attempt.domain] += 1
            people[attempt.person] += 1
            new.append(attempt)
    return new
