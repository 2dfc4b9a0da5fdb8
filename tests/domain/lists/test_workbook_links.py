"""In a workbook the target of a link is read in place of its text."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from typing import Any

import pytest
from openpyxl import Workbook
from test_workbooks import changed, table

from app.domain.lists.files import xlsx_links
from app.domain.lists.files.xlsx_records import DAMAGED

ADA, BOB = "https://www.linkedin.com/in/ada", "https://www.linkedin.com/in/bob"
HEADER = ["Name", "LinkedIn", "Website", "Notes"]
SHEET, RELATIONS = "xl/worksheets/sheet1.xml", "xl/worksheets/_rels/sheet1.xml.rels"


def linked(rows: Sequence[Sequence[Any]], **links: str) -> bytes:
    """Return a workbook with these rows below the header, and hyperlinks of cells by reference."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (HEADER, *rows):
        sheet.append(row)
    for reference, target in links.items():
        sheet[reference].hyperlink = target
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def cells(content: bytes) -> list[list[str]]:
    return [row.cells for row in table(content).rows]


def with_results(content: bytes) -> bytes:
    """Return the workbook with a stored result of each formula, as Excel writes it."""
    return changed(
        content,
        SHEET,
        lambda xml: xml.replace(b"><f>", b' t="str"><f>').replace(b"<v></v>", b"<v>Profile</v>"),
    )


@pytest.mark.parametrize("text", ["Yes", "Link", "View profile", "linkedin.com/in/ad..."])
def test_the_target_of_a_hyperlink_is_read(text: str) -> None:
    content = linked([["Ada", text], ["Bob", text]], B2=ADA, B3=BOB)

    assert cells(content) == [["Ada", ADA, "", ""], ["Bob", BOB, "", ""]]


@pytest.mark.parametrize(
    ("reference", "text", "target", "expected"),
    [
        ("B2", BOB, ADA, BOB),  # a cell that was copied and changed keeps the old target
        ("B2", "ada@acme.example", "mailto:ada@acme.example", "ada@acme.example"),
        ("B2", "Link", "#Sheet1!A1", "Link"),
        ("B2", "Link", "linkedin.com/in/ada?trk=x&y=1", "linkedin.com/in/ada?trk=x&y=1"),
        ("C2", "Acme", "https://acme.example/", "https://acme.example/"),
        ("D2", "Profile", ADA, ADA),
        ("D2", "Source", "https://acme.example/", "Source"),
        ("A2", "Ada Lovelace", ADA, "Ada Lovelace"),
    ],
)
def test_the_text_stays_where_the_target_says_less(
    reference: str, text: str, target: str, expected: str
) -> None:
    row = ["x", "x", "x", "x"]
    row[ord(reference[0]) - ord("A")] = text

    [read] = cells(linked([row], **{reference: target}))

    assert read[ord(reference[0]) - ord("A")] == expected


@pytest.mark.parametrize(
    "formula",
    [
        f'=HYPERLINK("{ADA}?a=1&b=2","Profile")',
        f'=HYPERLINK( "{ADA}?a=1&b=2" , "Profile")',
        f'=HYPERLINK("{ADA}?a=1&b=2")',
    ],
)
def test_the_target_of_a_formula_is_read(formula: str) -> None:
    content = with_results(linked([["Ada", formula], ["Bob", "Yes"]]))

    assert cells(content) == [["Ada", f"{ADA}?a=1&b=2", "", ""], ["Bob", "Yes", "", ""]]


def test_a_formula_without_a_stored_result_is_read() -> None:
    content = linked([["Ada", f'=HYPERLINK("{ADA}","Profile")', None, None]])

    assert cells(content) == [["Ada", ADA, "", ""]]


def formulas(content: bytes) -> int:
    return table(content).format.unsolved_formulas


def test_formulas_without_results_are_counted_but_for_links() -> None:
    link = f'=HYPERLINK("{ADA}","Profile")'
    content = linked([["Ada", link, "=LOWER(A2)", '=A2&"<b>"'], ["Bob", link, "=1+1", "=1+1"]])

    assert formulas(content) == 4
    assert formulas(with_results(content)) == 0
    assert formulas(linked([["Ada", ADA, 1, None]])) == 0


