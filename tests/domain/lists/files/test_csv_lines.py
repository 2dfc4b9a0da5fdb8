"""CSV files that the service writes."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from app.domain.lists.files.csv_lines import csv_line

ROOT = Path(__file__).parents[4]
FORMULA = "=cmd|' /C calc'!A0"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_the_separator_of_the_reader(separator: str) -> None:
    line = csv_line(["Ada", f"CEO;{FORMULA}", f"CEO,{FORMULA}", f"CEO\t{FORMULA}", f"CEO\n{FORMULA}"])

    read = [cell for row in csv.reader(line.splitlines(), delimiter=separator) for cell in row]

    assert not [cell for cell in read if cell.strip(' "').startswith("=")]


def test_all_cells_are_quoted_and_end_as_rfc_4180_says() -> None:
    assert csv_line(["Ada", 7, 'a "b"']) == '"Ada","7","a ""b"""\r\n'


def test_the_cells_of_the_readers_own_file_come_back_as_they_were() -> None:
    line = csv_line(["=1+1", "+49 30 1", "=2"], delimiter=";", unchanged=2)

    assert next(csv.reader([line], delimiter=";")) == ["=1+1", "+49 30 1", "'=2"]


def test_nothing_else_writes_csv() -> None:
    folders = ("app", "cli", "workers", "mcp_server")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    pattern = re.compile(r"csv\.(writer|DictWriter)|\bescape_formula\(")

    writing = {str(file.relative_to(ROOT)) for file in files if pattern.search(file.read_text())}

    assert writing == {"app/domain/lists/files/csv_lines.py", "app/domain/lists/cells/cells.py"}
