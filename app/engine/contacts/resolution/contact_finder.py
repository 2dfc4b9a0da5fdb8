"""Finds the stored contact that an incoming record is about, and the evidence that is not enough for it.

The rules are in `contacts`. Of several matching contacts, the one that agrees with most fields of the record
wins, then the oldest, so that importing the same list again yields the same contacts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.findings import PERSON_FIELDS, FoundContact, SourceKind
from app.domain.lists.warning_kinds import (
    NAMESAKE,
    SHARED_ADDRESS,
    SHARED_NUMBER,
    SHARED_PROFILE,
    SPLIT_PROFILE,
    WEAK_PROFILE,
)
from app.domain.normal.emails import email_reasons
from app.domain.normal.names.name_keys import person_key
from app.domain.records.namesakes import ContactValues, are_namesakes
from app.domain.records.profile_links import are_two_people, urls_of
from app.domain.records.shared_identifiers import (
    are_other_people,
    name_in,
    shared_identifiers,
    values_of,
    without_profiles,
)
from app.engine.contacts.resolution.contact_index import ContactIndex, Row, name_of, profiles_in

MAX_SHARING = 10
"""The most people with one address whose names are compared with the name of a record that has it.

An address of more people is a placeholder (none@acme.com) or a shared mailbox. Comparing each record with all
of them would take minutes while the lock for entity resolution is held.
"""


@dataclass(frozen=True, slots=True)
class Identification:
    """What identifies a record: the record without profiles that are shared, and its contact, if known.

    `doubted` are the contacts whose profile is shared, as the record shows. `codes` are the codes of
    `cell_warnings` about the record.
    """

    record: FoundContact
    row: Row | None
    doubted: tuple[Row, ...]
    codes: tuple[str, ...]


class ContactFinder:
    """Identifies the records of one batch; `index` has the contacts that may match them."""

    def __init__(self, index: ContactIndex, records: Sequence[FoundContact]) -> None:
        self._index = index
        self._shared = shared_identifiers(filter(_is_imported, records))

    def identify(self, record: FoundContact, employer: str | None) -> Identification:
        """Return the contact that the record is about, and the warnings about the record."""
        doubted = self._doubted_owners(record)
        codes: list[str] = []
        if shared := {url for url in urls_of(record) if self._is_profile_shared(url, record, doubted)}:
            code = WEAK_PROFILE if record.is_profile_weak else SHARED_PROFILE
            codes += [code] if _is_imported(record) else []
            record = without_profiles(record, shared)
        key = _key(record)
        row = self._find(record, key, employer)
        codes += self._conflicts(record, key, employer, row)
        return Identification(record, row, doubted, tuple(codes))

    def _doubted_owners(self, record: FoundContact) -> tuple[Row, ...]:
        """Return the contacts with the record's profiles, if the import shows that others have them, too."""
        if record.is_profile_weak or not _is_imported(record):
            return ()
        owners = ((url, self._index.with_profile(url)) for url in urls_of(record))
        return tuple(
            owner
            for url, owner in owners
            if owner is not None
            and not owner["linkedin_shared"]
            and (url in self._shared or _is_other_person(owner, record))
        )

    def _is_profile_shared(self, url: str, record: FoundContact, doubted: Collection[Row]) -> bool:
        """Return whether a profile does not identify the record; with the name of its owner, it does.

        A weak profile needs exactly this name.
        """
        owner = self._index.with_profile(url)
        if owner is None:
            return url in self._shared
        if record.is_profile_weak:
            return owner["name_key"] is None or owner["name_key"] != _key(record)
        is_named = owner["full_name"] is not None and record.full_name is not None
        return (owner["linkedin_shared"] or owner in doubted) and not (
            is_named and not _is_other_person(owner, record)
        )

    def _find(self, record: FoundContact, key: str | None, employer: str | None) -> Row | None:
        for url in urls_of(record):
            if row := self._index.with_profile(url):
                return row
        for email in record.emails:
            if same := self._with_address(email.email, key, record):
                return self._best_match(same, record, employer)
        if key and employer:
            named = self._usable(self._index.named(employer, key), record)
            named = [row for row in named if not self._is_namesake(row, record)]
        elif record.emails or record.linkedin_url:
            named = []
        else:
            named = [
                row
                for phone in record.phones
                for row in self._with_number(phone.e164, key, record)
                if employer is None or row["company_id"] in {employer, None}
            ]
        return self._best_match(named, record, employer)

    def _with_address(self, email: str, key: str | None, record: FoundContact) -> list[Row]:
        """Return the contacts with this address that the record may be about."""
        owners, is_role = self._index.with_value(email), _is_role(email)
        if not owners or (is_role and key is None and _is_of_a_person(record)):
            return []
        usable = self._usable(owners.values(), record)
        same = _alike(usable, key, record, is_weak=is_role or self._is_shared(email, owners))
        if not same and len(owners) <= MAX_SHARING and not is_role:
            same = [row for row in usable if key and row["name_key"] and not _is_other_person(row, record)]
        return same

    def _with_number(self, number: str, key: str | None, record: FoundContact) -> list[Row]:
        owners = self._index.with_value(number)
        return _alike(owners.values(), key, record, is_weak=self._is_shared(number, owners))

    def _is_shared(self, value: str, owners: Mapping[str, Row]) -> bool:
        """Return whether people of different names have the address or number, in the list or stored."""
        names = {row["name_key"] for row in owners.values()} - {None}
        return value in self._shared or len(names) > 1

    def _is_namesake(self, row: Row, record: FoundContact) -> bool:
        """Return whether an imported record is about another person of the contact's name and company."""
        values = self._index.values(row["id"]) if _is_imported(record) else None
        return values is not None and are_namesakes(values, ContactValues.of(record))

    def _conflicts(
        self, record: FoundContact, key: str | None, employer: str | None, row: Row | None
    ) -> list[str]:
        """Return the codes of what the record shares with people from whom it was kept apart."""
        codes = [SHARED_ADDRESS] if self._shares_address(record, row) else []
        codes += [SPLIT_PROFILE] if self._is_split(record) else []
        if row is not None or not _is_imported(record):
            return codes
        if key and employer and any(self._is_namesake(o, record) for o in self._index.named(employer, key)):
            codes.append(NAMESAKE)
        if not (key or record.emails or record.linkedin_url):
            values = [phone.e164 for phone in record.phones]
            codes += [SHARED_NUMBER] if any(map(self._index.with_value, values)) else []
        return codes

    def _is_split(self, record: FoundContact) -> bool:
        """Return whether two stored people have the profiles of the record, who is one person."""
        owners = {row["id"] for url in urls_of(record) if (row := self._index.with_profile(url))}
        return len(owners) > 1

    def _shares_address(self, record: FoundContact, row: Row | None) -> bool:
        """Return whether an address that is new to the row belongs to another person, and not to a role."""
        return any(
            _is_other_person(owner, record)
            for email in record.emails
            if (owners := self._index.with_value(email.email))
            and (row is None or row["id"] not in owners)
            and not _is_role(email.email)
            for owner in owners.values()
        )

    def _best_match(self, rows: Sequence[Row], record: FoundContact, employer: str | None) -> Row | None:
        """Return the row that agrees with most fields of the record; of several, the oldest."""
        if len(rows) < 2:  # noqa: PLR2004 -- no choice
            return rows[0] if rows else None
        values = values_of(record)

        def agreement(row: Row) -> int:
            pairs = ((getattr(record, name), row[name]) for name in PERSON_FIELDS)
            fields = sum(1 for value, stored in pairs if value is not None and value == stored)
            points = sum(row["id"] in self._index.with_value(value) for value in values)
            return fields + points + (1 if employer and employer == row["company_id"] else 0)

        return max(sorted(rows, key=lambda row: row["id"]), key=agreement)

    @staticmethod
    def _usable(rows: Collection[Row], record: FoundContact) -> list[Row]:
        """Return the rows, without those that have another LinkedIn profile."""
        if not rows:
            return []
        urls = () if record.is_profile_weak else urls_of(record)
        return [row for row in rows if not (urls and are_two_people(profiles_in(row), urls))]


def _alike(rows: Collection[Row], key: str | None, record: FoundContact, *, is_weak: bool) -> list[Row]:
    """Return the contacts with the record's name or, unless the evidence is weak, without a name.

    An imported record without a name takes the name of the contact with its address or number.
    """
    if is_weak:
        return [row for row in rows if row["name_key"] == key]
    if key is None and _is_imported(record):
        return list(rows)
    return [row for row in rows if row["name_key"] in {key, None}]


def _is_role(email: str) -> bool:
    """Return whether the address is a team's, which several people may have."""
    return "role" in email_reasons(email)


def _is_of_a_person(record: FoundContact) -> bool:
    """Return whether the record has more than what a team has: a profile, or an address of one's own."""
    return bool(urls_of(record)) or not all(_is_role(email.email) for email in record.emails)


def _is_imported(record: FoundContact) -> bool:
    return record.source.kind is SourceKind.IMPORT


def _key(record: FoundContact) -> str | None:
    return person_key(record.full_name) if record.full_name else None


def _is_other_person(row: Mapping[str, Any], record: FoundContact) -> bool:
    """Return whether both have names, and these are of different people."""
    stored, found = name_of(row), name_in(record)
    return stored is not None and found is not None and are_other_people(stored, found)
