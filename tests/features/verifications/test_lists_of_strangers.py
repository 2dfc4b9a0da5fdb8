"""Lists and values to verify as people paste and export them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from app.features.verifications import values

pytestmark = pytest.mark.any_database

CASES = Path(__file__).parent / "cases"
_EXPECTED = ("> ", "~ ")


def lists() -> Iterator[Any]:
    for section in (CASES / "lists.txt").read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _break, body = section.rstrip("\n").partition("\n")
        lines = body.split("\n")
        content = "\n".join(line for line in lines if not line.startswith(_EXPECTED))
        yield pytest.param(content, [line for line in lines if line.startswith(_EXPECTED)], id=title)


@pytest.mark.parametrize(("content", "expected"), list(lists()))
def test_every_value_of_a_list_is_found_or_named(content: str, expected: list[str]) -> None:
    found = values.of_file(BytesIO(content.encode()), "GB")

    read = [f"> {line} {value.text}" for value, line in found.found.items()]
    assert read + [f"~ {each.line}" for each in found.unreadable] == expected


def single_values() -> Iterator[Any]:
    for line in (CASES / "values.txt").read_text(encoding="utf-8").splitlines():
        if " -> " in line and not line.startswith("#"):
            given, _arrow, expected = line.rpartition(" -> ")
            country, _space, literal = given.partition(" ")
            yield pytest.param(country, ast.literal_eval(literal), expected, id=given[:60])


@pytest.mark.parametrize(("country", "text", "expected"), list(single_values()))
def test_a_value_is_verified_or_named(country: str, text: str, expected: str) -> None:
    found = values.of_texts([text], None if country == "--" else country)

    assert " ".join(value.text for value in found.found) == expected.replace("nothing", "")
    assert bool(found.unreadable) is (expected == "nothing")
