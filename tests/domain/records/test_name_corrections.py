from __future__ import annotations

import pytest

from app.domain.normal.names.names import PersonName, parse_name
from app.domain.records.name_corrections import is_correction


def as_entered(full: str) -> PersonName:
    parsed = parse_name(full)
    return PersonName(parsed.first, parsed.last, full)


@pytest.mark.parametrize(
    ("source", "corrected"),
    [
        ("Ada Lovelace", "Ada King"),
        ("Ada Lovelace", "Ada King Lovelace"),
        ("Ada Lovelace", "Ada King-Lovelace"),
        ("Ada Lovelase", "Ada Lovelace"),
        ("A. Lovelace", "Ada Lovelace"),
        ("Lovelace", "Ada Lovelace"),
        ("Bob Smith", "Robert Smith"),
        ("Jürgen Müller", "Juergen Mueller"),
        ('Earl "Buddy" Carter', 'Earl L. "Buddy" Carter'),
        ("Anna Maria Garcia Lopez", "Anna Garcia"),
    ],
)
def test_a_form_of_the_name_is_a_correction(source: str, corrected: str) -> None:
    assert is_correction(parse_name(source), as_entered(corrected))


@pytest.mark.parametrize(
    "corrected",
    [
        "Charles Babbage",
        "Charles Lovelace",
        "Ada Lovelace Charles Babbage",
        "Charles Babbage Ada Lovelace",
        "Charles Ada Lovelace",
        "Lovelace, Charles Ada",
        'Ada "Charles" Babbage',
        'Ada Lovelace - "Charles" Babbage',
    ],
)
def test_a_name_that_contains_another_persons_is_not_a_correction(corrected: str) -> None:
    assert not is_correction(parse_name("Ada Lovelace"), as_entered(corrected))
