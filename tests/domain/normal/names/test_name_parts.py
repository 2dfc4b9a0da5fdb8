"""Names of which the parts are given apart."""

from __future__ import annotations

import pytest

from app.domain.errors import InvalidValue
from app.domain.normal.names.name_parts import name_of_parts, plain_full_name
from app.domain.normal.names.names import NoPerson, PersonName, parse_name


@pytest.mark.parametrize(
    ("first", "last", "name"),
    [
        ("Ada", "Lovelace, PMP®", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Ada", "Byron, CISSP-ISSAP", ("Ada", "Byron", "Ada Byron")),
        ("Ada", "Santoso, S.H., M.H.", ("Ada", "Santoso", "Ada Santoso")),
        ("Ada", "Lovelace MBA", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Ada", "Lovelace CEO", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Ada", "Lovelace (She/Her)", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Ada", "Lovelace | Hiring", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Ada", "Lovelace née Byron", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Dr.Ada", "Lovelace Jr.", ("Ada", "Lovelace", "Ada Lovelace Jr.")),
        ("Ada", "Lovelace, Jr., PMP", ("Ada", "Lovelace", "Ada Lovelace Jr.")),
        ("Smt. Ada", "Lovelace", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Ada 🚀", "Lovelace", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Vincent", "Gogh, van", ("Vincent", "van Gogh", "Vincent van Gogh")),
        ("Ada Lovelace", "MBA", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Ada Lovelace", "PhD, PMP", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Wei", "Ma", ("Wei", "Ma", "Wei Ma")),
        ("JORDAN", "MT", ("JORDAN", "MT", "JORDAN MT")),
        ("Christopher", "Null", ("Christopher", "Null", "Christopher Null")),
        ("Na", "Li", ("Na", "Li", "Na Li")),
        ("Jen", "Sample", ("Jen", "Sample", "Jen Sample")),
        ("Ada", "NULL", ("Ada", "", "Ada")),
        ("Ada", "undefined", ("Ada", "", "Ada")),
        ("Ada", "Open to work", ("Ada", "", "Ada")),
        ("Open to work", "Lovelace", ("", "Lovelace", "Lovelace")),
        ("#OPENTOWORK Ada", "Lovelace", ("Ada", "Lovelace", "Ada Lovelace")),
        ("Ada", "No Name", ("Ada", "", "Ada")),
        ("Ada", "xxx", ("Ada", "", "Ada")),
        ("Unknown", "Lovelace", ("", "Lovelace", "Lovelace")),
        ("???", "Lovelace", ("", "Lovelace", "Lovelace")),
        ("Robert (Bob)", "Smith", ("Robert", "Smith", 'Robert "Bob" Smith')),
        ("Robert", "(Bob) Smith", ("Robert", "Smith", 'Robert "Bob" Smith')),
        ("DUPONT", "Jean", ("DUPONT", "Jean", "DUPONT Jean")),
    ],
)
def test_parts_keep_their_places(first: str, last: str, name: tuple[str, str, str]) -> None:
    assert name_of_parts(first, last) == PersonName(*name)


@pytest.mark.parametrize(
    ("first", "last"),
    [("LinkedIn", "Member"), ("null", "null"), ("N/A", "N/A"), ("Test", "Test"), ("First", "Last")],
)
def test_parts_of_a_placeholder_are_no_name(first: str, last: str) -> None:
    with pytest.raises(NoPerson):
        name_of_parts(first, last)


def test_a_family_name_of_credentials_alone_is_none() -> None:
    with pytest.raises(InvalidValue):
        name_of_parts("", "PMP")


@pytest.mark.parametrize(
    ("full", "expected"),
    [
        ("Ada Lovelace, PMP®", "Ada Lovelace"),
        ("Ada King Lovelace", "Ada King Lovelace"),
        ("???", "Ada Lovelace"),
        ("Lovelace Ada", "Lovelace Ada"),
        ("Ada Lovelace Jr.", "Ada Lovelace Jr."),
    ],
)
def test_the_full_name_of_a_source_is_kept_without_notes(full: str, expected: str) -> None:
    assert name_of_parts("Ada", "Lovelace", full=full) == PersonName("Ada", "Lovelace", expected)


def test_parts_as_an_export_writes_them_are_kept() -> None:
    assert name_of_parts("C.R.", "Shah", full="C.R. Shah") == PersonName("C.R.", "Shah", "C.R. Shah")
    assert name_of_parts("C.R.", "Shah, PMP", full="???") == PersonName("C.R.", "Shah", "C.R. Shah")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Ada Lovelace, PMP®", "Ada Lovelace"),
        ("Dr. Lovelace", "Dr. Lovelace"),
        ("Lovelace, Ada", "Ada Lovelace"),
    ],
)
def test_a_full_name_loses_what_is_no_name_unless_its_order_would_be_lost(text: str, plain: str) -> None:
    assert plain_full_name(text) == plain


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("Ada Lovelace", "Lovelace"),
        ("Ada Lovelace", "Lovelace (CEO)"),
    ],
)
def test_a_full_name_in_the_column_of_a_part_is_not_doubled(first: str, last: str) -> None:
    assert name_of_parts(first, last) == PersonName("Ada", "Lovelace", "Ada Lovelace")


@pytest.mark.parametrize(("first", "last"), [("García", "García"), ("Ada", "Ada")])
def test_two_equal_parts_are_kept(first: str, last: str) -> None:
    assert name_of_parts(first, last) == PersonName(first, last, f"{first} {last}")


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("Ada & Bob", "Lovelace"),
        ("Ada und Bob", "Lovelace"),
        ("Accounts", "Payable"),
        ("Customer", "Service"),
        ("Info Requested", "Info Requested"),
        ("Unknown", "Attendee"),
    ],
)
def test_two_people_a_department_and_words_of_forms_are_no_person(first: str, last: str) -> None:
    with pytest.raises(NoPerson):
        name_of_parts(first, last)


@pytest.mark.parametrize(
    "full", ["Ada and Bob Lovelace", "Ada Lovelace & Bob Byron", "Marie et Pierre Dupont", "Ada + Bob Low"]
)
def test_a_full_name_of_two_people_is_no_person(full: str) -> None:
    with pytest.raises(NoPerson):
        parse_name(full)


@pytest.mark.parametrize("full", ["Ada Lovelace, Head of Sales and Marketing", "Ada Lovelace, R&D"])
def test_an_office_with_an_and_is_not_a_second_person(full: str) -> None:
    assert parse_name(full) == PersonName("Ada", "Lovelace", "Ada Lovelace")


def test_the_number_of_a_bibliography_tells_people_apart_and_is_no_family_name() -> None:
    assert parse_name("Lan Zhang 0002") == PersonName("Lan", "Zhang", "Lan Zhang (0002)")


def test_letters_that_only_look_like_those_beside_them_are_replaced() -> None:
    assert name_of_parts("Iv\u0430n", "Petrov").full == "Ivan Petrov"
