"""What people send to be verified, as they have it."""

from __future__ import annotations

from io import BytesIO

import pytest

from app.domain.errors import InvalidValue
from app.domain.lists.cells.verifiable_cells import Value
from app.features.verifications import values
from app.features.verifications.values import Values

pytestmark = pytest.mark.any_database
ADA = Value("email", "ada@acme.com")


@pytest.mark.parametrize(
    "text",
    [
        "ada@acme.com",
        "ADA@Acme.COM.",
        "\ufeffada@acme.com",
        "mailto:ada@acme.com?subject=Hello",
        "Ada Lovelace <ada@acme.com>",
        '"ada@acme.com"',
        " ada @ acme.com ,",
        "ada@acme.com\u200b",
    ],
)
def test_an_address_is_read_as_people_have_it(text: str) -> None:
    assert list(values.of_texts([text], None).found) == [ADA]


def test_several_values_of_a_cell_and_duplicates_count_once() -> None:
    found = values.of_texts(
        ["ada@acme.com; bob@acme.com", "Ada@acme.com", "030 901820", "+49 30 901820"], "DE"
    )

    assert list(found.found) == [ADA, Value("email", "bob@acme.com"), Value("phone", "+4930901820")]
    assert (found.duplicates, found.unreadable, found.emails) == (2, [], 2)


def test_what_is_neither_an_address_nor_a_number_is_named_by_its_line() -> None:
    found = values.of_texts(["ada@acme", "030 901820", "ada@acme.com"], None)

    assert [each.line for each in found.unreadable] == [1, 2]
    assert list(found.found) == [ADA]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nobody", "neither an e-mail address nor a phone number"),
        ("n/a", "neither an e-mail address nor a phone number"),
        ("12", "neither an e-mail address nor a phone number"),
        ("030 901820", "lacks the country code"),
        ("ada@acme", "not an e-mail address such as"),
    ],
)
def test_what_is_not_read_says_what_it_is_not_and_what_to_send(text: str, message: str) -> None:
    [unread] = values.of_texts([text], None).unreadable

    assert message in unread.detail


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"\xef\xbb\xbfName;E-Mail;Telefon\nAda;ada@acme.com;+4930901820\n",
            [ADA, Value("phone", "+4930901820")],
        ),
        (b"ada@acme.com\nada@acme.com\n", [ADA]),
        (b"+4930901820\n", [Value("phone", "+4930901820")]),
        ("Adresse électronique\nada@acme.com\n".encode("cp1252"), [ADA]),
        (b"x,y\nz,ada@acme.com\n", [ADA]),
    ],
)
def test_a_file_is_read_with_or_without_a_header(content: bytes, expected: list[Value]) -> None:
    assert list(values.of_file(BytesIO(content), None).found) == expected


def test_a_row_that_is_broken_is_not_readable() -> None:
    found = values.of_file(BytesIO(b"email,name\nada@acme.com,Ada,too,many\nada@acme.com,Ada\n"), None)

    assert ([each.line for each in found.unreadable], list(found.found)) == ([2], [ADA])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"first,second\nx,y\n", "Name the columns email or phone"),
        (
            b"email\n" + b"".join(b"a%d@acme.com\n" % n for n in range(values.MAX_VALUES + 1)),
            "more than 10,000",
        ),
        (
            b"email\n" + b"".join(b"a%d@acme.com b%d@acme.com\n" % (n, n) for n in range(5_001)),
            "more than 10,000",
        ),
    ],
)
def test_a_file_that_cannot_be_verified_says_why(content: bytes, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        values.of_file(BytesIO(content), None)


def test_the_addresses_of_a_domain_are_in_one_job() -> None:
    found = values.of_texts(["a@x.com", "a@y.com", "b@x.com", "+4930901820"], None)

    parts = list(values.chunks(found, 2))

    assert [[each.value.text for each in part] for part in parts] == [
        ["a@x.com", "b@x.com"],
        ["a@y.com", "+4930901820"],
    ]
    assert [(each.position, each.line) for part in parts for each in part] == [(0, 1), (2, 3), (1, 2), (3, 4)]


def test_nothing_gives_no_jobs() -> None:
    assert list(values.chunks(Values(), 2)) == []