def test_a_formula_whose_result_is_an_empty_text_has_one() -> None:
    content = changed(
        linked([["Ada", None, '=IF(1,"","x")']]), SHEET, lambda xml: xml.replace(b"><f>", b' t="str"><f>')
    )

    assert formulas(content) == 0


@pytest.mark.parametrize("formula", [b"<f/>", b'<f t="shared" si="0"/>', b'<f t="array" ref="A1">x</f>'])
@pytest.mark.parametrize("value", [b"", b"<v/>", b"<v></v>", b" <v /> "])
def test_formulas_are_counted_however_they_are_written(formula: bytes, value: bytes) -> None:
    content = changed(
        linked([["Ada", None, "=X"]]),
        SHEET,
        lambda xml: re.sub(rb"<f>.*</f><v ?/>|<f>.*</v>", formula + value, xml),
    )

    assert formulas(content) == 1


def test_formulas_are_counted_once_where_pieces_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_links, "_CHUNK", 700)

    assert formulas(linked([["Ada", None, f"={number}+1"] for number in range(100)])) == 100


def test_a_formula_without_a_target_of_its_own_has_its_result() -> None:
    content = with_results(linked([["Ada", '=HYPERLINK(C2,"Profile")', ADA]]))

    assert cells(content) == [["Ada", "Profile", ADA, ""]]


def test_names_with_a_prefix_and_single_quotes_are_read() -> None:
    content = changed(
        linked([["Ada", "Yes"]], B2=ADA),
        SHEET,
        lambda xml: re.sub(rb'<hyperlink ([^>]*)ref="B2"', rb"<x:hyperlink \1ref='B2:C2'", xml).replace(
            b"<worksheet ", b'<worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
        ),
    )

    assert cells(content) == [["Ada", ADA, "", ""]]


@pytest.mark.parametrize("reference", [b"", b"XFD99999999", b"b2"])
def test_a_link_without_a_cell_is_ignored(reference: bytes) -> None:
    content = changed(
        linked([["Ada", "Yes"]], B2=ADA),
        SHEET,
        lambda xml: xml.replace(b'ref="B2"', b'ref="' + reference + b'"'),
    )

    assert cells(content) == [["Ada", "Yes", "", ""]]


def test_a_link_whose_relationship_is_missing_is_ignored() -> None:
    content = changed(
        linked([["Ada", "Yes"]], B2=ADA), RELATIONS, lambda xml: xml.replace(b'Id="rId1"', b'Id="rId9"')
    )

    assert cells(content) == [["Ada", "Yes", "", ""]]


def test_links_across_the_pieces_of_a_sheet_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_links, "_CHUNK", 37)
    content = linked([["Ada", "Yes"], ["Bob", "Yes"]], B2=ADA, B3=BOB)

    assert [row[1] for row in cells(content)] == [ADA, BOB]


@pytest.mark.parametrize(
    "content",
    [
        linked([["Ada", "Yes"], ["Bob", "Yes"]], B2=ADA, B3=BOB),
        linked([["Ada", f'=HYPERLINK("{ADA}")'], ["Bob", f'=HYPERLINK("{BOB}")'], ["Yes", "Yes"]]),
    ],
    ids=["hyperlinks", "formulas"],
)
def test_no_more_targets_are_kept_than_fit(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_links, "MAX_CHARACTERS", len(ADA))

    read = {row[1] for row in cells(content)}

    assert read >= {ADA, "Yes"}
    assert BOB not in read


def test_damage_is_reported_with_the_rows() -> None:
    content = linked([[f"Ada {number}", "Yes"] for number in range(20_000)], B2=ADA)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entry = archive.getinfo(SHEET)
    broken, middle = bytearray(content), entry.header_offset + entry.compress_size // 2
    broken[middle : middle + 100] = b"\xff" * 100

    found = list(table(bytes(broken)).rows)

    assert found[0].cells == ["Ada 0", "Yes", "", ""]
    assert found[-1].fault == DAMAGED
