from __future__ import annotations

import pytest

from app.domain.lists.headers.column_mapping import Entity, map_columns


@pytest.mark.parametrize(
    "header",
    [
        "Ф.И.О.",  # noqa: RUF001
        "ФИО",
        "ПІБ",
        "П.І.Б.",  # noqa: RUF001
        "Прізвище та ім’я",  # noqa: RUF001
        "Nume și prenume",
        "Vezetéknév és keresztnév",
    ],
)
def test_a_header_of_eastern_europe_says_that_the_family_name_is_first(header: str) -> None:
    layout = map_columns([header, "E-mail"], Entity.CONTACTS)

    assert (layout.meanings[header], layout.family_first) == ("full_name", {0})


@pytest.mark.parametrize(
    ("header", "field"), [("Ph", "phone"), ("Ph. 2", "phone"), ("Handphone", "phone"), ("Mob", "phone")]
)
def test_short_words_for_phones_are_known(header: str, field: str) -> None:
    assert map_columns([header, "E-mail"], Entity.CONTACTS).meanings[header] == field
