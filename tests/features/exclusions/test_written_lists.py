"""Lists of exclusions as people and other programs write them."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from app.domain import exclusions
from app.domain.errors import InvalidValue
from app.domain.exclusions import Kind, Reason
from app.features.exclusions import csv_lists

pytestmark = pytest.mark.any_database

CASES = Path(__file__).parent / "cases" / "lists.txt"


def cases() -> list[Any]:
    """Return the text, the entries and the numbers of the lines left out of each case."""
    found = []
    for case in CASES.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, lines = case.partition("\n")
        named = [tuple(line.split()) for line in re.findall(r"^> (.*)", lines, re.MULTILINE)]
        left_out = [int(line) for line in re.findall(r"^< (.*)", lines, re.MULTILINE)]
        content = re.sub(r"(?m)^[<>] .*\n?", "", lines).strip()
        found.append(pytest.param(content, sorted(named), left_out, id=title))
    return found


@pytest.mark.parametrize(("content", "named", "left_out"), cases())
def test_a_list_names_whom_it_means(content: str, named: list[Any], left_out: list[int]) -> None:
    found = csv_lists.read(BytesIO(content.encode()), Reason.OTHER)

    reasons = ((each, each.reason if each.reason is not Reason.OTHER else "") for each in found.entries)
    assert sorted(tuple(filter(None, (each.kind, each.value, reason))) for each, reason in reasons) == named
    assert [each.line for each in found.rejected] == left_out


def test_a_cell_may_have_many_domains() -> None:
    cell = " ".join(f"acme{number}.com" for number in range(100))

    found = csv_lists.read(BytesIO(f"domain\n{cell}\n".encode()), Reason.OTHER)

    assert [each.value for each in found.entries] == cell.split()


def test_an_address_is_not_a_domain() -> None:
    with pytest.raises(InvalidValue, match=r"^This is an e-mail address"):
        exclusions.normal(Kind.DOMAIN, "ada@acme.com")
