"""An export that is imported into an empty database is exported again without a difference."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook
from sqlalchemy import text

from app.domain.lists.cells.cells import value
from app.domain.lists.files.csv_lines import csv_lines
from app.domain.lists.headers.column_mapping import Entity
from app.domain.lists.headers.column_values import Kind, kind_of
from app.domain.lists.warning_kinds import INVALID
from app.engine.lists import exports, importer
from app.engine.lists.importer import ImportOptions, ImportSummary
from app.infra.database.db import Database

DATA = Path(__file__).parents[2] / "data"
TABLES = ("imported_rows", "emails", "phones", "contacts", "companies")

GIVEN = (
    *("Ada", "Prince", "Wing", "Burgess", "Judge", "King", "Royal", "Bishop", "Jean-Claude", "JC", "Nguyễn"),
    *(
        "José",
        "J. R. R.",
        "Íñigo",
        "'Abd",
        "Anne Marie",
        'Earl L. "Buddy"',
        "Dr.",
        "Sergei",
        "Сергей",
        "محمد",
    ),
    *("O'Neil", "=Ada", "+Ada", "-Ada", "@Ada", "null", "de", "van"),
)
FAMILY = (
    *(
        "Takkar",
        "Li",
        "Owens",
        "Lovelace",
        "García Lorca",
        "van der Berg",
        "de la Cruz",
        "O'Brien",
        "Smith, Jr.",
    ),
    *("Hyde-Smith", "Thị Thu Hà", "Müller; Söhne", "Ray\nLow", "Ray, MBA", "Лавров", "بن سلمان", "Null", "-"),
    *("King", "III", "\u200bLow", "Low 👩", "(Bob) Ray", "Ray\x0bLow"),
)
CELLS = (
    *("=1+1", "+1", "-5", "@x", "'=x", "''x", "a,b", "a;b", 'a "b" c', "a\nb", "N/A", "\\", 'a\\"b'),
    *("x\x1fy", "\t=x", "x" * 400, f"{'x' * 299} y"),
)
MISREAD = "".join(map(chr, range(0xC2, 0xF5)))
"""The first letters of UTF-8 that was read as Windows-1252."""
ANYTHING = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cn", "Co"), exclude_characters=MISREAD),
    max_size=20,
).filter(lambda text: normalize("NFKC", text) == text)
"""Any text whose signs are kept: what is left of `Ø?¡` may look like UTF-8 that was misread."""
TEXTS = st.one_of(ANYTHING, st.sampled_from(CELLS))


def is_text(cell: str) -> bool:
    """Return whether the cell has no number or answer: a column with more of them than texts is left out.

    Nor may it have one beside pictures, which a name loses.
    """
    return all(kind_of(text) is Kind.TEXT for text in (value(cell) or "", "".join(filter(str.isalnum, cell))))


FITTING = TEXTS.filter(is_text)


def is_parsed_alike(name: tuple[str, str]) -> bool:
    """Return whether the export of the name is parsed as the name was; that of `0"A" 0 ,A` is not."""
    return not ("," in "".join(name) and '"' in "".join(name))


NAMES = st.one_of(
    st.tuples(st.sampled_from(GIVEN), st.sampled_from(FAMILY)),
    st.tuples(FITTING, FITTING).filter(is_parsed_alike),
    st.tuples(ANYTHING.filter(is_text), st.just("")),
)
ROWS = st.lists(st.tuples(NAMES, FITTING, TEXTS, FITTING), min_size=1, max_size=8)


def imported(database: Database, content: str | bytes) -> ImportSummary:
    data = content.encode() if isinstance(content, str) else content
    options = ImportOptions(entity=Entity.CONTACTS, source="list.csv")
    rejects = nullcontext(lambda _row, _reason: None)
    return importer.run(
        database, options, io.BytesIO(data), rejects=lambda _header: rejects, advance=lambda: None
    )


def exported(database: Database) -> str:
    with database.reading() as session:
        columns = exports.contact_columns(session)
        rows = [[row.get(name, "") for name in columns] for row in exports.contact_rows(session)]
    return csv_lines([columns, *rows])


def emptied(database: Database) -> None:
    with database.transaction() as session:
        for table in TABLES:
            session.execute(text(f"DELETE FROM {table}"))  # noqa: S608 -- table names from this test


def comes_back(database: Database, content: str | bytes) -> bool:
    """Return whether the export of a list is exported again after it was imported into an empty database."""
    emptied(database)
    imported(database, content)
    first = exported(database)
    emptied(database)
    imported(database, first) if first.count("\n") > 1 else None
    return exported(database) == first


def listed(header: str, rows: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([header.split(","), *rows])
    return out.getvalue()


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS)
@example([(("P", "©a®"), "", "", "")])
@example([(("Prince", "Takkar"), "", "", "")])
@example([(("\ud7fc", "N/A"), "", "", "")])
@example([(('Earl L. "Buddy"', "Carter"), "", "", ""), (("0", '"A" 0'), "", "", "")])
@example([(("0 A", ",?"), "", "", "")])
@example([(("A", "))"), "", "", "")])
@example([(("DUPONT", "H c"), "", "", "")])
@example([(("DUPONT", '"" a'), "", "", "")])
def test_a_full_name_comes_back(
    database: Database, rows: list[tuple[tuple[str, str], str, str, str]]
) -> None:
    cells = [
        [" ".join(name), f"p{index}@acme{index}.example", title, city, company, "2026-10-01"]
        for index, (name, title, city, company) in enumerate(rows)
    ]

    assert comes_back(database, listed("Name,Email,Title,City,Company,Updated At", cells))


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ROWS)
@example([(("Prince", "Takkar"), "", "", "")])
@example([(("\ud7fc", "N/A"), "", "", "")])
@example([(('Earl L. "Buddy"', "Carter"), "", "", ""), (("0", '"A" 0'), "", "", "")])
@example([(("/", "0,A"), "", "", "")])
@example([(("", ""), "", "", "0"), (("", ""), "", "", ":")])
@example([(("J. R. R.", "-"), "", "", "")] * 3)
@example([(("Ada", "Takkar"), "", "", ""), *[(("Y\U00020000", ""), "", "", "")] * 2])
def test_a_name_in_parts_comes_back(
    database: Database, rows: list[tuple[tuple[str, str], str, str, str]]
) -> None:
    cells = [
        [*name, f"p{index}@acme{index}.example", title, city, company, "2026-10-01"]
        for index, (name, title, city, company) in enumerate(rows)
    ]

    assert comes_back(database, listed("First Name,Last Name,Email,Title,City,Company,Updated At", cells))


@pytest.mark.parametrize("column", ["First Name", "Last Name"])
def test_one_part_of_a_name_comes_back(database: Database, column: str) -> None:
    names = [*GIVEN, *FAMILY]
    cells = [[name, f"p{index}@acme.example", "2026-10-01"] for index, name in enumerate(names)]

    assert comes_back(database, listed(f"{column},Email,Updated At", cells))


@pytest.mark.parametrize("name", sorted(path.name for path in (DATA / "layouts").glob("*.csv")))
def test_the_exports_of_other_products_come_back(database: Database, name: str) -> None:
    if "companies" in name:
        pytest.skip("a list of companies")

    assert comes_back(database, (DATA / "layouts" / name).read_bytes())


HEADERS = {
    "en": "First Name,Last Name,Company,Work Email (verified),Phone,Country,Last Updated",
    "de": "Vorname,Nachname,Firma,E-Mail-Adresse,Telefon geschäftlich,Land/Region,Geändert am",
    "it": "Nome,Cognome,Nome account,Indirizzo e-mail,Telefono,Nazione,Modificato il",
    "ja": "名,姓,会社名,メールアドレス,電話番号,国,更新日",
}


def members(encoding: str = "utf-8") -> list[list[str]]:
    """Return the members of an invented parliament whose names the encoding has."""
    with (DATA / "lists" / "members.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            [row["given"], row["family"], f"Party {index}", f"m{index}@party{index}.example", row["phone"],
             row["country"], "2026-10-01"]
            for index, row in enumerate(csv.DictReader(file))
        ]  # fmt: skip
    return [row for row in rows if " ".join(row).encode(encoding, "ignore").decode(encoding) == " ".join(row)]


def workbook(header: str, rows: Sequence[Sequence[str]]) -> bytes:
    book, out = Workbook(), io.BytesIO()
    for row in [header.split(","), *rows]:
        book.active.append(row)
        for cell in book.active[book.active.max_row]:
            cell.data_type = "s"  # not a formula
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize("language", HEADERS)
@pytest.mark.parametrize(
    ("encoding", "options"),
    [
        ("utf-8", {}),
        ("utf-8-sig", {"delimiter": ";"}),
        ("utf-16", {"delimiter": "\t", "lineterminator": "\r\n"}),
        ("utf-8", {"doublequote": False, "escapechar": "\\", "quoting": csv.QUOTE_ALL}),
    ],
)
def test_every_member_comes_back_from_a_csv_file(
    database: Database, language: str, encoding: str, options: dict[str, Any]
) -> None:
    out = io.StringIO()
    csv.writer(out, **options).writerows([HEADERS[language].split(","), *members()])

    assert comes_back(database, out.getvalue().encode(encoding))
    assert exported(database).count("@party") == len(members())


def test_every_member_comes_back_from_a_windows_file(database: Database) -> None:
    rows = members("cp1252")

    assert comes_back(database, listed(HEADERS["de"], rows).encode("cp1252"))
    assert exported(database).count("@party") == len(rows)


def test_every_member_comes_back_from_a_workbook(database: Database) -> None:
    summary = imported(database, workbook(HEADERS["en"], members()))

    assert (summary.counts["new"], summary.warnings.count(INVALID), summary.conflicts) == (
        len(members()),
        0,
        0,
    )
    assert comes_back(database, workbook(HEADERS["en"], members()))
