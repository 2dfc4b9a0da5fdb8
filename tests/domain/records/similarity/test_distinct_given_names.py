"""Given names that differ in a letter, and are two people's: https://en.wiktionary.org/wiki/Appendix:Names."""

from __future__ import annotations

import pytest

from app.domain.normal.names.names import parse_name
from app.domain.records.similarity.name_similarity import name_score
from app.domain.records.similarity.word_similarity import ALIKE

ANOTHER = 0.65


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Rolf", "Ralf"),
        ("Heiko", "Heike"),
        ("Ingo", "Inga"),
        ("Arno", "Arne"),
        ("Hasan", "Hakan"),
        ("Milan", "Milos"),
        ("Kari", "Karin"),
        ("Denis", "Denise"),
        ("Julio", "Julia"),
    ],
)
def test_names_that_differ_in_a_letter_are_two_people(a: str, b: str) -> None:
    assert name_score(parse_name(f"{a} Vogt"), parse_name(f"{b} Vogt")) < ANOTHER


def test_as_family_names_the_same_words_may_have_a_typing_error() -> None:
    assert name_score(parse_name("Ada Arnold Ralf"), parse_name("Ada Arnold Rolf")) == ALIKE["typo"]
