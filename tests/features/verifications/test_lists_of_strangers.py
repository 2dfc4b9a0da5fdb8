"""Lists to verify as people paste and export them."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from app.features.verifications import values

pytestmark = pytest.mark.any_database

CASES = Path(__file__).parent / "cases" / "lists.txt"
_EXPECTED = ("> ", "~ ")


def lists() -> Iterator[Any]:
    for section in CASES.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _break, body = section.rstrip("\n").partition("\n")
        lines = body.split("\n")
        content = "\n".join(line for line in lines if not line.startswith(_EXPECTED))
        yield pytest.param(content, [line for line in lines if line.startswith(_EXPECTED)], id=title)


@pytest.mark.parametrize(("content", "expected"), list(lists()))
def test_every_value_of_a_list_is_found_or_named(content: str, expected: list[str]) -> None:
    found = values.of_file(BytesIO(content.encode()), "GB")

    read = [f"> {line} {value.text}" for value, line in found.found.items()]
    assert read + [f"~ {each.line}" for each in found.unreadable] == expected
