from __future__ import annotations

import codecs

import pytest

from app.domain.lists.files import vcards
from app.domain.lists.files.vcards import MAX_PROPERTIES, MAX_VALUE, Card, is_vcard, read_cards

pytestmark = pytest.mark.any_database


def card(*lines: str | bytes) -> Card:
    """Return the only card of a file with these lines."""
    texts = [line if isinstance(line, bytes) else line.encode() for line in lines]
    (found,) = read_cards(b"\r\n".join([b"BEGIN:VCARD", *texts, b"END:VCARD", b""]))
    return found


@pytest.mark.parametrize(
    "content",
    [
        b"BEGIN:VCARD",
        b"\r\n begin:vcard\n",
        codecs.BOM_UTF8 + b"BEGIN:VCARD",
        "BEGIN:VCARD".encode("utf-16"),
        "BEGIN:VCARD".encode("utf-16-le"),
        "BEGIN:VCARD".encode("utf-16-be"),
        "BEGIN:VCARD".encode("utf-32"),
    ],
)
def test_a_file_of_cards_is_recognized_by_how_it_begins(content: bytes) -> None:
    assert is_vcard(content)


@pytest.mark.parametrize("content", [b"", b"Name,E-mail", b"BEGIN:VCALENDAR", b"\x89PNG"])
def test_any_other_file_is_not_one_of_cards(content: bytes) -> None:
    assert not is_vcard(content)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_file_is_read_in_its_encoding(encoding: str) -> None:
    (found,) = read_cards("BEGIN:VCARD\nFN:Zoë 西村\nEND:VCARD\n".encode(encoding))

    assert found.text("FN") == "Zoë 西村"


def test_each_card_has_its_line_and_its_values() -> None:
    content = (
        b"\nBEGIN:VCARD\nFN:Ada\nEND:VCARD\n\nbegin:vcard\nfn:Bob\nEMAIL:b@x.com\nemail:c@x.com\nend:vcard"
    )

    ada, bob = read_cards(content)

    assert (ada.line, ada.text("FN"), bob.line) == (2, "Ada", 6)
    assert [found.text for found in bob.all("EMAIL")] == ["b@x.com", "c@x.com"]
    assert bob.text("TEL") == ""


@pytest.mark.parametrize("rest", ["", "\nBEGIN:VCARD\nFN:Bob\nEND:VCARD"])
def test_a_card_that_does_not_end_is_ended_by_what_follows(rest: str) -> None:
    first, *_others = read_cards(f"BEGIN:VCARD\nFN:Ada{rest}".encode())

    assert first.text("FN") == "Ada"


def test_text_outside_of_cards_is_left_out() -> None:
    assert list(read_cards(b"END:VCARD\nFN:Ada\n\nEND:VCARD")) == []
    assert list(read_cards(b"")) == []


def test_the_card_of_an_assistant_is_not_the_persons() -> None:
    found = card("FN:Ada", "AGENT:", "BEGIN:VCARD", "FN:Bob", "EMAIL:b@x.com", "END:VCARD", "TEL:1")

    assert (found.text("FN"), found.text("EMAIL"), found.text("TEL")) == ("Ada", "", "1")


def test_components_are_separated_and_unescaped() -> None:
    found = card(r"ORG:Acme\, Engines\; Ltd.;R\\D;a\nb")

    assert [found.component("ORG", place) for place in range(4)] == ["Acme, Engines; Ltd.", r"R\D", "a b", ""]
    assert card("N:;Ada").component("N", 0) == ""


def test_a_sign_that_no_text_has_separates_nothing() -> None:
    assert card("FN:Ada\0 B;c").component("FN", 0) == "Ada B"


def test_a_folded_line_is_one_value() -> None:
    assert card("FN:Ada Love", " lace", "\tis one", "TEL:1").text("FN") == "Ada Lovelaceis one"


