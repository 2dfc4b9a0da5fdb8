"""Resolves a batch of incoming records to existing or new contacts.

The rules are in `contacts`. Of several matching contacts, the one that agrees with most fields of the record
wins, then the oldest, so that importing the same list again yields the same contacts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import FromClause
from sqlalchemy.orm import Session

from app.core.contacts.bulk import new_ids
from app.core.contacts.contact_index import ContactIndex, Row, values_of
from app.core.contacts.job_changes import Employer, Move
from app.domain.findings import FoundContact, Source, SourceKind
from app.domain.normal.emails import email_reasons
from app.domain.normal.names import PersonName, person_key
from app.domain.records.merging import Change, initial_provenance, merge
from app.domain.records.profile_links import are_two_people, linked, urls_of
from app.domain.records.shared_addresses import are_different_people

_FIELDS = (
    "full_name", "first_name", "last_name", "title", "seniority", "department", "linkedin_url",
    "member_url", "city", "country",
)  # fmt: skip
_UNITS = (
    ("full_name", "first_name", "last_name"),
    ("title",),
    ("seniority",),
    ("department",),
    ("city", "country"),
    ("company_id",),
)
_VALUES = attrgetter(*_FIELDS)
MAX_SHARING = 10
"""The most people whose names are compared for similarity with those of records with the same address.

