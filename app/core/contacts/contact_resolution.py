"""Resolves a batch of incoming records to existing or new contacts.

The rules are in `contacts`. Of several matching contacts, the one that agrees with most fields of the record
wins, then the oldest, so that importing the same list again yields the same contacts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import FromClause, select
from sqlalchemy.orm import Session

from app.core.contacts.bulk import as_dict, new_ids, rows_in, rows_in_pairs
from app.core.contacts.emails import Email
from app.core.contacts.job_changes import Employer, Move
from app.core.contacts.phones import Phone
from app.domain.findings import FoundContact, Source, SourceKind
from app.domain.normal.emails import email_reasons
from app.domain.normal.names import PersonName, person_key
from app.domain.records.merging import Change, initial_provenance, merge
from app.domain.records.shared_addresses import are_different_people
from app.infra.blind_indexes import stored_forms

_FIELDS = (
    "full_name", "first_name", "last_name", "title", "seniority", "department", "linkedin_url",
    "city", "country",
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
    """An index of contact rows by their identifiers; the caller writes the rows in `new` and `changed`.

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
        self.new: list[dict[str, Any]] = []
        self.shared: list[bool] = []
        self._changed: dict[str, dict[str, Any]] = {}
        self._moved: dict[str, tuple[str, Source]] = {}
        self._rows: dict[str, dict[str, Any]] = {}
        self._by_profile: dict[str, dict[str, Any]] = {}
        self._by_value: dict[str, dict[str, dict[str, Any]]] = {}
        self._by_name: dict[tuple[str | None, str | None], dict[str, dict[str, Any]]] = {}
        self._ids = new_ids("con", len(records))
        known = [None if employer in new_companies else employer for employer in employers]
        self._load(session, table, records, known)

    @property
    def changed(self) -> list[dict[str, Any]]:
        """Return the existing rows to update."""
        return list(self._changed.values())

    @property
    def moves(self) -> list[Move]:
        """Return the changes from one company to another, of rows that had a company before."""
        return [
            Move(
                contact_id=contact_id,
                previous=Employer(company_id=previous),
                current=Employer(company_id=self._rows[contact_id]["company_id"]),
                source=source.kind.value,
                as_of=source.at,
            )
            for contact_id, (previous, source) in self._moved.items()
            if self._rows[contact_id]["company_id"] != previous
        ]

    def upsert(
        self, record: FoundContact, employer: str | None, now: datetime
    ) -> tuple[dict[str, Any], Change | None]:
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
        if row["linkedin_url"] is None and record.linkedin_url is not None:
            row["linkedin_url"] = record.linkedin_url
            change = Change.CHANGED
        if change is Change.CHANGED:
            row |= keys_of(row)
        self.mark_changed(row, change, now)
        self._index(row, record)
        return row, change

    def mark_changed(self, row: dict[str, Any], change: Change, now: datetime) -> None:
        """Mark the row to be written; only a visible change sets `updated_at`."""
        if change is Change.CHANGED:
            row["updated_at"] = now
        if change is not Change.NONE:
            self._changed[row["id"]] = row

    def _find(self, record: FoundContact, employer: str | None) -> dict[str, Any] | None:
        if record.linkedin_url and (row := self._by_profile.get(record.linkedin_url)):
            return row
        key = person_key(record.full_name) if record.full_name else None
        any_name = key is None and record.source.kind is SourceKind.IMPORT
        for email in record.emails:
            if (owners := self._by_value.get(email.email)) is None:
                continue
            named = self._usable(owners.values(), record)
            same = [row for row in named if any_name or row["name_key"] in {key, None}]
            is_personal = len(owners) <= MAX_SHARING and "role" not in email_reasons(email.email)
            if not same and is_personal:
                same = [row for row in named if not _is_other_person(row, record)]
            if same:
                return self._best_match(same, record, employer)
        if key and employer:
            named = self._usable(self._by_name.get((employer, key), {}).values(), record)
        elif record.emails or record.linkedin_url:
            named = []
        else:
            named = [
                row
                for phone in record.phones
                for row in self._by_value.get(phone.e164, {}).values()
                if (any_name or row["name_key"] in {key, None})
                and (employer is None or row["company_id"] in {employer, None})
            ]
        return self._best_match(named, record, employer)

    def _shares_address(self, record: FoundContact, row: dict[str, Any] | None) -> bool:
        """Return whether an address, new to the row, is that of another person and not of a role."""
        return any(
            _is_other_person(owner, record)
            for email in record.emails
            if (owners := self._by_value.get(email.email))
            and (row is None or row["id"] not in owners)
            and "role" not in email_reasons(email.email)
            for owner in owners.values()
        )

    def _best_match(
        self, rows: Sequence[dict[str, Any]], record: FoundContact, employer: str | None
    ) -> dict[str, Any] | None:
        """Return the row that agrees with most fields of the record; of several, the oldest."""
        if len(rows) < 2:  # noqa: PLR2004 -- no choice
            return rows[0] if rows else None
        values = [email.email for email in record.emails] + [phone.e164 for phone in record.phones]

        def agreement(row: dict[str, Any]) -> int:
            pairs = ((getattr(record, name), row[name]) for name in _FIELDS)
            fields = sum(1 for value, stored in pairs if value is not None and value == stored)
            points = sum(row["id"] in self._by_value.get(value, {}) for value in values)
            return fields + points + (1 if employer and employer == row["company_id"] else 0)

        return max(sorted(rows, key=lambda row: row["id"]), key=agreement)

    @staticmethod
    def _usable(rows: Iterable[dict[str, Any]], record: FoundContact) -> list[dict[str, Any]]:
        """Return the rows, without those that have another LinkedIn profile."""
        return [row for row in rows if not (record.linkedin_url and row["linkedin_url"])]

    def _add(self, record: FoundContact, employer: str | None, now: datetime) -> dict[str, Any]:
        row: dict[str, Any] = dict(zip(_FIELDS, _VALUES(record), strict=True))
        row |= keys_of(row)
        row["id"] = next(self._ids)
        row["company_id"] = employer
        row["provenance"] = initial_provenance(record.source)
        row["created_at"] = row["updated_at"] = now
        self.new.append(row)
        self._rows[row["id"]] = row
        self._index(row, record)
        return row

    def _index(self, row: dict[str, Any], record: FoundContact | None = None) -> None:
        if row["linkedin_url"]:
            self._by_profile[row["linkedin_url"]] = row
        if row["name_key"] and row["company_id"]:
            self._by_name.setdefault((row["company_id"], row["name_key"]), {})[row["id"]] = row
        if record is not None:
            self._index_values(row, [email.email for email in record.emails])
            self._index_values(row, [phone.e164 for phone in record.phones])

    def _index_values(self, row: dict[str, Any], values: Iterable[str]) -> None:
        for value in values:
            self._by_value.setdefault(value, {})[row["id"]] = row

    def _load(
        self,
        session: Session,
        table: FromClause,
        records: Sequence[FoundContact],
        employers: Sequence[str | None],
    ) -> None:
        """Load every contact that may match one of the records, in a few queries."""
        emails = [email.email for record in records for email in record.emails]
        numbers = [
            phone.e164
            for record in records
            if not (record.emails or record.linkedin_url)
            for phone in record.phones
        ]
        owners = [*_owners_of(session, "email", emails), *_owners_of(session, "phone", numbers)]
        locked = select(table).with_for_update(key_share=True)
        rows = list(
            rows_in(session, locked, table.c.linkedin_url, [record.linkedin_url for record in records])
        )
        rows += rows_in(session, locked, table.c.id, [contact_id for _, contact_id in owners])
        rows += self._load_named(session, table, records, employers)
        for row in sorted(rows, key=lambda row: row.id):
            if row.id not in self._rows:
                self._rows[row.id] = as_dict(row)
                self._index(self._rows[row.id])
        for value, contact_id in owners:
            self._index_values(self._rows[contact_id], [value])
        self._load_ambiguous_phones(session)

    def _load_ambiguous_phones(self, session: Session) -> None:
        """Load the phones of contacts that share an identifier, to choose between them; this is rare."""
        shared = [*self._by_value.values(), *self._by_name.values()]
        ambiguous_ids = {contact_id for rows in shared if len(rows) > 1 for contact_id in rows}
        query = select(Phone.e164, Phone.contact_id)
        for value, contact_id in rows_in(session, query, Phone.__table__.c.contact_id, ambiguous_ids):
            self._index_values(self._rows[contact_id], [value])

    @staticmethod
    def _load_named(
        session: Session, table: FromClause, records: Sequence[FoundContact], employers: Sequence[str | None]
    ) -> list[Any]:
        """Load the contacts with one of the last names at one of the companies."""
        name_keys = {
            (employer, person_key(record.last_name or record.full_name))
            for record, employer in zip(records, employers, strict=True)
            if employer and record.full_name
        }
        columns = (table.c.company_id, table.c.last_key)
        query = select(table).with_for_update(key_share=True)
        return list(rows_in_pairs(session, query, columns, name_keys))


def _owners_of(session: Session, field: str, values: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each stored e-mail or phone that has one of the values, with the id of its contact."""
    forms = stored_forms(session, field, set(values))
    table = (Email if field == "email" else Phone).__table__
    index = table.c["email_index" if field == "email" else "e164_index"]
    for stored, contact_id in rows_in(session, select(index, table.c.contact_id), index, forms):
        yield forms[stored], contact_id


def keys_of(row: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the normalised full and last name; a single name is used for both."""
    full = row["full_name"]
    return {
        "name_key": person_key(full) if full else None,
        "last_key": person_key(row["last_name"] or full) if full else None,
    }


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