def test_a_quoted_printable_value_goes_on_after_a_soft_line_break() -> None:
    found = card(
        "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=4B=72=61=C3=",
        "=9F;=4A=",
        "=C3=B6rg;;;",
        "FN;QUOTED-PRINTABLE:J=F6rg=",
        "",
        "TEL:1",
    )

    assert [found.component("N", place) for place in (0, 1)] == ["Kraß", "Jörg"]
    assert (found.text("FN"), found.text("TEL")) == ("Jörg", "1")


def test_an_equals_sign_at_the_end_of_a_plain_value_does_not_join_lines() -> None:
    assert card("NOTE:a=", "FN:Ada").text("FN") == "Ada"


@pytest.mark.parametrize("encoding", ["ENCODING=BASE64", "ENCODING=b", "BASE64"])
def test_a_picture_is_left_out_although_its_lines_are_not_indented(encoding: str) -> None:
    found = card("FN:Ada", f"PHOTO;{encoding}:/9j/4AAQ", " SkZJRg", "ABAQAASABI==", "", "TEL:1")

    assert [each.name for each in found.properties] == ["FN", "TEL"]


def test_a_property_of_a_group_has_the_label_of_the_group() -> None:
    found = card("item1.TEL;type=pref:1", "item1.X-ABLabel:_$!<HomeFAX>!$_", "item2.TEL:2", "TEL:3")

    assert [(each.text, each.label) for each in found.all("TEL")] == [("1", "HomeFAX"), ("2", ""), ("3", "")]


@pytest.mark.parametrize(
    "line",
    ["TEL;WORK;FAX:1", "TEL;TYPE=WORK,FAX:1", 'TEL;VALUE=uri;TYPE="work,fax":1', "tel;type=work;type=fax:1"],
)
def test_the_types_of_a_property_are_read_in_each_version(line: str) -> None:
    (found,) = card(line).all("TEL")

    assert {"WORK", "FAX"} <= found.words


def test_a_quoted_parameter_may_contain_a_colon() -> None:
    assert card('ADR;LABEL="Home: here":;;1 Way').component("ADR", 2) == "1 Way"
    assert card('TEL;X="a:1').text("TEL") == "1"


@pytest.mark.parametrize(
    "line",
    [
        "FN;CHARSET=windows-1252:Jürgen".encode("cp1252"),
        "FN;CHARSET=UTF-8:Jürgen".encode("cp1252"),
        "FN;CHARSET=punycode:Jürgen".encode("cp1252"),
        "FN:Jürgen".encode("cp1252"),
        "FN;CHARSET=windows-1252:Jürgen".encode(),
    ],
)
def test_a_value_in_another_encoding_is_read_as_it_says_or_as_its_words_show(line: bytes) -> None:
    found = card("N;LANGUAGE=de:Müller;Jürgen".encode("cp1252"), "TITLE:Leiterin für Einkäufe", line)

    assert (found.text("FN"), found.component("N", 0)) == ("Jürgen", "Müller")


def test_long_values_are_cut_and_many_properties_left_out() -> None:
    long = card("NOTE:" + "a" * 3 * MAX_VALUE, " " + "b" * MAX_VALUE, " c", "TEL:1")
    many = card(*["TEL:1"] * (2 * MAX_PROPERTIES))

    assert len(long.text("NOTE")) <= MAX_VALUE
    assert long.text("TEL") == "1"
    assert len(many.properties) == MAX_PROPERTIES


def test_a_value_that_never_ends_is_cut() -> None:
    found = card("FN:Ada", "NOTE;ENCODING=QUOTED-PRINTABLE:" + "a=\r\n" * vcards.MAX_VALUE, "TEL:1")

    assert (found.text("FN"), found.text("TEL")) == ("Ada", "1")


@pytest.mark.parametrize("line", ["FN", "FN:", ":", "no property", "=45=50", ";;;:x"])
def test_a_line_that_is_no_property_does_not_end_the_card(line: str) -> None:
    assert card(line, "TEL:1").text("TEL") == "1"
