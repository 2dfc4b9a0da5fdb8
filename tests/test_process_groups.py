"""Which tests run in one process: see tests/support/process_groups.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from process_groups import SHARED

ROOT = Path(__file__).parents[1]
FILES = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]


@pytest.mark.parametrize("name", SHARED)
def test_every_group_has_files(name: str) -> None:
    assert len([file for file in FILES if re.fullmatch(SHARED[name], file)]) > 1


def test_no_file_of_own_service_takes_the_shared_one() -> None:
    others = {file for file in FILES if file.startswith("tests/e2e/own_service/")}
    users = {file for file in others if _takes_the_service(file)}

    assert others
    assert users == set()


def _takes_the_service(file: str) -> bool:
    """Return whether the tests of a file use the service of the folder; others start one of their own."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return "stack: Stack" in text and not re.search(r"\brunning\w*\(|def stack\(", text)
