"""Workbooks that Excel reads although few programs write them so, after public bug reports."""

from __future__ import annotations

import zipfile
from io import BytesIO
from typing import Any

import pytest

from app.domain.errors import InvalidValue
from app.domain.lists.files import xlsx_packages
from app.domain.lists.files.tables import read_table

_OPEN = "http://schemas.openxmlformats.org"
_MAIN = f"{_OPEN}/spreadsheetml/2006/main"
_OFFICE = f"{_OPEN}/officeDocument/2006/relationships"
_PACKAGE = f"{_OPEN}/package/2006"
MISSING = '<Override PartName="/docProps/app.xml" ContentType="text/xml"/></Types>'
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def parts(prefix: str = "", identifier: str = "r", target: str = "worksheets/sheet1.xml") -> dict[str, str]:
    """Return the parts of a workbook with an address, without dimension, references and styles."""
    of = f"{prefix}:" if prefix else ""
    main = f'xmlns{f":{prefix}" if prefix else ""}="{_MAIN}"'
    cells = "".join(
        f'<{of}row><{of}c t="inlineStr"><{of}is><{of}t>{text}</{of}t></{of}is></{of}c></{of}row>'
        for text in ("email", "ada@acme.com")
    )
    return {
        "[Content_Types].xml": (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="a/xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEET}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_SHEET}.worksheet+xml"/></Types>'
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="a" '
            f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ),
        "xl/workbook.xml": (
            f'<{of}workbook {main} xmlns:{identifier}="{_OFFICE}">'
            f'<{of}sheets><{of}sheet name="S" sheetId="1" '
            f'{identifier}:id="a"/></{of}sheets></{of}workbook>'
        ),
        "xl/_rels/workbook.xml.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="a" '
            f'Type="{_OFFICE}/worksheet" Target="{target}"/></Relationships>'
        ),
        "xl/worksheets/sheet1.xml": (
            f"<{of}worksheet {main}><{of}sheetData>{cells}</{of}sheetData></{of}worksheet>"
        ),
    }


def packed(made: dict[str, str]) -> BytesIO:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in made.items():
            archive.writestr(name, content)
    return file


def renamed(old: str, new: str) -> dict[str, str]:
    return {name.replace(old, new): content for name, content in parts().items()}


def strict() -> dict[str, str]:
    iso = "http://purl.oclc.org/ooxml"
    return {
        name: content.replace(_MAIN, f"{iso}/spreadsheetml/main").replace(
            _OFFICE, f"{iso}/officeDocument/relationships"
        )
        for name, content in parts().items()
    }


def addresses(file: BytesIO) -> list[list[str]]:
    table = read_table(file, lambda cells: cells.count("email"))
    found = [row.cells for row in table.rows]
    table.close()
    return found


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(parts(), id="no dimension: ringabout/xlsx#23"),
        pytest.param(strict(), id="strict: QtExcel/QXlsx#68"),
        pytest.param(parts(prefix="x"), id="a prefix: dilshod/xlsx2csv#68, exceljs/exceljs#1437"),
        pytest.param(parts(identifier="ns"), id="another prefix of identifiers: nacnudus/tidyxl#13"),
        pytest.param(parts(target="/xl/worksheets/sheet1.xml"), id="an absolute target"),
        pytest.param(
            {**parts(), "[Content_Types].xml": parts()["[Content_Types].xml"].replace("</Types>", MISSING)},
            id="types of a part that is missing",
        ),
        pytest.param(renamed("/", "\\"), id="backslashes of .NET's archives"),
        pytest.param(renamed("worksheets/sheet1", "Worksheets/Sheet1"), id="another case of a part"),
        pytest.param(renamed("[Content_Types]", "[content_types]"), id="another case of the types"),
        pytest.param(renamed("xl/workbook.xml", "xl/Workbook.xml"), id="another case of the workbook"),
    ],
)
def test_a_workbook_of_another_program_is_read(made: dict[str, str]) -> None:
    assert addresses(packed(made)) == [["ada@acme.com"]]


def test_a_strict_workbook_that_is_large_is_refused(monkeypatch: Any) -> None:
    monkeypatch.setattr(xlsx_packages, "MAX_BYTES", 100)

    with pytest.raises(InvalidValue, match="too large for its format"):
        addresses(packed(strict()))
    assert addresses(packed(parts())) == [["ada@acme.com"]]


def test_a_workbook_without_types_is_refused() -> None:
    made = strict()
    del made["[Content_Types].xml"]

    with pytest.raises(InvalidValue, match="damaged"):
        addresses(packed(made))
