"""Lists of opt-outs as people write them, read as imports read the same columns."""

from __future__ import annotations

import io

import pytest

from app.domain.errors import InvalidValue
from app.domain.suppression_lists import plain_files
from app.domain.suppression_lists.plain_files import ListedValue


def read(text: str, **options: object) -> list[ListedValue]:
    return list(plain_files.rows(io.BytesIO(text.encode()), **options))  # type: ignore[arg-type]


def values(text: str, **options: object) -> list[str | None]:
    return [found.value for found in read(text, **options)]


@pytest.mark.parametrize(
    ("cell", "email"),
    [
        ("MAILTO:opt1@sup.example", "opt1@sup.example"),
        ('"""opt2@sup.example"""', "opt2@sup.example"),
        ("opt3@sup.example.", "opt3@sup.example"),
        ("Opt Four <opt4@sup.example>", "opt4@sup.example"),
        ("none@sup.example", "none@sup.example"),  # a list of opt-outs may name a placeholder
        ("  OPT5@Sup.Example ", "opt5@sup.example"),
        ("opt", None),
    ],
)
def test_an_address_is_read_with_what_stands_around_it(cell: str, email: str | None) -> None:
    assert values(f"email,note\n{cell},x\n") == [email]


@pytest.mark.parametrize(
    "cell", ["030 / 7654321", "+49 (0)30 / 7654321", "tel:+493076543 21", "4930 7654321", "030-7654321"]
)
def test_a_number_is_read_in_the_country_that_the_list_shows(cell: str) -> None:
    assert values(f"phone\n{cell}\n+49 171 7654321\n")[0] == "+49307654321"


def test_a_number_is_read_in_the_given_country_or_that_of_the_row() -> None:
    assert values("phone\n030 7654321\n") == [None]
    assert values("phone\n030 7654321\n", country="DE") == ["+49307654321"]
    assert values("phone,country\n030 7654321,Atlantis\n") == [None]
    assert values("phone,country\n030 7654321,Germany\n") == ["+49307654321"]


def test_each_value_that_cannot_be_read_has_its_line_and_column() -> None:
    text = "Name,Email,Phone,LinkedIn\nAda,ada@,12,https://example.com/x\nBob,,,\n\nCy,cy@sup.example,,\n"

    assert read(text) == [
        ListedValue("email", None, 2, "Email"),
        ListedValue("linkedin_url", None, 2, "LinkedIn"),
        ListedValue("phone", None, 2, "Phone"),
        ListedValue("row", None, 3, ""),  # Bob opted out, and nothing shows who he is
        ListedValue("email", "cy@sup.example", 5, "Email"),
    ]


def test_a_row_that_is_cut_off_is_one_that_cannot_be_read() -> None:
    assert read('email,phone\nada@sup.example,\n"bob@sup.example,\n')[-1] == ListedValue("row", None, 3, "")


@pytest.mark.parametrize(
    "text", ["ada@sup.example\nbob@sup.example\n", "ada@sup.example;x\nbob@sup.example;y\n"]
)
def test_a_list_without_a_header_loses_nobody(text: str) -> None:
    assert values(text) == ["ada@sup.example", "bob@sup.example"]


def test_domains_are_read_from_their_columns() -> None:
    assert values("domain,email\nhttps://www.acme.example/x,ada@sup.example\n", kind="domain") == [
        "acme.example"
    ]
    assert values("website,domain\n,beta.example\n", kind="domain") == ["beta.example"]
    assert values("acme.example\nbeta.example\n", kind="domain") == ["acme.example", "beta.example"]


def test_a_list_without_a_known_column_is_refused() -> None:
    with pytest.raises(InvalidValue, match="Columns found"):
        read("name,city\nAda Lovelace,London\n")


@pytest.mark.parametrize(
    "text",
    [
        "6502530000\n6502530001\n",
        "650,2530000\n650,2530001\n",  # as the registry of the FTC has it
        "Area Code,Number\n650,253-0000\n(650),253-0001\n",
        "list\n6502530000\n650.253.0001\n",
    ],
)
def test_a_list_whose_header_says_nothing_is_read_as_the_kind_that_is_named(text: str) -> None:
    assert values(text, kind="phone", country="US") == ["+16502530000", "+16502530001"]


def test_columns_that_are_known_are_read_as_what_they_are() -> None:
    assert values("phone,note\n+1 650 253 0000,650\n", kind="phone") == ["+16502530000"]
    assert values("opt-outs\nada@sup.example\n", kind="email") == ["ada@sup.example"]


@pytest.mark.parametrize("kind", [None, "domain"])
def test_a_list_of_unknown_columns_says_what_to_do(kind: str | None) -> None:
    with pytest.raises(InvalidValue, match="say what the list consists of with --kind"):
        read("one,two\nx,y\n", kind=kind)


def test_the_header_of_a_list_of_domains_may_be_words() -> None:
    assert values("Domains of May!\nacme.example\n", kind="domain") == ["acme.example"]