An address of more people is a placeholder (none@acme.com) or a shared mailbox. Comparing each record with all
of them would take minutes while the lock for entity resolution is held.
"""
UPDATED_COLUMNS = (*_FIELDS, "name_key", "last_key", "company_id", "provenance", "updated_at")


class ContactResolver:
    """Finds the row of each record, or adds one; the caller writes the rows in `new` and `changed`.

    `new_companies` are companies just inserted, which have no contacts yet. `shared` states for each record
    so far whether one of its addresses is also another person's.
    """

    def __init__(
        self,
        session: Session,
        table: FromClause,
        records: Sequence[FoundContact],
        employers: Sequence[str | None],
        new_companies: Collection[str] = frozenset(),
    ) -> None:
        self.new: list[Row] = []
        self.shared: list[bool] = []
        self._changed: dict[str, Row] = {}
        self._moved: dict[str, tuple[str, Source]] = {}
        self._linked: dict[str, str] = {}
        self._ids = new_ids("con", len(records))
        known = [None if employer in new_companies else employer for employer in employers]
        self._index = ContactIndex.load(session, table, records, known)

    @property
    def changed(self) -> list[Row]:
        """Return the existing rows to update."""
        return list(self._changed.values())

    @property
    def moves(self) -> list[Move]:
        """Return the changes from one company to another, of rows that had a company before."""
        return [
            Move(
                contact_id=contact_id,
                previous=Employer(company_id=previous),
                current=Employer(company_id=self._index.rows[contact_id]["company_id"]),
                source=source.kind.value,
                as_of=source.at,
            )
            for contact_id, (previous, source) in self._moved.items()
            if self._index.rows[contact_id]["company_id"] != previous
        ]

    @property
    def renamed(self) -> dict[str, str]:
        """Return the profile URLs by which people were known, and those by which they are shown now."""
        shown = {
            url: self._index.rows[contact_id]["linkedin_url"] for url, contact_id in self._linked.items()
        }
        return {url: new for url, new in shown.items() if url != new}

    def upsert(self, record: FoundContact, employer: str | None, now: datetime) -> tuple[Row, Change | None]:
        """Merge the record into a matching row, or add one; return it and the change, None for a new row."""
        row = self._find(record, employer)
        self.shared.append(self._shares_address(record, row))
        if row is None:
            return self._add(record, employer, now), None
        values = {name: getattr(record, name) for name in _FIELDS} | {"company_id": employer}
        previous = row["company_id"]
        change = merge(row, values, _UNITS, record.source)
        if previous is not None and row["company_id"] != previous:
            self._moved[row["id"]] = (self._moved.get(row["id"], (previous,))[0], record.source)
        if self._link(row, urls_of(record)):
            change = Change.CHANGED
        if change is Change.CHANGED:
            row |= keys_of(row)
        self.mark_changed(row, change, now)
        self._add_to_index(row, record)
        return row, change

    def mark_changed(self, row: Row, change: Change, now: datetime) -> None:
        """Mark the row to be written; only a visible change sets `updated_at`."""
        if change is Change.CHANGED:
            row["updated_at"] = now
        if change is not Change.NONE:
            self._changed[row["id"]] = row

    def _find(self, record: FoundContact, employer: str | None) -> Row | None:
        key = person_key(record.full_name) if record.full_name else None
        for url in urls_of(record):
            row = self._index.with_profile(url)
            if row and not (record.is_profile_weak and (key is None or key != row["name_key"])):
                return row
        any_name = key is None and record.source.kind is SourceKind.IMPORT
        for email in record.emails:
            if not (owners := self._index.with_value(email.email)):
                continue
            named = self._usable(owners.values(), record)
            is_role = "role" in email_reasons(email.email)
            keys = {key} if is_role else {key, None}
            same = [row for row in named if row["name_key"] in keys or (any_name and not is_role)]
            if not same and not is_role and len(owners) <= MAX_SHARING:
                same = [row for row in named if not _is_other_person(row, record)]
            if same:
                return self._best_match(same, record, employer)
        if key and employer:
            named = self._usable(self._index.named(employer, key), record)
        elif record.emails or record.linkedin_url:
            named = []
        else:
            named = [
                row
                for phone in record.phones
                for row in self._index.with_value(phone.e164).values()
                if (any_name or row["name_key"] in {key, None})
                and (employer is None or row["company_id"] in {employer, None})
            ]
        return self._best_match(named, record, employer)

    def _shares_address(self, record: FoundContact, row: Row | None) -> bool:
        """Return whether an address, new to the row, is that of another person and not of a role."""
        return any(
            _is_other_person(owner, record)
            for email in record.emails
            if (owners := self._index.with_value(email.email))
            and (row is None or row["id"] not in owners)
            and "role" not in email_reasons(email.email)
            for owner in owners.values()
        )

    def _best_match(self, rows: Sequence[Row], record: FoundContact, employer: str | None) -> Row | None:
        """Return the row that agrees with most fields of the record; of several, the oldest."""
        if len(rows) < 2:  # noqa: PLR2004 -- no choice
            return rows[0] if rows else None
        values = values_of(record)

        def agreement(row: Row) -> int:
            pairs = ((getattr(record, name), row[name]) for name in _FIELDS)
            fields = sum(1 for value, stored in pairs if value is not None and value == stored)
            points = sum(row["id"] in self._index.with_value(value) for value in values)
            return fields + points + (1 if employer and employer == row["company_id"] else 0)

        return max(sorted(rows, key=lambda row: row["id"]), key=agreement)

    @staticmethod
    def _usable(rows: Iterable[Row], record: FoundContact) -> list[Row]:
        """Return the rows, without those that have another LinkedIn profile."""
        urls = () if record.is_profile_weak else urls_of(record)
        return [row for row in rows if not (urls and are_two_people(_urls(row), urls))]

    def _add(self, record: FoundContact, employer: str | None, now: datetime) -> Row:
        row: Row = dict(zip(_FIELDS, _VALUES(record), strict=True))
        if record.is_profile_weak and self._index.with_profile(row["linkedin_url"]):
            row["linkedin_url"] = None  # another person's
        row |= keys_of(row)
        row["id"] = next(self._ids)
        row["company_id"] = employer
        row["provenance"] = initial_provenance(record.source)
        row["created_at"] = row["updated_at"] = now
        self.new.append(row)
        if record.member_url:
            self._linked[record.member_url] = row["id"]
        self._add_to_index(row, record)
        return row

    def _link(self, row: Row, urls: Sequence[str]) -> bool:
        """Add profile URLs that are not another person's to the row; return whether it changed."""
        before = _urls(row)
        free = [url for url in urls if (self._index.with_profile(url) or row) is row]
        row["linkedin_url"], row["member_url"] = linked(before, free)
        for url in {*before, *_urls(row)} if _urls(row) != before else ():
            self._linked[url] = row["id"]
        return _urls(row) != before

    def _add_to_index(self, row: Row, record: FoundContact) -> None:
        self._index.add(row)
        self._index.add_values(row, values_of(record))


def keys_of(row: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the normalised full and last name; a single name is used for both."""
    full = row["full_name"]
    return {
        "name_key": person_key(full) if full else None,
        "last_key": person_key(row["last_name"] or full) if full else None,
    }


def _urls(row: Row) -> tuple[str, ...]:
    return tuple(url for url in (row["linkedin_url"], row["member_url"]) if url)


def _is_other_person(row: Mapping[str, Any], record: FoundContact) -> bool:
    """Return whether both have names, and these are of different people."""
    if row["full_name"] is None or record.full_name is None:
        return False
    stored = PersonName(row["first_name"] or "", row["last_name"] or "", row["full_name"])
    found = PersonName(record.first_name or "", record.last_name or "", record.full_name)
    return are_different_people(stored, found)


def name_of(row: Mapping[str, Any]) -> PersonName | None:
    """Return the contact's name as a parsed name."""
    full = row["full_name"]
    return PersonName(row["first_name"] or "", row["last_name"] or "", full) if full else None
