"""Names as lists, mail programs and networks write them: `written_names.csv` has each with its source."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from app.domain.normal.names.name_parts import name_of_parts
from app.domain.normal.names.names import NoPerson, PersonName, parse_name

CASES = list(
    csv.DictReader((Path(__file__).parent / "written_names.csv").read_text(encoding="utf-8").splitlines())
)


@pytest.mark.parametrize("case", [case for case in CASES if case["full"]], ids=lambda case: case["text"])
def test_a_name_is_read_as_it_is_meant(case: dict[str, str]) -> None:
    assert parse_name(case["text"]) == PersonName(case["first"], case["last"], case["full"])


@pytest.mark.parametrize("text", [case["text"] for case in CASES if not case["full"]])
def test_what_names_nobody_or_several_people_is_not_read(text: str) -> None:
    with pytest.raises(NoPerson):
        parse_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "Kortimi OUEDRAOGO/SERE",  # two family names
        "Ada Low She/Her",  # pronouns
        "Rajesh Kumar a/l Subramaniam",  # the son of
        "Ada Status",
        "Jane Doe/Bob Roe",
    ],
)
def test_a_slash_or_a_word_of_a_form_alone_is_not_a_frame(text: str) -> None:
    assert parse_name(text).full in {text, "Ada Low"}


def test_a_father_s_name_in_the_middle_shows_the_order_although_the_header_says_another() -> None:
    assert parse_name("Иван Петрович Сидоров", family_first=True).last == "Сидоров"


@pytest.mark.parametrize(
    ("text", "last"), [("Tolkien JRR", "Tolkien"), ("VLK Jan", "VLK"), ("Jan VLK", "VLK")]
)
def test_capitals_without_a_vowel_are_a_family_name_only_beside_a_slavic_given_name(
    text: str, last: str
) -> None:
    assert parse_name(text, family_first=True).last == last


def test_a_family_name_alone_that_names_several_is_not_read() -> None:
    with pytest.raises(NoPerson):
        name_of_parts("", "Müller; Söhne")
