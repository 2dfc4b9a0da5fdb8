"""Parsing of the phone numbers of a row, with their types; fax numbers are omitted."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from app.domain.errors import InvalidValue
from app.domain.findings import FoundPhone
from app.domain.lists.cells import parse_boolean, phones_in
from app.domain.lists.column_mapping import ValueColumns
from app.domain.lists.row_values import RowValues
from app.domain.normal.phones import PhoneNumber, parse_phone
from app.domain.normal.vocabularies import email_status, phone_type

_MIN_INTERNATIONAL_DIGITS = 11


def phones_of(
    row: RowValues, columns: tuple[ValueColumns, ...], regions: tuple[str, ...], row_time: datetime | None
) -> tuple[tuple[FoundPhone, PhoneNumber], ...]:
    """Return the distinct numbers of a row; `regions` are the likely countries of national ones, in order."""
    found: dict[str, tuple[FoundPhone, PhoneNumber]] = {}
    for column in columns:
        label = row.cell(column.attributes.get("type"))
        kind = (phone_type(label) if label else None) or column.kind
        if kind == "fax":
            continue
        for number in _numbers(row, column, regions):
            if number.e164 not in found:
                found[number.e164] = (_described(row, column, number, kind, row_time), number)
    return tuple(found.values())


def _numbers(row: RowValues, column: ValueColumns, regions: tuple[str, ...]) -> Iterator[PhoneNumber]:
    text = row.cells[column.index]
    if not text:
        return
    for part in phones_in(text):
        try:
            yield _number(part, regions)
        except InvalidValue:
            row.warnings["phone"] += 1


@lru_cache(maxsize=4096)
def _number(text: str, regions: tuple[str, ...]) -> PhoneNumber:
    """Parse a number as international, as national in each country, then as one that lacks its plus."""
    if text.startswith("+"):
        return parse_phone(text)
    for region in regions:
        try:
            return parse_phone(text, region)
        except InvalidValue:
            continue
    if text.startswith("00") or sum(map(str.isdecimal, text)) < _MIN_INTERNATIONAL_DIGITS:
        return parse_phone(text)
    return parse_phone(f"+{text}")


def _described(
    row: RowValues, column: ValueColumns, number: PhoneNumber, kind: str | None, row_time: datetime | None
) -> FoundPhone:
    attributes = column.attributes
    seen_at = row.time(row.cell(attributes.get("seen_at")), "phone_seen_at") if attributes else None
    dnc = row.cell(attributes.get("do_not_call")) or row.text("do_not_call")
    return FoundPhone(
        e164=number.e164,
        source=row.source(seen_at or row_time),
        type=kind or ("mobile" if number.line_type == "mobile" else "work"),
        status=_status(row, column),
        extension=number.extension,
        do_not_call=parse_boolean(dnc) if dnc else None,
        verified_at=row.time(row.cell(attributes.get("verified_at")), "phone_verified_at")
        if attributes
        else None,
    )


def _status(row: RowValues, column: ValueColumns) -> str:
    """Return the status; `valid` if the row has none, because the operator's data is trusted."""
    text = row.cell(column.attributes.get("status"))
    if text is None:
        return "valid"
    try:
        return email_status(text).value
    except InvalidValue:
        row.warnings["phone_status"] += 1
        return "unknown"
