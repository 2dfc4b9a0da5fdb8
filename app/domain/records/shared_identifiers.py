"""Profiles, addresses and numbers that records of different people share: they identify none of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from app.domain.findings import FoundContact
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.names.names import PersonName
from app.domain.records.profile_links import linked, urls_of
from app.domain.records.shared_addresses import are_different_people


def shared_identifiers(records: Iterable[FoundContact]) -> frozenset[str]:
    """Return the profiles, addresses and numbers that several of the records have, of different people.

    A record without a name says nothing about whose its identifiers are.
    """
    owners: dict[str, PersonName] = {}
    shared: set[str] = set()
    for record in records:
        if (name := name_in(record)) is None:
            continue
        for value in (*values_of(record), *urls_of(record)):
            owner = owners.setdefault(value, name)
            if owner is not name and value not in shared and are_other_people(owner, name):
                shared.add(value)
    return frozenset(shared)


def without_shared(record: FoundContact, shared: Collection[str]) -> FoundContact:
    """Return the record without the identifiers that are shared."""
    return replace(
        without_profiles(record, shared),
        emails=tuple(email for email in record.emails if email.email not in shared),
        phones=tuple(phone for phone in record.phones if phone.e164 not in shared),
    )


def without_profiles(record: FoundContact, urls: Collection[str]) -> FoundContact:
    """Return the record without these profiles; a second one that is left becomes its only one."""
    linkedin_url, member_url = linked((), (url for url in urls_of(record) if url not in urls))
    is_weak = record.is_profile_weak if linkedin_url else None
    return replace(record, linkedin_url=linkedin_url, member_url=member_url, is_profile_weak=is_weak)


def values_of(record: FoundContact) -> list[str]:
    """Return the addresses and the numbers of a record."""
    return [email.email for email in record.emails] + [phone.e164 for phone in record.phones]


def are_other_people(a: PersonName, b: PersonName) -> bool:
    """Return whether the names are of different people; names in different scripts may be one person's."""
    left, right = person_key(a.full), person_key(b.full)
    return left != right and left.isascii() == right.isascii() and are_different_people(a, b)


def name_in(record: FoundContact) -> PersonName | None:
    """Return the name of a record, None without one."""
    if record.full_name is None:
        return None
    return PersonName(record.first_name or "", record.last_name or "", record.full_name)
