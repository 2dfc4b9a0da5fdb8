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
    row: RowValues, slots: tuple[ValueColumns, ...], regions: tuple[str, ...], at: datetime | None
) -> tuple[tuple[FoundPhone, PhoneNumber], ...]:
    """Return the distinct numbers of a row; `regions` are the likely countries of national ones, in order."""
    found: dict[str, tuple[FoundPhone, PhoneNumber]] = {}
    for slot in slots:
        label = row.cell(slot.about.get("type"))
        kind = (phone_type(label) if label else None) or slot.kind
        if kind == "fax":
            continue
        for number in _numbers(row, slot, regions):
            if number.e164 not in found:
                found[number.e164] = (_described(row, slot, number, kind, at), number)
    return tuple(found.values())


def _numbers(row: RowValues, slot: ValueColumns, regions: tuple[str, ...]) -> Iterator[PhoneNumber]:
    text = row.cells[slot.at]
    if not text:
        return
    for said in phones_in(text):
        try:
            yield _number(said, regions)
        except InvalidValue:
            row.warnings["phone"] += 1


@lru_cache(maxsize=4096)
def _number(said: str, regions: tuple[str, ...]) -> PhoneNumber:
    """Parse a number as international, as national in each country, then as one that lacks its plus."""
    if said.startswith("+"):
        return parse_phone(said)
    for region in regions:
        try:
            return parse_phone(said, region)
        except InvalidValue:
            continue
    if said.startswith("00") or sum(map(str.isdecimal, said)) < _MIN_INTERNATIONAL_DIGITS:
        return parse_phone(said)
    return parse_phone(f"+{said}")


def _described(
    row: RowValues, slot: ValueColumns, number: PhoneNumber, kind: str | None, at: datetime | None
) -> FoundPhone:
    about = slot.about
    seen_at = row.time(row.cell(about.get("seen_at")), "phone_seen_at") if about else None
    dnc = row.cell(about.get("do_not_call")) or row.text("do_not_call")
    return FoundPhone(
        e164=number.e164,
        source=row.source(seen_at or at),
        type=kind or ("mobile" if number.line_type == "mobile" else "work"),
        status=_status(row, slot),
        extension=number.extension,
        do_not_call=parse_boolean(dnc) if dnc else None,
        verified_at=row.time(row.cell(about.get("verified_at")), "phone_verified_at") if about else None,
    )


def _status(row: RowValues, slot: ValueColumns) -> str:
    """Return the status; `valid` if the row has none, because the operator's data is trusted."""
    said = row.cell(slot.about.get("status"))
    if said is None:
        return "valid"
    try:
        return email_status(said).value
    except InvalidValue:
        row.warnings["phone_status"] += 1
        return "unknown"
