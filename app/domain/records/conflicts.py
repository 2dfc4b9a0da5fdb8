"""Conflicting values of several sources: the source of each current value, and the values that differ.

`merging` decides which value is current; this module only compares it with the others. Two spellings of one
name are not a conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from app.domain.findings import FoundCompany, FoundContact
from app.domain.normal.companies.company_names import company_key
from app.domain.normal.names.name_keys import person_key
from app.domain.records.merging import ALL, RankedSource, stamp
from app.domain.records.profile_links import are_two_people

CONTACT_FIELDS = (
    "full_name", "title", "seniority", "department", "linkedin_url", "city", "country",
)  # fmt: skip
EMPLOYER = "company"
"""The contact's company, as a field of the contact."""

_UNKNOWN_SOURCE: Mapping[str, str | None] = {"source": None, "at": None}
_FILLED_ONCE = frozenset({"name", "domain", "linkedin_url"})
_KEYS: dict[str, Callable[[str], str]] = {
    "full_name": person_key,
    "name": company_key,
    EMPLOYER: company_key,
}

Found = TypeVar("Found", FoundContact, FoundCompany)


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """The values of one source or of the stored row, with their provenance in the format of `merging`."""

    values: Mapping[str, str | None]
    provenance: Mapping[str, Any]

    @classmethod
    def from_row(cls, row: object, fields: Sequence[str], provenance: Mapping[str, Any]) -> Self:
        """Return the record with these fields of a row or a finding."""
        return cls({name: getattr(row, name) for name in fields}, provenance)

    @classmethod
    def from_finding(cls, found: FoundContact | FoundCompany, fields: Sequence[str]) -> Self:
        """Return the record of a provider's finding."""
        return cls.from_row(found, fields, {ALL: stamp(found.source)})

    def employed_by(self, company: str | None) -> SourceRecord:
        """Return the record with the name of the contact's company added."""
        provenance = self.provenance
        employer = {EMPLOYER: provenance["company_id"]} if "company_id" in provenance else {}
        return SourceRecord({**self.values, EMPLOYER: company}, {**provenance, **employer})

    def only(self, fields: Sequence[str]) -> SourceRecord:
        """Return the record with these fields only."""
        return SourceRecord({name: self.values.get(name) for name in fields}, self.provenance)

    def stamp_of(self, name: str) -> Mapping[str, str] | None:
        """Return the stamp of a field; None if its source is unknown."""
        found: Mapping[str, str] | None = self.provenance.get(name) or self.provenance.get(ALL)
        return found


def ranked(found: Found, ranking: tuple[str, ...]) -> Found:
    """Return the finding with a ranked source: `ranking` lists the providers, the most trusted first."""
    source = found.source
    ranked_source = RankedSource(source.provider, source.kind, source.at, ranking, url=source.url)
    if isinstance(found, FoundContact) and found.company is not None:
        return replace(found, source=ranked_source, company=ranked(found.company, ranking))
    return replace(found, source=ranked_source)


def sources(current: SourceRecord, records: Sequence[SourceRecord]) -> dict[str, dict[str, str]]:
    """Return the stamp of each current value; `records` are the source records in the order received."""
    stamps = {
        name: _current_stamp(current, records, name)
        for name, value in current.values.items()
        if value is not None
    }
    return {name: dict(found) for name, found in stamps.items() if found}


def conflicts(entity: str, current: SourceRecord, records: Sequence[SourceRecord]) -> list[dict[str, Any]]:
    """Return every value that differs from the current one of its field, with the sources of both."""
    found: list[dict[str, Any]] = []
    for name, value in current.values.items():
        if value is None:
            continue
        others: dict[str, dict[str, str | None]] = {}
        for record in records:
            other = record.values.get(name)
            if other is not None and _differ(name, other, value):
                others.setdefault(
                    _key(name, other), {"value": other, **(record.stamp_of(name) or _UNKNOWN_SOURCE)}
                )
        current_stamp = _current_stamp(current, records, name) or _UNKNOWN_SOURCE
        found += [
            {"entity": entity, "field": name, "value": value, **current_stamp, "other": other}
            for other in others.values()
        ]
    return found


def _current_stamp(
    current: SourceRecord, records: Sequence[SourceRecord], name: str
) -> Mapping[str, str] | None:
    """Return the stamp of the current value; for a field that is only filled once, its first source."""
    if name in _FILLED_ONCE and name not in current.provenance:
        value = current.values[name]
        first = (record.stamp_of(name) for record in records if record.values.get(name) == value)
        return next(first, None) or current.stamp_of(name)
    return current.stamp_of(name)


def _differ(name: str, value: str, other: str) -> bool:
    """Return whether two values of a field differ; an id of a member may stand for a chosen name."""
    if name == "linkedin_url":
        return are_two_people((value,), (other,))
    return _key(name, value) != _key(name, other)


def _key(name: str, value: str) -> str:
    return _KEYS.get(name, str.casefold)(value) or value.casefold()
