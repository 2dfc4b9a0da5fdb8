"""Parsing of the phone numbers of a row, with their types; those of faxes, pagers and others are omitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from app.domain.errors import InvalidValue
from app.domain.findings import FoundPhone
from app.domain.lists.cells.flags import read_opt_out
from app.domain.lists.headers.column_mapping import ValueColumns
from app.domain.lists.phone_cells.phone_labels import NOT_OWN, label_type
from app.domain.lists.phone_cells.phone_reading import PhoneRegions
from app.domain.lists.phone_cells.phone_splits import ReadPhone, read_phones
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.lists.warning_kinds import MAYBE_FOREIGN, NOT_ASSIGNED
from app.domain.normal.phones.phones import PhoneNumber
from app.domain.normal.places.countries import country_of
from app.domain.normal.texts.vocabularies import email_status


def phone_regions(
    defaults: ImportDefaults, named: Iterable[str | None], domains: Iterable[str | None]
) -> PhoneRegions:
    """Return the countries of a row that names these countries and has these domains."""
    guessed = (*map(country_of, domains), defaults.countries.majority)
    return PhoneRegions(_distinct((*named, defaults.region)), _distinct(guessed))


def _distinct(countries: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, countries)))


def phones_of(
    row: RowValues,
    columns: tuple[ValueColumns, ...],
    regions: Callable[[], PhoneRegions],
    row_time: datetime | None,
) -> tuple[tuple[FoundPhone, PhoneNumber], ...]:
    """Return the distinct numbers of a row; `regions` returns the countries of national ones."""
    found: dict[str, tuple[FoundPhone, PhoneNumber]] = {}
    row_flag = _do_not_call(row, row.filled("do_not_call"))
    for column in columns:
        label = row.cell(column.attributes.get("type"))
        kind = (label_type(label) if label else None) or column.kind
        reads = [] if kind in NOT_OWN else list(_numbers(row, column, regions))
        flag = _column_flag(row, column, row_flag=row_flag) if reads else None
        for read in reads:
            if read.number.e164 not in found:
                phone = _described(row, column, read, kind, row_time, do_not_call=flag)
                found[phone.e164] = (phone, read.number)
    return tuple(found.values())


def _numbers(
    row: RowValues, column: ValueColumns, regions: Callable[[], PhoneRegions]
) -> Iterator[ReadPhone]:
    """Yield the numbers of a cell without those that are noted to be of a fax, a pager or somebody else."""
    text = row.cells[column.index]
    for read in read_phones(text, regions) if text else ():
        if read.code:
            row.warn("phone", read.code, column.index)
        if isinstance(read, ReadPhone) and label_type(read.note) not in NOT_OWN:
            yield read


def _column_flag(row: RowValues, column: ValueColumns, *, row_flag: bool | None) -> bool | None:
    """Return whether the numbers of a column must not be called, by its own flag and the row's."""
    index = column.attributes.get("do_not_call")
    text = row.cell(index)
    flag = None if index is None or text is None else _do_not_call(row, [(index, text)])
    return row_flag if flag is None else flag or bool(row_flag)


def _do_not_call(row: RowValues, cells: Sequence[tuple[int, str]]) -> bool | None:
    """Return whether one of the cells says so; a word that is not known says so too."""
    flags = [row.refuses("do_not_call", index, read_opt_out(text)) for index, text in cells]
    return any(flags) if flags else None


def _described(
    row: RowValues,
    column: ValueColumns,
    read: ReadPhone,
    kind: str | None,
    row_time: datetime | None,
    *,
    do_not_call: bool | None,
) -> FoundPhone:
    number, attributes = read.number, column.attributes
    seen_at = row.time_in(attributes.get("seen_at"), "phone_seen_at") if attributes else None
    return FoundPhone(
        e164=number.e164,
        source=row.source(seen_at or row_time),
        type=label_type(read.note) or kind or ("mobile" if number.line_type == "mobile" else "work"),
        status=_status(row, column, read),
        extension=number.extension,
        do_not_call=do_not_call,
        verified_at=row.time_in(attributes.get("verified_at"), "phone_verified_at") if attributes else None,
    )


def _status(row: RowValues, column: ValueColumns, read: ReadPhone) -> str:
    """Return the row's status; if none, `valid` for an assigned number, because the data is trusted."""
    text = row.cell(column.attributes.get("status"))
    if text is None:
        if not read.number.is_assigned:
            row.warn("phone", NOT_ASSIGNED, column.index)
        is_sure = read.number.is_assigned and read.code != MAYBE_FOREIGN
        return "valid" if is_sure else "unknown"
    try:
        return email_status(text).value
    except InvalidValue:
        row.warn("phone_status")
        return "unknown"
