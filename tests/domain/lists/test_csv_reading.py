from __future__ import annotations

import codecs
import io
import random
from collections import Counter
from encodings.aliases import aliases
from typing import Any

import pytest

from app.domain.errors import InvalidValue
from app.domain.lists.files import csv_records
from app.domain.lists.files.csv_files import is_encoding
from app.domain.lists.files.csv_records import LONG_ROW, MAX_ROW_LENGTH, TRUNCATED_ROW, UNCLOSED_QUOTE, Row
from app.domain.lists.files.tables import REPEATED_HEADER, TOO_MANY_CELLS, Table, TableOptions, read_table
from app.domain.lists.headers.column_mapping import Entity, map_columns

PEOPLE = "name,email,title\nÄda,ada@acme.example,CTO\nBöb,bob@acme.example,CEO\n"


def table(content: str | bytes, **options: Any) -> Table:
    file = io.BytesIO(content.encode() if isinstance(content, str) else content)
    return read_table(
        file, lambda cells: map_columns(cells, Entity.CONTACTS).known_count, TableOptions(**options)
    )


def cells(content: str | bytes, **options: Any) -> list[list[str]]:
    return [row.cells for row in table(content, **options).rows]


def faults(content: str | bytes) -> list[tuple[int, str | None]]:
    return [(row.line, row.fault) for row in table(content).rows]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_encodings_are_detected(encoding: str) -> None:
    assert cells(PEOPLE.encode(encoding))[1] == ["Böb", "bob@acme.example", "CEO"]


def test_an_invalid_byte_late_in_the_file_excludes_utf_8() -> None:
    rows = "Ada,ada@acme.example,CTO\n" * 60_000

    found = table(b"name,email,title\n" + rows.encode() + "Böb,b@acme.example,x\n".encode("cp1252"))

    assert found.format.encoding == "cp1252"
    assert list(found.rows)[-1].cells[0] == "Böb"


def test_a_line_in_another_encoding_leaves_the_others_in_theirs() -> None:
    rows = [f"Böb {number},b{number}@acme.example,x\n".encode() for number in range(3)]
    rows.insert(1, "Jürgen “Jü”,j@acme.example,x\n".encode("cp1252"))

    found = table(b"name,email,title\n" + b"".join(rows))

    assert (found.format.encoding, found.format.other_lines) == ("utf-8", (3,))
    assert [row.cells[0] for row in found.rows] == ["Böb 0", "Jürgen “Jü”", "Böb 1", "Böb 2"]


@pytest.mark.parametrize(("mark", "options"), [(codecs.BOM_UTF8, {}), (b"", {"encoding": "utf-8"})])
def test_lines_in_another_encoding_are_named_in_a_file_that_is_marked_as_utf_8(
    mark: bytes, options: dict[str, str]
) -> None:
    found = table(mark + b"name,email,title\n" + "Böb,b@acme.example,x\n".encode("cp1252"), **options)

    assert found.format.other_lines == (2,)
    assert [row.cells[0] for row in found.rows] == ["Böb"]


@pytest.mark.parametrize("encoding", ["hex", "undefined", "a\0b", "punycode", "IDNA", "unicode_escape"])
def test_a_codec_that_is_not_an_encoding_of_text_files_is_refused(encoding: str) -> None:
    with pytest.raises(InvalidValue, match="is unknown"):
        table(PEOPLE, encoding=encoding)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_an_encoding_that_the_file_does_not_have_is_refused(encoding: str) -> None:
    with pytest.raises(InvalidValue, match=f"does not have the encoding '{encoding}'"):
        table(PEOPLE, encoding=encoding)


def test_only_the_first_lines_in_another_encoding_are_named() -> None:
    good, bad = "Böb,b@acme.example,x\n".encode(), "Böb,b@acme.example,x\n".encode("cp1252")

    found = table(b"name,email,title\n" + good * 50 + bad * 30)

    assert found.format.other_lines == tuple(range(52, 72))


def test_an_encoding_can_be_given() -> None:
    assert cells("name,email\nÅda,a@b.example\n".encode("mac-roman"), encoding="mac-roman")[0][0] == "Åda"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_detected(delimiter: str) -> None:
    content = PEOPLE.replace(",", delimiter).replace("CTO", '"CTO, R&D; x|y"')

    found = table(content)

    assert found.delimiter == delimiter
    assert next(found.rows).cells[2] == "CTO, R&D; x|y"


@pytest.mark.parametrize("encoding", [";", "tab", "\\t"])
def test_a_delimiter_can_be_given(encoding: str) -> None:
    delimiter = ";" if encoding == ";" else "\t"

    assert cells(PEOPLE.replace(",", delimiter), delimiter=encoding)[0][0] == "Äda"


