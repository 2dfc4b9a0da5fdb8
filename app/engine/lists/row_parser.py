"""Parses the rows of a list, and makes the digests of those that need not be parsed again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from app.domain.errors import InvalidValue
from app.domain.findings import FoundContact
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.company_rows import company_of
from app.domain.lists.files.csv_records import Row
from app.domain.lists.headers.column_mapping import ColumnMapping, Entity
from app.domain.lists.people_rows import ParsedPerson, person_of
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.engine.lists.imported_rows import RowDigester
from app.infra.crypto.digest_keys import DigestKeys

RejectRow: TypeAlias = Callable[[Row, str], None]
"""Records a refused row and the reason."""
DigestedRow: TypeAlias = tuple[Row, bytes | None]
"""A row and its digest, if it has one."""

_DATES = frozenset({"updated_at", "email_verified_at"})
"""The fields that date a row."""


@dataclass(frozen=True, slots=True)
class RowParser:
    """Parses rows with the columns and defaults of one list, and counts the cells that it did not understand.

    Without a digester no row has a digest.
    """

    layout: ColumnMapping
    defaults: ImportDefaults
    warnings: CellWarnings
    digester: RowDigester | None

    def digest(self, row: Row) -> bytes | None:
        """Return the digest of a row that can be read."""
        return self.digester.digest(row.cells) if self.digester and row.fault is None else None

    def parse_all(self, rows: Sequence[DigestedRow], reject: RejectRow) -> list[Any]:
        """Return the people or companies of the rows; reject the rows that identify none."""
        read = []
        for row, digest in rows:
            try:
                read.append(self._parse(row, digest))
            except InvalidValue as error:
                reject(row, str(error))
        return read

    def _parse(self, row: Row, digest: bytes | None) -> object:
        if row.fault is not None:
            raise InvalidValue(row.fault)
        warned_before = self.warnings.total if digest else 0
        values = RowValues(self.layout, row.cells, self.defaults, self.warnings, row.line)
        if self.layout.entity is Entity.COMPANIES:
            return company_of(values)
        person = person_of(values, self.layout)
        if digest and (self.warnings.total > warned_before or not self._is_dated(person.found)):
            digest = None
        return ParsedPerson(person.found, person.numbers, digest, row.line)

    def _is_dated(self, found: FoundContact) -> bool:
        """Return whether no date of the row is the time of the import."""
        now = self.defaults.now
        return found.source.at != now and all(email.verified_at != now for email in found.emails)


def digester_of(
    keys: DigestKeys, layout: ColumnMapping, defaults: ImportDefaults, at: datetime | None
) -> RowDigester | None:
    """Return the digester of a list; None for companies, which are few, and for rows without a date.

    `at` is the date of rows without one, if the operator gave it.

    A row without a date is as new as its import, so importing it again is not without effect.
    """
    if layout.entity is Entity.COMPANIES or (at is None and _DATES.isdisjoint(layout.single)):
        return None
    countries = defaults.countries
    options = (defaults.source, at, defaults.region, countries.states, countries.majority, defaults.dates)
    return RowDigester.of(keys, layout, *options)
