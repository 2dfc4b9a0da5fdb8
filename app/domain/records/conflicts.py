"""Conflicting values of several sources: the source of each current value, and the values that differ.

`merging` decides which value is current; this module only compares it with the others. Two spellings of one
name are not a conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from app.domain.findings import FoundCompany, FoundContact
from app.domain.normal.names import company_key, name_key
from app.domain.records.merging import ALL, RankedSource, stamp

CONTACT_FIELDS = (
    "full_name", "title", "seniority", "department", "linkedin_url", "city", "country",
)  # fmt: skip
COMPANY_FIELDS = ("name", "domain", "linkedin_url", "industry", "headcount", "city", "country")
EMPLOYER = "company"
"""The contact's company, as a field of the contact."""

_UNKNOWN_SOURCE: Mapping[str, str | None] = {"source": None, "at": None}
_FILLED_ONCE = frozenset({"name", "domain", "linkedin_url"})
_KEYS: dict[str, Callable[[str], str]] = {
    "full_name": name_key,
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
        known = self.provenance
        by = {EMPLOYER: known["company_id"]} if "company_id" in known else {}
        return SourceRecord({**self.values, EMPLOYER: company}, {**known, **by})

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
    ranked_source = RankedSource(source.provider, source.kind, source.at, ranking)
    if isinstance(found, FoundContact) and found.company is not None:
        return replace(found, source=ranked_source, company=ranked(found.company, ranking))
    return replace(found, source=ranked_source)


def sources(standing: SourceRecord, words: Sequence[SourceRecord]) -> dict[str, dict[str, str]]:
    """Return the stamp of each current value; `words` are the source records in the order received."""
    said = {
        name: _said(standing, words, name) for name, value in standing.values.items() if value is not None
    }
    return {name: dict(found) for name, found in said.items() if found}


def conflicts(entity: str, standing: SourceRecord, words: Sequence[SourceRecord]) -> list[dict[str, Any]]:
    """Return every value that differs from the current one of its field, with the sources of both."""
    found: list[dict[str, Any]] = []
    for name, value in standing.values.items():
        if value is None:
            continue
        others: dict[str, dict[str, str | None]] = {}
        for word in words:
            other = word.values.get(name)
            if other is not None and _key(name, other) != _key(name, value):
                others.setdefault(
                    _key(name, other), {"value": other, **(word.stamp_of(name) or _UNKNOWN_SOURCE)}
                )
        said = _said(standing, words, name) or _UNKNOWN_SOURCE
        found += [
            {"entity": entity, "field": name, "value": value, **said, "other": other}
            for other in others.values()
        ]
    return found


def _said(standing: SourceRecord, words: Sequence[SourceRecord], name: str) -> Mapping[str, str] | None:
    """Return the stamp of the current value; for a field that is only filled once, its first source."""
    if name in _FILLED_ONCE and name not in standing.provenance:
        value = standing.values[name]
        first = (word.stamp_of(name) for word in words if word.values.get(name) == value)
        return next(first, None) or standing.stamp_of(name)
    return standing.stamp_of(name)


def _key(name: str, value: str) -> str:
    return _KEYS.get(name, str.casefold)(value) or value.casefold()
