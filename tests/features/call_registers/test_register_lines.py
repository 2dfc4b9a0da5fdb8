"""Lines and files of registers as strangers have them: saved again by spreadsheets, with further columns."""

from __future__ import annotations

import ast
import csv
import gzip
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from test_loading import listed

from app.domain.errors import InvalidValue
from app.engine.call_registers.registers import CallRegister
from app.features.call_registers.loading import Accepted
from app.features.call_registers.number_forms import normalizer
from app.infra.database.db import Database

CASES = Path(__file__).parent / "cases"


def lines() -> Iterator[Any]:
    country = ""
    for text in (CASES / "lines.txt").read_text(encoding="utf-8").splitlines():
        if text.startswith("## "):
            country = text[3:5]
        elif " -> " in text and not text.startswith("#"):
            literal, _arrow, expected = text.rpartition(" -> ")
            yield pytest.param(country, ast.literal_eval(literal), expected, id=f"{country} {literal}")


@pytest.mark.parametrize(("country", "line", "expected"), list(lines()))
def test_a_line_is_read_as_its_number_or_rejected(country: str, line: str, expected: str) -> None:
    number = normalizer(country)(line.encode() + b"\r\n")

    assert number == (None if expected == "rejected" else expected.encode())


def test_a_space_that_windows_does_not_break_is_one() -> None:
    assert normalizer("GB")(b"0207\xa03787244\r\n") == b"+442073787244"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252"])
def test_the_header_of_a_table_may_be_in_the_encoding_of_windows(
    database: Database, load: Any, tmp_path: Path, encoding: str
) -> None:
    file = tmp_path / "bloctel.csv"
    file.write_bytes("sep=;\r\nNuméro;Inscrit\r\n0612345678;Oui\r\n0612345679;Non\r\n".encode(encoding))

    load("au-dncr", files=(file,), country="FR", column="numéro", listed_column="inscrit")

    assert listed(database, "+33612345678", "+33612345679") == ["+33612345678"]


def test_an_answer_that_is_not_known_is_never_taken_for_not_registered(load: Any) -> None:
    with pytest.raises(InvalidValue, match=r"1 of 3 lines have no number, such as au-dncr-0\.txt:4"):
        load(
            "au-dncr",
            "number,status\n0412345678,On Register\n0412345679,No\n0412345670,maybe\n",
            listed_column="status",
        )


def test_a_change_list_is_not_loaded_as_a_register(database: Database, load: Any) -> None:
    with pytest.raises(InvalidValue, match="2 of 2 lines"):
        load("us-dnc", "202,5551212,A,2003-07-01\n202,5551213,D,2003-07-01\n")

    with database.reading() as session:
        assert session.scalar(select(CallRegister.id)) is None


def test_the_separator_that_excel_notes_is_not_a_line_of_the_register(load: Any) -> None:
    assert load("uk-tps", "sep=,\n07860338653,x\n").report.rejected == 0


def archived(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_what_macos_adds_to_an_archive_is_not_read(database: Database, load: Any, tmp_path: Path) -> None:
    file = tmp_path / "tps.zip"
    others = {"__MACOSX/._tps.txt": b"\0\5\x16\7 1", ".DS_Store": b"\0\0\0\1Bud1"}
    file.write_bytes(archived({"tps.txt": b"07860 338653\n", **others}))

    assert load("uk-tps", files=(file,)).report.rejected == 0
    assert listed(database, "+447860338653") == ["+447860338653"]


ENCRYPTED = bytearray(archived({"tps.txt": b"07860 338653\n"}))
ENCRYPTED[ENCRYPTED.index(b"PK\x01\x02") + 8] |= 1
DEFLATE_64 = bytearray(archived({"tps.txt": b"07860 338653\n"}))
DEFLATE_64[DEFLATE_64.index(b"PK\x01\x02") + 10] = 9
CUT = bytearray(gzip.compress(b"07860 338653\n" * 50))
CUT[12:16] = b"\xff\xff\xff\xff"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            archived({"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<a/>"}),
            "is a workbook. Save it as CSV",
        ),
        (archived({"list.xml": b"<?xml version='1.0'?><list/>"}), "list.xml is XML"),
        (archived({"tps.txt": "07860 338653\n".encode("utf-16")}), "tps.txt is in UTF-16"),
        (archived({"tps.zip": archived({"tps.txt": b"07860 338653\n"})}), "archive in the archive"),
        (bytes(ENCRYPTED), "is encrypted"),
        (bytes(DEFLATE_64), "cannot be read"),
        (bytes(CUT), "cannot be read"),
        ("07860 338653\n".encode("utf-16-be"), "UTF-16"),
        (b"\xef\xbb\xbf<list></list>", "XML"),
        (gzip.compress(b"<list></list>"), "XML"),
    ],
    ids=[
        *("workbook", "XML in zip", "UTF-16 in zip", "zip in zip", "encrypted", "deflate 64", "cut"),
        *("UTF-16", "XML", "XML in gzip"),
    ],
)
def test_a_file_that_is_not_text_is_refused_with_what_to_do(
    load: Any, tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "tps.bin"
    file.write_bytes(content)

    with pytest.raises(InvalidValue, match=message):
        load("uk-tps", files=(file,))


def test_a_table_with_a_cell_that_is_too_long_is_refused(load: Any) -> None:
    before = csv.field_size_limit(1000)
    try:
        with pytest.raises(InvalidValue, match="cannot be read"):
            load("au-dncr", 'number\n"' + "9" * 2000 + '"\n')
    finally:
        csv.field_size_limit(before)


def test_a_rounded_number_is_named_and_not_guessed(database: Database, load: Any) -> None:
    loaded = load("uk-tps", "4.47860E+11\n07860338653\n", accepted=Accepted(rejected=True))

    assert loaded.report.rejected_lines == ["uk-tps-0.txt:1"]
    assert listed(database, "+447860338653") == ["+447860338653"]
