"""Resolves a batch of incoming records to existing or new companies.

The rules are in `companies`. Of several companies with the same name the oldest wins, so that importing the
same list again yields the same companies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import FromClause, select

from app.domain.findings import FoundCompany
from app.domain.normal.companies.company_domains import is_named_after
from app.domain.normal.companies.company_names import company_key, have_different_forms
from app.domain.normal.hashes import profile_hash, website_hash
from app.domain.records.company_identity import are_one_company, shared_domains
from app.domain.records.merging import Change, initial_provenance, merge
from app.engine.contacts.bulk import as_dict, new_ids, rows_in
from app.infra.database.session import Session

_MERGED = ("industry", "headcount", "city", "country")
_UNITS = (("industry",), ("headcount",), ("city", "country"))
UPDATED_COLUMNS = (
    "name", "name_key", "domain", "domain_hash", "linkedin_url", "linkedin_hash", *_MERGED,
    "provenance", "updated_at",
)  # fmt: skip


class CompanyResolver:
    """An index of company rows by their identifiers; the caller writes the rows in `new` and `changed`."""

    def __init__(self, session: Session, table: FromClause, records: Sequence[FoundCompany]) -> None:
        records = list({id(record): record for record in records}.values())
        self._shared_domains = shared_domains(records)
        self._session = session
        self._keys = {record.name: company_key(record.name) for record in records if record.name}
        self._by_domain: dict[str | None, dict[str, Any]] = {}
        self._by_page: dict[str | None, dict[str, Any]] = {}
        self._by_key: dict[str | None, dict[str, dict[str, Any]]] = {}
        self._new: dict[str, dict[str, Any]] = {}
        self._changed: dict[str, dict[str, Any]] = {}
        self._ids = new_ids(
            "com", len({(record.domain, record.linkedin_url, record.name) for record in records})
        )
        rows: dict[str, dict[str, Any]] = {}
        for column, values in (
            (table.c.domain, [record.domain for record in records]),
            (table.c.linkedin_url, [record.linkedin_url for record in records]),
            (table.c.name_key, list(self._keys.values())),
        ):
            for row in rows_in(session, select(table), column, values):
                rows[row.id] = as_dict(row)
        for company_id in sorted(rows):
            self._index(rows[company_id])

    @property
    def new(self) -> list[dict[str, Any]]:
        """Return the rows to insert."""
        return list(self._new.values())

    @property
    def changed(self) -> list[dict[str, Any]]:
        """Return the existing rows to update."""
        return list(self._changed.values())

    def admitted(self, record: FoundCompany, *, was_asked: bool = False) -> FoundCompany:
        """Return the record, without its domain if that is another company's.

        The domain belongs to the company that had it first; one that the records share (`shared_domains`)
        only to a company that is named after it. `was_asked` states that a provider was asked for the company
        by this domain, so that its answer is about that company, whatever its name.
        """
        if was_asked or not record.domain:
            return record
        holder = self._by_domain.get(record.domain)
        is_shared = bool(
            record.name
            and record.domain in self._shared_domains
            and not is_named_after(record.domain, record.name)
        )
        if holder is None or (is_shared and not holder["name"]):
            is_own = not is_shared
        else:
            is_own = self._may_be(holder, record)
        return record if is_own else replace(record, domain=None)

    def _may_be(self, holder: dict[str, Any], record: FoundCompany) -> bool:
        """Return whether the name of the record, or its page, does not show another company."""
        if not (holder["name"] and record.name) or holder["name_key"] == self._keys[record.name]:
            return True
        if record.linkedin_url and holder["linkedin_url"] == record.linkedin_url:
            return True
        return are_one_company(holder["name"], record.name, holder["domain"])

    def find(self, record: FoundCompany) -> dict[str, Any] | None:
        """Return the row that the record matches, or None."""
        row = self._by_domain.get(record.domain) if record.domain else None
        if row is None and record.linkedin_url:
            row = self._by_page.get(record.linkedin_url)
        if row is None and record.name:
            row = self._named(record)
        return row

    def add(self, record: FoundCompany, now: datetime) -> str:
        """Add a row for a new company and return its id."""
        row: dict[str, Any] = {name: getattr(record, name) for name in _MERGED}
        row |= dict.fromkeys(("name", "name_key", "domain", "domain_hash", "linkedin_url", "linkedin_hash"))
        row |= {
            "id": next(self._ids),
            "provenance": initial_provenance(record.source),
            "created_at": now,
            "updated_at": now,
        }
        self._fill(row, record)
        self._new[row["id"]] = row
        self._index(row)
        return str(row["id"])

    def merge(self, row: dict[str, Any], record: FoundCompany, now: datetime, *, rename: bool) -> Change:
        """Merge the record into the row and return the change."""
        change = Change.CHANGED if self._fill(row, record) else Change.NONE
        values = {name: getattr(record, name) for name in _MERGED}
        units: tuple[tuple[str, ...], ...] = _UNITS
        if rename:
            values["name"] = record.name
            units = (("name",), *_UNITS)
        merged = merge(row, values, units, record.source)
        row["name_key"] = self._keys.get(row["name"], row["name_key"])
        change = max(change, merged, key=lambda item: item.value)
        if change is Change.CHANGED:
            row["updated_at"] = now
            self._index(row)
        if change is not Change.NONE and row["id"] not in self._new:
            self._changed[row["id"]] = row
        return change

    def _named(self, record: FoundCompany) -> dict[str, Any] | None:
        """Return the oldest row with the record's name, if nothing else conflicts."""
        rows = self._by_key.get(self._keys[record.name], {}) if record.name else {}
        return next((row for row in rows.values() if _is_compatible(row, record)), None)

    def _fill(self, row: dict[str, Any], record: FoundCompany) -> bool:
        """Fill an empty name, domain and page (unless another company has it); return whether any changed."""
        before = (row["name"], row["domain"], row["linkedin_url"])
        if row["name"] is None and record.name:
            row |= {"name": record.name, "name_key": self._keys[record.name]}
        if row["domain"] is None and record.domain:
            row |= {"domain": record.domain, "domain_hash": website_hash(record.domain)}
        if row["linkedin_url"] is None and record.linkedin_url and record.linkedin_url not in self._by_page:
            row |= {"linkedin_url": record.linkedin_url, "linkedin_hash": profile_hash(record.linkedin_url)}
        return before != (row["name"], row["domain"], row["linkedin_url"])

    def _index(self, row: dict[str, Any]) -> None:
        if row["domain"]:
            self._by_domain[row["domain"]] = row
        if row["linkedin_url"]:
            self._by_page[row["linkedin_url"]] = row
        if row["name_key"]:
            self._by_key.setdefault(row["name_key"], {})[row["id"]] = row


def _is_compatible(row: dict[str, Any], record: FoundCompany) -> bool:
    """Return whether domain, page and legal form of the row do not conflict with the record."""
    return not have_different_forms(row["name"] or "", record.name or "") and all(
        not (row[name] and value) or row[name] == value
        for name, value in (("domain", record.domain), ("linkedin_url", record.linkedin_url))
    )
