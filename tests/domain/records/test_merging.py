from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.domain.findings import Source, SourceKind
from app.domain.records.merging import Change, RankedSource, merge

NOW = datetime(2026, 11, 20, tzinfo=UTC)
UNITS = (("title",), ("city", "country"))
RANKING = ("first", "second", "guesser")


def a_source(days: int = 0, by: str = "new") -> Source:
    return Source(by, SourceKind.IMPORT, NOW + timedelta(days=days))


def row(**values: Any) -> dict[str, Any]:
    stamp = {"source": "old", "at": "2026-11-20T00:00:00.000Z"}
    return {"title": None, "city": None, "country": None, "provenance": {"*": stamp}} | values


def word(**values: Any) -> dict[str, Any]:
    return {"title": None, "city": None, "country": None} | values


def test_a_newer_unit_replaces_the_whole_unit() -> None:
    known = row(title="CTO", city="Paris", country="FR")

    change = merge(known, word(country="DE"), UNITS, a_source(1))

    assert change is Change.CHANGED
    assert (known["title"], known["city"], known["country"]) == ("CTO", None, "DE")
    assert known["provenance"]["country"]["source"] == "new"
    assert "city" not in known["provenance"]


def test_missing_fields_of_an_agreeing_unit_are_filled() -> None:
    known = row(country="FR")

    change = merge(known, word(city="Paris", country="FR"), UNITS, a_source())

    assert (change, known["city"]) == (Change.CHANGED, "Paris")


def test_an_older_city_is_not_combined_with_a_newer_country() -> None:
    known = row(country="FR")

    change = merge(known, word(city="Berlin"), UNITS, a_source(-1))

    assert (change, known["city"]) == (Change.NONE, None)


def test_of_two_values_with_the_same_time_the_first_stays() -> None:
    known = row(title="CTO")

    assert merge(known, word(title="CEO"), UNITS, a_source()) is Change.NONE
    assert known["title"] == "CTO"


def test_a_complete_confirmation_is_one_stamp() -> None:
    known = row(title="CTO", country="FR")
    merge(known, word(country="DE"), UNITS, a_source(1))

    change = merge(known, word(title="CTO", country="DE"), UNITS, a_source(2, "newest"))

    assert change is Change.REFRESHED
    assert known["provenance"] == {"*": {"source": "newest", "at": "2026-11-22T00:00:00.000Z"}}


def test_a_field_keeps_its_own_stamp() -> None:
    known = row(title="CTO", country="FR")
    merge(known, word(title="CEO"), UNITS, a_source(1))

    merge(known, word(country="DE"), UNITS, a_source(2, "newest"))

    assert {name: value["source"] for name, value in known["provenance"].items()} == {
        "*": "old",
        "title": "new",
        "country": "newest",
    }


def test_any_value_is_newer_than_one_without_a_stamp() -> None:
    known = row(title="CTO", country="FR", provenance={})

    merge(known, word(title="CEO"), UNITS, a_source())

    assert known["provenance"] == {"title": {"source": "new", "at": "2026-11-20T00:00:00.000Z"}}


def test_a_newer_value_of_a_field_replaces_its_stamp() -> None:
    known = row(title="CTO", country="FR")
    merge(known, word(title="CEO"), UNITS, a_source(1))

    merge(known, word(title="CFO"), UNITS, a_source(2, "newest"))

    assert known["provenance"]["title"]["source"] == "newest"
    assert known["title"] == "CFO"


def weighed(by: str, hours: int) -> RankedSource:
    return RankedSource(by, SourceKind.PROVIDER, NOW + timedelta(hours=hours), RANKING)


@pytest.mark.parametrize(
    ("before", "by", "hours", "title"),
    [
        ("second", "first", 8, "CEO"),
        ("second", "first", 10, "CEO"),
        ("first", "second", 10, "CTO"),
        ("first", "guesser", 10, "CTO"),
        ("list.csv", "first", 10, "CTO"),
        ("first", "list.csv", 8, "CEO"),
        ("first", "second", 24, "CEO"),
        ("second", "first", -1, "CTO"),
        ("first", "first", 10, "CEO"),
        ("first", "first", 8, "CTO"),
    ],
)
def test_of_two_values_of_one_day_the_more_trusted_wins(before: str, by: str, hours: int, title: str) -> None:
    known = row(title="CTO", provenance={"*": {"source": before, "at": "2026-11-20T09:00:00.000Z"}})

    merge(known, word(title="CEO"), UNITS, weighed(by, hours))

    assert known["title"] == title


def test_a_less_trusted_value_of_the_day_still_fills_an_empty_field() -> None:
    stamp = {"source": "first", "at": "2026-11-20T09:00:00.000Z"}
    known = row(country="FR", provenance={"*": stamp})

    change = merge(known, word(city="Paris", country="FR"), UNITS, weighed("second", 8))

    assert (change, known["city"]) == (Change.CHANGED, "Paris")
    assert known["provenance"]["*"] == stamp
    assert known["provenance"]["city"]["source"] == "second"
