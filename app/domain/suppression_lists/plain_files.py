"""Lists of e-mails, phones, profiles or domains to suppress, read as imports read the same columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice
from typing import IO

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.lists.cells.cells import emails_in, value
from app.domain.lists.cells.country_cells import list_country
from app.domain.lists.cells.list_countries import SAMPLE, ListCountries, list_countries
from app.domain.lists.cells.profile_cells import listed_profile
from app.domain.lists.files.csv_records import Row
from app.domain.lists.files.tables import DETECTED, Table, TableOptions, read_table
from app.domain.lists.headers.column_mapping import ColumnMapping, Entity, map_columns
from app.domain.lists.headers.column_values import fit_columns
from app.domain.lists.phone_cells.phone_cells import phone_regions
from app.domain.lists.phone_cells.phone_reading import PhoneRegions
from app.domain.lists.phone_cells.phone_splits import UnreadPhone, read_phones
from app.domain.lists.row_values import ImportDefaults
from app.domain.normal.person_emails import wrapped_email
from app.domain.normal.websites import normal_host

DOMAIN, PHONE = "domain", "phone"
_UNKNOWN = (
    "No column with an e-mail, a phone or a LinkedIn profile was recognised. Columns found: {}. Name the "
    "columns email, phone or linkedin_url in the header, or say what the list consists of with --kind."
)
_AREA_CODE = re.compile(r"\(?[0-9]{2,4}\)?")
_COUNTRIES = ("country", "company_country")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ListedValue:
    """A value of a list in normal form, None if it cannot be read; `line` is its line, from 1."""

    kind: str
    value: str | None
    line: int
    column: str


def rows(
    file: IO[bytes],
    *,
    kind: str | None = None,
    country: str | None = None,
    options: TableOptions = DETECTED,
) -> Iterator[ListedValue]:
    """Yield the values of each row, also those that cannot be read; a row without any is one of them.

    `kind` is what the columns of a list hold whose header does not say it. A list of the kind `domain`
    consists of domains; in others websites are ignored. In a list of the kind `phone`, the area code may be
    in a column of its own. `country` is the country of phone numbers without a country code, where the row
    names none.

    Raises:
        InvalidValue: the file cannot be read as a list, or no column is known.

    """
    table = read_table(file, lambda cells: map_columns(cells, Entity.CONTACTS).known_count, options)
    try:
        sample = list(islice(table.rows, SAMPLE))
        reader = _Reader.of(table, sample, kind=kind, country=country)
        first = [Row(1, table.header)] if kind == DOMAIN and _is_domain(table) else []
        for row in chain(first, sample, table.rows):
            yield from reader.read(_with_area_code(row) if kind == PHONE else row)
    finally:
        table.close()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the rows of one list."""

    header: Sequence[str]
    layout: ColumnMapping
    domains: Sequence[int]
    defaults: ImportDefaults

    @classmethod
    def of(cls, table: Table, sample: Sequence[Row], *, kind: str | None, country: str | None) -> _Reader:
        cells = [row.cells for row in sample if row.fault is None]
        layout = _layout(table, cells)
        domains = _domain_columns(table.header) if kind == DOMAIN else ()
        if not (domains or _names_anybody(layout)):
            if kind in {None, DOMAIN}:
                raise InvalidValue(_UNKNOWN.format(", ".join(map(repr, table.header))))
            layout = map_columns(table.header, Entity.CONTACTS, dict.fromkeys(table.header, kind))
        countries = list_countries(layout, cells) if layout.phones else ListCountries()
        return cls(table.header, layout, domains, ImportDefaults("", _EPOCH, _EPOCH, country, countries))

    def read(self, row: Row) -> Iterator[ListedValue]:
        """Yield the values of a row; a row that shows nobody is one value that cannot be read."""
        found = list(self._values(row)) if row.fault is None else []
        yield from found or [ListedValue("row", None, row.line, "")]

    def _values(self, row: Row) -> Iterator[ListedValue]:
        if self.domains:
            for index in self.domains:
                if text := value(row.cells[index]):
                    yield self._value("domain", text, normal_host, row, index)
            return
        for slot in self.layout.emails:
            for text in emails_in(row.cells[slot.index]):
                yield self._value("email", text, wrapped_email, row, slot.index)
        for index in self.layout.single.get("linkedin_url", ()):
            if text := value(row.cells[index]):
                yield self._value("linkedin_url", text, listed_profile, row, index)
        regions = self._regions(row)
        for slot in self.layout.phones:
            for read in read_phones(row.cells[slot.index], lambda: regions):
                number = None if isinstance(read, UnreadPhone) else read.number.e164
                yield ListedValue("phone", number, row.line, self.header[slot.index])

    def _value(self, kind: str, text: str, form: Callable[[str], str], row: Row, index: int) -> ListedValue:
        try:
            normal = form(text)
        except (InvalidValue, NotAProfileUrl):
            return ListedValue(kind, None, row.line, self.header[index])
        return ListedValue(kind, normal, row.line, self.header[index])

    def _regions(self, row: Row) -> PhoneRegions:
        """Return the countries of the row's phone numbers without a country code."""
        return phone_regions(self.defaults, _named_countries(self.layout, row.cells), ())


def _names_anybody(layout: ColumnMapping) -> bool:
    return bool(layout.emails or layout.phones or "linkedin_url" in layout.single)


def _with_area_code(row: Row) -> Row:
    """Return a row whose first cell is an area code with the number in one cell: `650,2530000`."""
    if len(row.cells) > 1 and _AREA_CODE.fullmatch(row.cells[0].strip()):
        area_code, number, *others = row.cells
        return row._replace(cells=[f"{area_code.strip()} {number}", "", *others])
    return row


def _layout(table: Table, cells: Sequence[Sequence[str]]) -> ColumnMapping:
    """Return the columns by the header or, without one, by the values of the first rows."""
    if table.has_header:
        return map_columns(table.header, Entity.CONTACTS)
    return fit_columns(table.header, Entity.CONTACTS, cells, has_header=False).layout


def _is_domain(table: Table) -> bool:
    """Return whether what was taken for a header is the first domain of a list without one."""
    try:
        return table.has_header and len(table.header) == 1 and "." in normal_host(table.header[0])
    except InvalidValue:
        return False


def _named_countries(layout: ColumnMapping, cells: Sequence[str]) -> Iterator[str]:
    for field in _COUNTRIES:
        for index in layout.single.get(field, ()):
            try:
                yield list_country(cells[index])
            except InvalidValue:
                continue


def _domain_columns(header: Sequence[str]) -> tuple[int, ...]:
    names = [name.casefold() for name in header]
    named = tuple(index for index, name in enumerate(names) if "domain" in name or "website" in name)
    return named or ((0,) if len(header) == 1 else ())
