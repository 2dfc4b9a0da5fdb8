"""The names of people in lists: their columns, their order, and what is said of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey
from app.domain.lists.cells.name_cells import name_of
from app.domain.lists.headers import upload_columns
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.headers.header_fields import column
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.lists.warning_kinds import KINDS
from app.domain.normal.names.names import PersonName

ADA = PersonName("Ada", "Lovelace", "Ada Lovelace")
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def read(header: list[str], cells: list[str]) -> tuple[PersonName | None, bool, dict[WarningKey, int]]:
    layout = map_columns(header, Entity.CONTACTS)
    row = RowValues(layout, cells, ImportDefaults("list.csv", NOW, NOW), CellWarnings())
    return *name_of(row, layout), dict(row.warnings.counts)


@pytest.mark.parametrize(
    "header",
    [
        "NOM Prénom",
        "Nom et prénom",
        "Nachname Vorname",
        "Nachname, Vorname",
        "Name, Vorname",
        "Familienname, Vorname",
        "Last First",
        "Last Name, First Name",
        "Surname, First name",
        "Full Name (Last, First)",
        "Contact (Last Name First Name)",
        "Apellidos y Nombre",
        "Cognome Nome",
        "Achternaam, Voornaam",
        "Příjmení a jméno",
        "Фамилия Имя",
        "Фамилия Имя Отчество",
        "ФИО",
        "Surname Name",
        "Surname, Name",
        "Family Name & Name",
        "Nachname Name",
        "Họ và tên",
        "שם משפחה ושם פרטי",
        "اللقب والاسم",
    ],
)
def test_a_header_with_the_family_name_first_gives_the_order(header: str) -> None:
    name, is_full, warnings = read([header], ["Dupont Jean"])

    assert (name, is_full) == (PersonName("Jean", "Dupont", "Jean Dupont"), True)
    assert warnings == {WarningKey("full_name", 0, "reordered_name"): 1}


@pytest.mark.parametrize(
    "header",
    [
        *("Prénom Nom", "First Last", "Full name", "Vor- und Nachname", "Nombre y apellidos", "Name Surname"),
        *("Name and Surname", "Naam Achternaam", "الاسم واللقب", "שם ושם משפחה", "Vardas ir pavardė"),
    ],
)
def test_other_headers_of_full_names_do_not(header: str) -> None:
    name, _, warnings = read([header], ["Jean Dupont"])

    assert name == PersonName("Jean", "Dupont", "Jean Dupont")
    assert warnings == {}


@pytest.mark.parametrize(
    "header", ["Name (First)", "Name (Last)", "Last Contacted First", "Order " * 200_000]
)
def test_a_header_of_one_part_or_of_something_else_is_no_full_name(header: str) -> None:
    found = column(header)

    assert found is None or found.field != "full_name"


def test_the_first_filled_column_gives_the_order() -> None:
    header = ["Nachname Vorname", "Full name"]

    assert read(header, ["", "Jean Dupont"])[0] == PersonName("Jean", "Dupont", "Jean Dupont")


def test_an_upload_is_read_in_the_order_of_its_own_header() -> None:
    layout = upload_columns.layout_of(["full_name", "email"], ["Nachname, Vorname", "E-Mail"])
    cells = ["Dupont Jean", "jean@acme.example"]
    row = RowValues(layout, cells, ImportDefaults("list.csv", NOW, NOW), CellWarnings())

    subject = upload_columns.subject_of(row, layout)

    assert (subject.first_name, subject.last_name) == ("Jean", "Dupont")


@pytest.mark.parametrize(
    ("header", "cells", "code"),
    [
        (["Full name"], ["LinkedIn Member"], "placeholder_name"),
        (["First name", "Last name"], ["null", "null"], "placeholder_name"),
        (["Full name", "First name"], ["Unknown", "Unknown"], "placeholder_name"),
        (["Full name"], ["42"], "invalid"),
        (["Full name"], ["Ada Lovelace, PMP®"], "shortened_name"),
        (["First name", "Last name"], ["Ada", "Lovelace, PMP®"], "shortened_name"),
        (["Full name"], ["DUPONT Jean"], "reordered_name"),
    ],
)
def test_what_is_left_out_changed_or_guessed_is_counted(
    header: list[str], cells: list[str], code: str
) -> None:
    position = len(header) - 1 if header[-1] == "Last name" else 0
    field = "_".join(header[position].lower().split())
    assert read(header, cells)[2] == {WarningKey(field, position, code): 1}
    assert code in KINDS


@pytest.mark.parametrize(
    ("header", "cells", "read_as"),
    [
        (
            ["First name", "Last name"],
            ["Ada Lovelace", "MBA"],
            (ADA, True),
        ),
        (["Name", "Surname"], ["Ada", "Lovelace"], (ADA, True)),
        (["Name", "Surname"], ["Ada Lovelace", "Lovelace"], (ADA, True)),
        (["Name", "Surname"], ["Lovelace, Ada", "Lovelace"], (ADA, True)),
        (["First name", "Last name"], ["LOVELACE Ada", "Lovelace"], (ADA, True)),
        (["First name", "Last name"], ["Low", "Low"], (PersonName("Low", "Low", "Low Low"), True)),
        (
            ["First name", "Last name"],
            ["Lovelaces Ada", "Lovelace"],
            (PersonName("Lovelaces Ada", "Lovelace", "Lovelaces Ada Lovelace"), True),
        ),
        (["First name", "Last name"], ["Ada", "N/A"], (PersonName("Ada", "", "Ada"), False)),
        (["First name"], ["Ada Lovelace"], (ADA, True)),
        (["Full name"], ["Ada Lovelace @ Acme"], (ADA, True)),
        (["Full name", "Last name"], ["Low", "Low"], (PersonName("", "Low", "Low"), True)),
        (["Full name"], ["ada@acme.example"], (None, False)),
        (["First name", "Last name"], ["ada@acme", "com"], (None, False)),
        (["Name", "Given Name", "Family Name"], ["ada@acme.com", "ada@acme", "com"], (None, False)),
        (["First name", "Middle name", "Last name"], ["1ada", "byron@acme.", "com"], (None, False)),
        (["Full name", "First name", "Last name"], ["Ada Lovelace", "ada@acme", "com"], (ADA, True)),
        (["First name", "Last name"], ["ada@acme.com", "Byron"], (PersonName("", "Byron", "Byron"), False)),
        (["Full name"], [""], (None, False)),
        (["Full name"], ["Ada Lovelace,"], (ADA, True)),
    ],
)
def test_a_name_is_read_from_the_columns_that_have_it(
    header: list[str], cells: list[str], read_as: tuple[PersonName | None, bool]
) -> None:
    assert read(header, cells)[:2] == read_as


def test_parts_beside_a_full_name_with_a_patronymic_are_not_guessed() -> None:
    cells = ["Левченко Сергій Миколайович", "Сергій", "Левченко"]

    name, _, warnings = read(["Full name", "First name", "Last name"], cells)

    assert name == PersonName("Сергій", "Левченко", cells[0])
    assert warnings == {}


@pytest.mark.parametrize("text", ["Ada Lovelace <ada@acme.example>", "Ada Lovelace (ada@acme.example)"])
def test_the_address_that_mail_programs_write_after_a_name_is_left_out(text: str) -> None:
    assert read(["Name"], [text]) == (ADA, True, {})
