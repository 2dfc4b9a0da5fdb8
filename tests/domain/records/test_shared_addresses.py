from __future__ import annotations

import pytest

from app.domain.normal.names.names import PersonName, parse_name
from app.domain.records.shared_addresses import are_different_people


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Thomas Müller", "Maria Müller"),
        ("Ada Lovelace", "Bob Ray"),
        ("Nguyễn Thị Thu Hà", "Trần Văn Minh"),
        ("王小明", "Ada Lovelace"),
        ("Vere Bird Sr.", "Vere Bird Jr."),
    ],
)
def test_people_with_different_names_are_different(a: str, b: str) -> None:
    assert are_different_people(parse_name(a), parse_name(b))
    assert are_different_people(parse_name(b), parse_name(a))


def test_people_of_whom_only_different_family_names_are_known_are_different() -> None:
    assert are_different_people(PersonName("", "Smith", "Smith"), PersonName("", "Jones", "Jones"))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ada Lovelace", "ada lovelace"),
        ("Jane Doe", "Jane Miller"),
        ("Bob Smith", "Robert Smith"),
        ("Bob Doe", "Robert Miller"),
        ("Lovelace", "Ada Lovelace"),
        ("Vere Bird", "Vere Bird Jr."),
        ("Lovelace Ada", "Ada Lovelace"),
        ("Jürgen Müller", "Juergen Mueller"),
        ("A. Lovelace", "Ada Lovelace"),
        ("Ada Lovelase", "Ada Lovelace"),
    ],
)
def test_a_changed_or_similar_name_is_not_another_person(a: str, b: str) -> None:
    assert not are_different_people(parse_name(a), parse_name(b))
    assert not are_different_people(parse_name(b), parse_name(a))
