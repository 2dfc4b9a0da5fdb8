from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import get_args

import pytest

from app.domain import ids
from app.domain.ids import EXAMPLES, Prefix, is_id, make_ids, new_id, time_of


@pytest.mark.parametrize("prefix", get_args(Prefix))
def test_a_new_id_is_an_id_of_its_type_and_of_no_other(prefix: Prefix) -> None:
    made = new_id(prefix)

    assert [other for other in get_args(Prefix) if is_id(made, other)] == [prefix]
    assert len(made) == 28


def test_a_thousand_ids_are_different() -> None:
    assert len({new_id("job") for _ in range(1000)}) == 1000


def test_many_ids_made_at_once_are_ids_of_their_type_and_different() -> None:
    made = make_ids("con", 1000)

    assert len(set(made)) == 1000
    assert all(is_id(one, "con") for one in made)
    assert make_ids("con", 0) == []


def test_ids_made_at_once_sort_after_those_made_before() -> None:
    first, second = make_ids("con", 100), make_ids("con", 100)

    assert max(first) < min(second)


def test_ids_of_one_millisecond_sort_by_creation() -> None:
    made = [new_id("job") for _ in range(1000)]

    assert made == sorted(made)


def test_ids_sort_by_creation_time(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(range(1_700_000_000_000_000_000, 1_900_000_000_000_000_000, 5_000_000_000_000_007))
    monkeypatch.setattr(ids, "time", SimpleNamespace(time_ns=lambda: next(times)))

    made = [new_id("con") for _ in range(30)]

    assert made == sorted(made)


def test_the_time_of_an_id_is_its_creation_time(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = datetime(2026, 11, 22, 9, 30, 0, 500_000, tzinfo=UTC)
    monkeypatch.setattr(ids, "time", SimpleNamespace(time_ns=lambda: round(moment.timestamp() * 1e9)))

    assert abs(time_of(new_id("job")) - moment) < timedelta(milliseconds=1)


@pytest.mark.parametrize(("digit", "year"), [("0", 1970), ("v", 9999)])
def test_a_forged_id_has_a_valid_time(digit: str, year: int) -> None:
    assert time_of(f"job_{digit * 24}").year == year


@pytest.mark.parametrize(
    "text",
    [
        "",
        "job",
        "job_",
        "job_0crnqk4e1k9jv0d2m4f6h8a",
        "job_0crnqk4e1k9jv0d2m4f6h8a5a",
        "job_0crnqk4e1k9jv0d2m4f6h8a5\n",
        "job_0CRNQK4E1K9JV0D2M4F6H8A5",
        "job_0crnqk4e1k9jv0d2m4f6h8az",
        "job_0crnqk4e1k9jv0d2m4f6h8\x00a",
        "job_\u0660crnqk4e1k9jv0d2m4f6h8a5",
        "con_0crnqk4e1k9jv0d2m4f6h8a5",
        " job_0crnqk4e1k9jv0d2m4f6h8a5",
    ],
)
def test_an_invalid_id_is_recognised_without_a_query(text: str) -> None:
    assert not is_id(text, "job")


@pytest.mark.parametrize("prefix", EXAMPLES)
def test_the_examples_are_valid_ids(prefix: Prefix) -> None:
    assert is_id(EXAMPLES[prefix], prefix)
