"""Dates in lists: their formats, and the order of day and month in a column."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.errors import InvalidValue
from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey
from app.domain.lists.cells.dates import DateOrder, DateOrders, is_ambiguous, list_dates, parse_date_cell
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.people_rows import person_of
from app.domain.lists.row_values import ImportDefaults, RowValues

# ruff: noqa: RUF001 -- letters of many scripts are what is read
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
APRIL_25 = datetime(2026, 4, 25, tzinfo=UTC)
DMY, MDY = DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST


@pytest.mark.parametrize(
    "text",
    [
        "25/04/2026", "25-04-2026", "25.04.2026", "25. 4. 2026", "25.04.26", "04/25/2026",
        "4/25/26",
        "2026.04.25",
        "2026/4/25", "2026. 4. 25.", "2026年4月25日", "2026년 4월 25일", "20260425", "25 Apr 2026",
        "25-Apr-26",
        "April 25, 2026",
        "25th of April, 2026", "Sat Apr 25 2026", "25 avr. 2026", "25 avril 2026",
        "25. April 2026",
        "25 de abril de 2026", "25 kwietnia 2026", "25 апреля 2026 г.", "25 апр. 2026 г.",
        "lauantai 25. huhtikuuta 2026",
        "Sat, 25 Apr 2026 02:00:00 +0200", "2026-04-25 02:00:00 +0200", "2026-04-25 00:00:00 UTC",
        "46137", "46137.0",
    ],
)  # fmt: skip
def test_dates_are_read_in_the_formats_of_many_countries(text: str) -> None:
    assert parse_date_cell(text, None) == APRIL_25


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("25/04/2026 3:15 PM", 15),
        ("25/04/2026 12:15 a.m.", 0),
        ("25.04.2026 15:15", 15),
        ("25 April 2026, 15:15:30", 15),
    ],
)
def test_dates_may_have_a_time(text: str, hour: int) -> None:
    assert parse_date_cell(text, None) == APRIL_25.replace(hour=hour, minute=15)


@pytest.mark.parametrize(
    "text",
    [
        "Ada May 2026", "May", "25 April", "April 26", "12", "1999999", "31/31/2026", "00/00/2026",
        "30 February 2026",
        "25/04", "April 25 26 2026", "April May 2026", "x" * 100,
    ],
)  # fmt: skip
def test_other_texts_are_no_dates(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_date_cell(text, None)


def orders(**columns: list[str]) -> DateOrders:
    layout = map_columns([name.replace("_", " ") for name in columns], Entity.CONTACTS)
    return list_dates(layout, list(zip(*columns.values(), strict=True)), now=NOW)


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["25/04/2026", "03/04/2026"], DMY),
        (["03/04/2026", "25/04/2026"], DMY),
        (["04/25/2026", "03/04/2026"], MDY),
        (["03/12/2026", "03/04/2026"], MDY),
        (["12/03/2026", "03/04/2026"], DMY),
        (["25.04.2026", "03/04/2026"], DMY),
        (["25/04/2026", "26/04/2026", "04/25/2026"], DMY),
        (["03/04/2026", "05/05/2026", "soon", "", "2026-04-25"], None),
        (["99/98/2026", "00/04/2026"], DMY),
    ],
)
def test_the_dates_of_a_column_have_one_order(texts: list[str], order: DateOrder | None) -> None:
    assert orders(last_verified=texts, email=["a@a.example"] * len(texts)).of(0) == order


def test_a_column_that_shows_no_order_has_that_of_the_others() -> None:
    found = orders(updated_at=["25/04/2026"], email=["a@a.example"], email_verified_at=["03/04/2026"])

    assert (found.of(2), found.of(None)) == (DMY, DMY)


def test_columns_may_have_different_orders() -> None:
    found = orders(updated_at=["25/04/2026"], email=["a@a.example"], email_verified_at=["04/25/2026"])

    assert (found.of(0), found.of(2), found.of(None)) == (DMY, MDY, None)


def test_the_dates_of_addresses_and_phones_count() -> None:
    found = orders(email=["a@a.example"], phone=["1"], phone_last_seen=["25/04/2026"])

    assert found.of(None) == DMY


def test_a_given_order_holds_for_all_columns() -> None:
    layout = map_columns(["email", "updated at"], Entity.CONTACTS)
    found = list_dates(layout, [["a@a.example", "04/25/2026"]], now=NOW, given=DMY)

    assert found.of(1) == DMY


@pytest.mark.parametrize(
    ("text", "expected"),
    [("03/04/2026", True), ("03.04.2026", False), ("04/04/2026", False), ("25/04/2026", False)],
)
def test_a_date_is_ambiguous_if_it_exists_in_both_orders(text: str, *, expected: bool) -> None:
    assert is_ambiguous(text) is expected


@pytest.mark.parametrize(
    ("dates", "month", "warnings"),
    [
        (DateOrders(), 3, {WarningKey("email_verified_at", 1, "date_order"): 1}),
        (DateOrders({1: DMY}), 4, {}),
        (DateOrders(others=MDY), 3, {}),
    ],
)
def test_an_order_that_nothing_shows_is_reported_once_for_each_cell(
    dates: DateOrders, month: int, warnings: dict[WarningKey, int]
) -> None:
    layout = map_columns(["email", "last verified"], Entity.CONTACTS)
    defaults = ImportDefaults("list.csv", NOW, NOW, dates=dates)
    values = RowValues(layout, ["a@a.example", "03/04/2026"], defaults, CellWarnings(), 2)

    found = person_of(values, layout).found

    assert found.emails[0].verified_at is not None
    assert found.emails[0].verified_at.month == month
    assert values.warnings.counts == warnings
