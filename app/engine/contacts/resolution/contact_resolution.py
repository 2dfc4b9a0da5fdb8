"""Resolves a batch of incoming records to existing or new contacts, and merges them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from sqlalchemy import FromClause

from app.domain.findings import PERSON_FIELDS, FoundContact, Source, SourceKind
from app.domain.normal.names.latin_names import family_key
from app.domain.normal.names.name_keys import person_key
from app.domain.normal.texts.title_words import title_terms
from app.domain.records.merging import Change, initial_provenance, merge, value_time
from app.domain.records.profile_links import linked, urls_of
from app.engine.contacts.bulk import new_ids
from app.engine.contacts.job_changes import Employer, Move
from app.engine.contacts.resolution.contact_finder import ContactFinder
from app.engine.contacts.resolution.contact_index import ContactIndex, Row, profiles_in
from app.infra.database.session import Session

_UNITS = (
    ("full_name", "first_name", "last_name"),
    ("title",),
    ("seniority",),
    ("department",),
    ("city", "country"),
    ("company_id",),
)
"""Fields that are replaced together: a name or a place is never half of one source and half of another."""
_VALUES = attrgetter(*PERSON_FIELDS)
UPDATED_COLUMNS = (
    *PERSON_FIELDS,
    "linkedin_shared",
    "name_key",
    "last_key",
    "title_terms",
    "company_id",
    "provenance",
    "updated_at",
)


class ContactResolver:
    """Finds the row of each record, or adds one; the caller writes the rows in `new` and `changed`.

    `new_companies` are companies just inserted, which have no contacts yet. `conflicts` has the codes of
    `cell_warnings` about each record so far.
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
        self.conflicts: list[tuple[str, ...]] = []
        self._changed: dict[str, Row] = {}
        self._moved: dict[str, tuple[str, Source]] = {}
        self._linked: dict[str, str] = {}
        self._outdated: set[tuple[str, str]] = set()
        self._ids = new_ids("con", len(records))
        known = [None if employer in new_companies else employer for employer in employers]
        self._index = ContactIndex.load(session, table, records, known)
        self._finder = ContactFinder(self._index, records)

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

    @property
    def outdated(self) -> list[Move]:
        """Return the moves of which the records show the company before: older ones than the stored data."""
        return [
            Move(
                contact_id=contact_id,
                previous=Employer(company_id=employer),
                current=Employer(company_id=row["company_id"]),
                source=SourceKind.IMPORT.value,
                as_of=value_time(row["provenance"], "company_id"),
            )
            for contact_id, employer in sorted(self._outdated)
            if (row := self._index.rows[contact_id])["company_id"] not in {None, employer}
        ]

    def upsert(self, record: FoundContact, employer: str | None, now: datetime) -> tuple[Row, Change | None]:
        """Merge the record into a matching row, or add one; return it and the change, None for a new row."""
        found = self._finder.identify(record, employer)
        record, row = found.record, found.row
        self.conflicts.append(found.codes)
        for doubted in found.doubted:
            doubted["linkedin_shared"] = True
            self.mark_changed(doubted, Change.CHANGED, now)
        if row is None:
            return self._add(record, employer, now), None
        values = {name: getattr(record, name) for name in PERSON_FIELDS} | {"company_id": employer}
        previous = row["company_id"]
        change = merge(row, values, _UNITS, record.source)
        if previous is not None and row["company_id"] != previous:
            # A batch may move a person twice; what was stored before the batch is what they left.
            self._moved[row["id"]] = (self._moved.get(row["id"], (previous,))[0], record.source)
        if employer is not None and row["company_id"] != employer:
            self._outdated.add((row["id"], employer))
        if self._link(row, urls_of(record)):
            change = Change.CHANGED
        if change is Change.CHANGED:
            row |= keys_of(row)
        self.mark_changed(row, change, now)
        self._index.add_record(row, record)
        return row, change

    def mark_changed(self, row: Row, change: Change, now: datetime) -> None:
        """Mark the row to be written; only a visible change sets `updated_at`."""
        if change is Change.CHANGED:
            row["updated_at"] = now
        if change is not Change.NONE:
            self._changed[row["id"]] = row

    def _add(self, record: FoundContact, employer: str | None, now: datetime) -> Row:
        row: Row = dict(zip(PERSON_FIELDS, _VALUES(record), strict=True))
        row |= keys_of(row)
        row["id"] = next(self._ids)
        row["company_id"] = employer
        row["linkedin_shared"] = False
        row["provenance"] = initial_provenance(record.source)
        row["created_at"] = row["updated_at"] = now
        self.new.append(row)
        if record.member_url:
            self._linked[record.member_url] = row["id"]
        self._index.add_record(row, record)
        return row

    def _link(self, row: Row, urls: Sequence[str]) -> bool:
        """Add profile URLs that are not another person's to the row; return whether it changed."""
        before = profiles_in(row)
        free = [url for url in urls if (self._index.with_profile(url) or row) is row]
        row["linkedin_url"], row["member_url"] = linked(before, free)
        after = profiles_in(row)
        for url in {*before, *after} if after != before else ():
            self._linked[url] = row["id"]
        return after != before


def keys_of(row: Mapping[str, Any]) -> dict[str, str | None]:
    """Return what the person is found by: keys of the full name and of the family name, and of the title."""
    full, title = row["full_name"], row["title"]
    return {
        "name_key": person_key(full) if full else None,
        "last_key": family_key(row["last_name"], full) if full else None,
        "title_terms": title_terms(title) if title else None,
    }