def test_the_delimiter_line_of_excel_is_respected() -> None:
    assert cells("sep=;\nname;email\nA, B;a@acme.example\n") == [["A, B", "a@acme.example"]]


def test_a_list_may_have_one_column() -> None:
    assert cells("email\na@acme.example\n") == [["a@acme.example"]]


def test_a_cell_may_have_several_lines() -> None:
    content = 'name,notes,email\nAda,"one\ntwo, ""three""",a@acme.example\nBob,,b@acme.example\n'

    assert [(row.line, row.cells[1]) for row in table(content).rows] == [(2, 'one\ntwo, "three"'), (4, "")]


def test_carriage_returns_alone_end_lines() -> None:
    assert len(cells(PEOPLE.replace("\n", "\r"))) == 2


def test_the_header_may_follow_notes_and_rows_may_be_empty() -> None:
    content = 'Notes:\n"Exported, with\nnotes"\n\nname,email\n,\nAda,a@acme.example\n\n'

    assert [(row.line, row.cells) for row in table(content).rows] == [(7, ["Ada", "a@acme.example"])]


def test_without_a_known_header_the_first_row_with_several_cells_is_the_header() -> None:
    found = table("My list\nwer,was\nAda,x\n")

    assert found.header == ["wer", "was"]


def test_without_such_a_row_the_first_row_is_the_header() -> None:
    assert table("wer\nAda\n").header == ["wer"]


def test_empty_columns_at_the_end_are_dropped() -> None:
    found = table("name,email,,\nAda,a@acme.example,,\n")

    assert found.header == ["name", "email"]
    assert next(found.rows) == Row(2, ["Ada", "a@acme.example"])


def test_a_short_row_is_padded() -> None:
    assert cells("name,email,title\nAda,a@acme.example\nBob,b@acme.example,CEO\n")[0] == [
        "Ada",
        "a@acme.example",
        "",
    ]


def test_a_long_row_is_refused() -> None:
    assert faults("name,email\nLovelace, Ada,a@acme.example\nBob,b@acme.example\n") == [
        (2, TOO_MANY_CELLS),
        (3, None),
    ]


def test_a_repeated_header_is_refused() -> None:
    assert faults("name,email\nAda,a@acme.example\nname,email\n") == [(2, None), (3, REPEATED_HEADER)]


@pytest.mark.parametrize("end", ["Bob,b@ac", 'Bob,"b@ac'])
def test_a_truncated_row_is_refused(end: str) -> None:
    assert faults(f"name,email,title\nAda,a@acme.example,x\n{end}") == [(2, None), (3, TRUNCATED_ROW)]


def test_a_complete_last_row_without_a_line_break_is_accepted() -> None:
    assert faults("name,email\nAda,a@acme.example") == [(2, None)]


def test_an_unclosed_quote_costs_one_row() -> None:
    content = 'name,email\nAda,"a@acme.example\nBob,b@acme.example\nCy,c@acme.example\n'

    assert faults(content) == [(2, UNCLOSED_QUOTE), (3, None), (4, None)]


def test_an_unclosed_quote_far_from_the_end_costs_one_row_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_records, "MAX_RECORD_LENGTH", 200)
    rows = "".join(f"Bob,b{index}@acme.example\n" for index in range(50))

    found = faults(f'name,email\nAda,"a@acme.example\n{rows}')

    assert found[0] == (2, UNCLOSED_QUOTE)
    assert len(found) == 51
    assert {fault for _, fault in found[1:]} == {None}


def test_cells_of_many_lines_are_read_between_rows_with_unclosed_quotes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is read again after a faulty row is limited, but not so far that it costs the rows between."""
    monkeypatch.setattr(csv_records, "MAX_RECORD_LENGTH", 5_000)
    notes = "a line of a note\n" * 20
    block = [f'Bob,b@acme.example,"{notes}"', *["Cy,c@acme.example,x"] * 30, 'Ada,"a@acme.example,x']

    found = faults("\n".join(["name,email,notes", *block * 40, block[0], ""]))

    assert Counter(fault for _line, fault in found) == {None: 40 * 31 + 1, UNCLOSED_QUOTE: 40}


def test_quotes_may_be_escaped_by_backslashes() -> None:
    content = (
        'name,email,title\n"Earl \\"Buddy\\" Carter",a@acme.example,CTO\n"a \\"b, c\\" d",b@acme.example,x\n'
        '"6\\"",c@acme.example,"one \\"two\nthree\\""\n"d\\\\e \\"f\\"",d@acme.example,"g ""h"""\n'
        '"Bob",b@acme.example,x\n'
    )

    assert [(row.line, row.cells[0], row.cells[2]) for row in table(content).rows] == [
        (2, 'Earl "Buddy" Carter', "CTO"),
        (3, 'a "b, c" d', "x"),
        (4, '6"', 'one "two\nthree"'),
        (6, 'd\\e "f"', 'g "h"'),
        (7, "Bob", "x"),
    ]


def test_a_backslash_may_end_a_quoted_cell() -> None:
    content = 'name,title,email\n"Ada","C:\\dir\\",a@acme.example\n"Bob \\ x",y\\"z,b@acme.example\n'

    assert cells(content) == [["Ada", "C:\\dir\\", "a@acme.example"], ["Bob \\ x", 'y\\"z', "b@acme.example"]]


def test_quotes_that_are_neither_doubled_nor_escaped_are_read_as_they_are() -> None:
    assert cells('name,email\n"Ada "A\\" L",a@acme.example\n"Bob "B" R",b@acme.example\n') == [
        ['Ada A\\" L"', "a@acme.example"],
        ['Bob B" R"', "b@acme.example"],
    ]


def test_rows_between_two_unclosed_quotes_are_not_lost() -> None:
    content = 'name,email\nAda,"a@acme.example\nBob,b@acme.example\nCy,"c@acme.example\nDi,d@acme.example\n'

    assert faults(content) == [(2, UNCLOSED_QUOTE), (3, None), (4, UNCLOSED_QUOTE), (5, None)]


@pytest.mark.parametrize("is_quoted", [False, True])
@pytest.mark.parametrize("text", ["x" * (1 << 20), "x\n" * (1 << 19), "x" * (3 << 20), "x" * (5 << 20)])
def test_a_cell_of_a_million_characters_costs_its_row(text: str, *, is_quoted: bool) -> None:
    cell = f'"{text}"' if is_quoted else text.replace("\n", "")
    found = list(table(f"name,title,email\nAda,{cell},a@acme.example\nBob,x,b@acme.example\n").rows)

    assert [(row.fault, row.cells[0][:3]) for row in found] == [(LONG_ROW, "Ada"), (None, "Bob")]
    assert sum(map(len, found[0].cells)) < MAX_ROW_LENGTH


def test_a_header_of_a_million_characters_costs_its_column() -> None:
    found = table(f"name,{'1a' * (1 << 19)},email\nAda,x,a@acme.example\n")

    assert (found.header[0], found.header[2]) == ("name", "email")
    assert [row.cells for row in found.rows] == [["Ada", "x", "a@acme.example"]]


def test_byte_order_marks_within_a_file_are_ignored() -> None:
    assert faults("\ufeffname,email\nAda,a@acme.example\n\ufeffname,email\nBob,b@acme.example\n") == [
        (2, None),
        (3, REPEATED_HEADER),
        (4, None),
    ]


def test_nul_characters_are_removed() -> None:
    assert cells(b"name,email\nA\0da,a@acme.example\n") == [["Ada", "a@acme.example"]]


def test_nul_characters_are_removed_from_a_row_that_cannot_be_read() -> None:
    (row,) = table(b'name,email\n"A\0da,a@acme.example').rows

    assert (row.fault, row.cells) == (TRUNCATED_ROW, ['"Ada,a@acme.example'])


@pytest.mark.parametrize("encoding", sorted(filter(is_encoding, set(aliases.values()))))
def test_no_encoding_gives_a_text_that_cannot_be_stored(encoding: str) -> None:
    choose = random.Random(1)  # noqa: S311 -- not a secret
    contents = [b"+2AA- +3AA-", b"\xed\xa0\x80", b"\\ud800", b"\xd8\x00", bytes(range(256)) * 3]

    for content in (*contents, choose.randbytes(4_000)):
        assert content.decode(encoding, "replace").encode()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The file is empty"),
        (b"\xef\xbb\xbf\n\n", "The file is empty"),
        (b"name,email\n", "a header but no rows"),
        (b"\xd0\xcf\x11\xe0rest", "password-protected Excel"),
        (b"%PDF-1.7", "PDF"),
        (b"\x1f\x8b\x08rest", "compressed"),
        (b"SQLite format 3\0", "database"),
        (b"{\\rtf1", "document"),
        (b"<!DOCTYPE html><table>", "web page"),
        (b'[{"name": "Ada"}]', "JSON"),
        (bytes(range(256)) * 4, "not a text file"),
    ],
)
def test_a_file_that_is_not_a_list_is_refused_with_a_reason(content: bytes, sentence: str) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        table(content)
