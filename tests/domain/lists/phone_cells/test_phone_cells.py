"""Phone numbers as people write them in the cells of lists."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.findings import FoundPhone
from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.people_rows import person_of
from app.domain.lists.phone_cells.phone_reading import PhoneRegions, read_number
from app.domain.lists.row_values import ImportDefaults, RowValues

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def phones(text: str, country: str = "DE", warnings: CellWarnings | None = None) -> tuple[FoundPhone, ...]:
    layout = map_columns(["name", "company", "country", "phone"], Entity.CONTACTS)
    defaults = ImportDefaults("list.csv", NOW, NOW)
    cells = ["Ada Low", "Acme", country, text]
    row = RowValues(layout, cells, defaults, CellWarnings() if warnings is None else warnings)
    return person_of(row, layout).found.phones


def numbers(text: str, country: str = "DE") -> list[str]:
    return [phone.e164 for phone in phones(text, country)]


def codes(text: str, country: str = "DE") -> list[str]:
    warnings = CellWarnings()
    phones(text, country, warnings)
    return [key.code for key in warnings.counts]


@pytest.mark.parametrize(
    "text",
    [
        "030 / 1234567",
        "030/1234567",
        "030/123/4567",
        "030 - 1234567",
        "030 \u2013 1234567",
        "030\u202f1234567",
        "030\u2009123\u00a04567",
        "030\u2011123\u20114567",
        "030\\1234567",
        "030 -- 1234567",
        "(030) 123 (4567)",
        "+49 (0)30 / 1234567",
        "+49 30 / 12 34 567",
        "(+49) 30 1234567",
        "+(49) 30 1234567",
        "+ 49 30 1234567",
        "++49 30 1234567",
        "+0049 30 1234567",
        "+030 1234567",
        "0049 30 1234567",
        "00 (49) 30 1234567",
        "49 30 1234567",
        "49301234567",
        "30 1234567",
        "301234567.0",
        "49301234567.0",
        "+49301234567.00",
        "4.9301234567E+10",
        "4,9301234567e10",
        '="0301234567"',
        "\u202a+49 30 1234567\u202c",
        "\u200e030\u200b1234567\ufeff",
        "030\u00ad1234567",
        "\uff0b\uff14\uff19 \uff13\uff10 \uff11\uff12\uff13\uff14\uff15\uff16\uff17",
        "\u0660\u0663\u0660 \u0661\u0662\u0663\u0664\u0665\u0666\u0667",
        "tel:+49-30-1234567",
        "Tel. 030 1234567",
        "Tel.: +49 30 1234567",
        "Tel/Fax: 030 1234567",
        "\u260e 030 1234567",
        "\u0422\u0435\u043b. +49 30 1234567",
        "030 1234567 (Zentrale)",
        "030 1234567 Ext",
        "030 1234567, Fax 030 1234568",
        "Fax: 030 1234568; 030 1234567",
    ],
)
def test_a_number_is_read_however_it_is_written(text: str) -> None:
    assert numbers(text) == ["+49301234567"]


@pytest.mark.parametrize(
    ("text", "country", "expected"),
    [
        ("030 1234567 / 0171 7654321", "DE", ["+49301234567", "+491717654321"]),
        ("030 1234567/0171 7654321", "DE", ["+49301234567", "+491717654321"]),
        ("030/1234567/0171/7654321", "DE", ["+49301234567", "+491717654321"]),
        ("030 1234567, 0171 7654321", "DE", ["+49301234567", "+491717654321"]),
        ("030 1234567 or 0171 7654321", "DE", ["+49301234567", "+491717654321"]),
        ("030 1234567 oder 0171 7654321", "DE", ["+49301234567", "+491717654321"]),
        ("030 1234567 & 0171 7654321", "DE", ["+49301234567", "+491717654321"]),
        ("030 1234567 - 0171 7654321", "DE", ["+49301234567", "+491717654321"]),
        ("030 1234567 0171 7654321", "DE", ["+49301234567", "+491717654321"]),
        ("030 1234567\n0171 7654321", "DE", ["+49301234567", "+491717654321"]),
        ("+49 30 1234567 +49 171 7654321", "DE", ["+49301234567", "+491717654321"]),
        ("+49 30 1234567 / 0171 7654321", "", ["+49301234567", "+491717654321"]),
        ("02/6334567 0475/123456", "BE", ["+3226334567", "+32475123456"]),
        ("(650) 253-0000 (650) 253-0001", "US", ["+16502530000", "+16502530001"]),
        ("650-253-0000, 650-253-0001", "US", ["+16502530000", "+16502530001"]),
        ("20 12 34 / 21 12 34", "FO", ["+298201234", "+298211234"]),
        ("07700 900123 / 07700 900124", "GB", ["+447700900123", "+447700900124"]),
        ("030/1;030/1234567", "DE", ["+49301234567"]),
        ("03012345/03012346", "DE", ["+493012345", "+493012346"]),
        ("0612345678-0712345678", "FR", ["+33612345678", "+33712345678"]),
        ("020 7946 0018 / 07700 900123", "GB", ["+442079460018", "+447700900123"]),
        ("+91-98765 43210 / 98765 43211", "IN", ["+919876543210", "+919876543211"]),
        ("07700 / 900123", "GB", ["+447700900123"]),
        ("(11) 98765-4321 / 3456-7890", "BR", ["+5511987654321"]),
        ("+7 (495) 123-45-67, 765-43-21", "RU", ["+74951234567"]),
        ("2. Stock, 030 1234567", "DE", ["+49301234567"]),
        ("030 1234567,1,2,3,4,5,0171 7654321", "DE", ["+49301234567", "+491717654321"]),
    ],
)
def test_two_numbers_are_read_as_two(text: str, country: str, expected: list[str]) -> None:
    assert numbers(text, country) == expected


@pytest.mark.parametrize(
    ("text", "country", "expected"),
    [
        ("030/1234567/8", "DE", ["+49301234567", "+49301234568"]),
        ("+49 30 1234567 / 68", "DE", ["+49301234567", "+49301234568"]),
        ("030 12345 / 12346", "DE", ["+493012345", "+493012346"]),
        ("0351 4567890, 4567891", "DE", ["+493514567890", "+493514567891"]),
        ("+212 5 22 94 07 70/74", "", ["+212522940770", "+212522940774"]),
        ("0522940770/74/76", "MA", ["+212522940770", "+212522940774", "+212522940776"]),
        ("650-253-0000/0001", "US", ["+16502530000", "+16502530001"]),
        ("030/1234/56", "DE", ["+4930123456"]),
        ("+43 1 40110/2345", "AT", ["+431401102345"]),
        ("+352 27 12 34 / 56", "LU", ["+35227123456"]),
        ("650-253-0000, 12", "US", ["+16502530000"]),
        ("0351 4567890, 7654321", "DE", ["+493514567890"]),
    ],
)
def test_an_ending_after_a_slash_is_that_of_a_second_number(
    text: str, country: str, expected: list[str]
) -> None:
    assert numbers(text, country) == expected


@pytest.mark.parametrize(
    ("text", "country", "expected"),
    [
        ("49 7755 91155", "DE", "+49775591155"),
        ("49775591155", "DE", "+49775591155"),
        ("1-650-253-0000", "DE", "+16502530000"),
        ("16502530000", "DE", "+16502530000"),
        ("16502530000.0", "DE", "+16502530000"),
        ("33 6 12 34 56 78", "DE", "+33612345678"),
        ("442079460018", "DE", "+442079460018"),
        ("(1) 650 253 0000", "GB", "+16502530000"),
        ("6561234567", "US", "+6561234567"),
        ("(670) 234-5678", "MP", "+16702345678"),
        ("(617) 555-0101", "US", "+16175550101"),
        ("84951234567", "RU", "+74951234567"),
        ("13802138000", "CN", "+8613802138000"),
        ("1701234567", "DE", "+491701234567"),
        ("39 348 1234567", "IT", "+393481234567"),
        ("16502530000", "", "+16502530000"),
        ("16,502,530,000", "US", "+16502530000"),
        ("811123456789", "ID", "+62811123456789"),
        ("(267) 5505514", "US", "+12675505514"),
        ("267 550-5514", "US", "+12675505514"),
        ("352 26 12 34 56", "DE", "+35226123456"),
        ("322.253.8271", "US", "+13222538271"),
        ("663-996-2207", "US", "+16639962207"),
        ("32 2 253 82 71", "US", "+3222538271"),
    ],
)
def test_a_number_without_its_plus_is_the_one_that_is_assigned(
    text: str, country: str, expected: str
) -> None:
    assert numbers(text, country) == [expected]


@pytest.mark.parametrize(
    ("text", "majority", "expected"),
    [
        ("352-209-0000", "US", "+13522090000"),
        ("(267)-550-7076", "US", "+12675507076"),
        ("267 5505514", "US", "+12675505514"),
        ("678.755.0123", "US", "+16787550123"),
        ("+(914)562-9911", "US", "+19145629911"),
        ("+(49) 30 1234567", "US", "+49301234567"),
        ("+(914)055-0101", "US", "+9140550101"),
        ("352 26 12 34 56", "US", "+35226123456"),
        ("39 348 1234567", "US", "+393481234567"),
        ("39 02 123456", "IT", "+3902123456"),
    ],
)
def test_an_area_code_of_the_lists_country_is_not_read_as_a_country_code(
    text: str, majority: str, expected: str
) -> None:
    assert read_number(text, PhoneRegions(guessed=(majority,))).e164 == expected


def test_a_number_that_a_row_gives_without_plus_in_the_lists_format_is_that_of_the_list() -> None:
    """The row's country may be misread, such as `AR` for Arkansas, and has not assigned the number."""
    regions = PhoneRegions(named=("AR",), guessed=("US",))

    assert read_number("412-347-5897", regions).e164 == "+14123475897"


def test_a_guessed_country_counts_before_a_plus_only_if_the_number_is_written_as_there() -> None:
    guesses = PhoneRegions(guessed=("CN", "DE"))

    assert [read_number(text, guesses).e164 for text in ("13802138000", "33612345678", "301234567")] == [
        "+8613802138000",
        "+33612345678",
        "+49301234567",
    ]


@pytest.mark.parametrize(
    ("text", "country", "expected"),
    [
        ("+52 1 55 1234 5678", "", "+525512345678"),
        ("+5215512345678", "DE", "+525512345678"),
        ("044 55 1234 5678", "MX", "+525512345678"),
        ("01 55 1234 5678", "MX", "+525512345678"),
        ("55 1234 5678", "MX", "+525512345678"),
        ("+54 9 11 2345 6789", "", "+5491123456789"),
        ("011 15 2345 6789", "AR", "+5491123456789"),
        ("1-800-FLOWERS", "US", "+18003569377"),
        ("+1 (800) FLO-WERS", "", "+18003569377"),
        ("800 FLOWERS", "CA", "+18003569377"),
    ],
)
def test_old_prefixes_and_letters_that_are_dialled_are_read(text: str, country: str, expected: str) -> None:
    assert numbers(text, country) == [expected]


@pytest.mark.parametrize(
    ("text", "country", "code"),
    [
        ("1.65E+10", "DE", "cut_number"),
        ("1,65025E10", "DE", "cut_number"),
        ("4.93012E+11", "", "cut_number"),
        ("call me", "DE", "invalid"),
        ("0l71 1234567", "DE", "invalid"),
        ("+49 30 l234567", "DE", "invalid"),
        ("O30 1234567", "DE", "invalid"),
        ("+49 30 Zentrale 23125001", "DE", "invalid"),
        ("+49 30 1234***", "DE", "invalid"),
        ("+49 30 1234\u25cf\u25cf\u25cf", "DE", "invalid"),
        ("030 1234xxx", "DE", "invalid"),
        ("1-800-CONTACTS", "US", "invalid"),
        ("800 1234 Ext", "US", "invalid"),
        ("800 123456 A", "US", "invalid"),
        ("ada1234567@acme.example", "DE", "invalid"),
        ("https://acme.example/0301234567", "DE", "invalid"),
        ("555-0101 / 555-0102", "US", "invalid"),
        ("3522 / 3523", "AR", "invalid"),
        ("3589-3591", "AR", "invalid"),
        ("030 1234567", "", "no_country"),
        ("6561234567", "", "no_country"),
        ("267-550-5514", "", "no_country"),
        ("030 / 1234567", "", "no_country"),
        ("030 1234567; 12", "DE", "invalid"),
        ("1-650-253-0000", "DE", "read_as_foreign"),
        ("33612345678", "DE", "maybe_foreign"),
        ("+44 7700 900123", "", "not_assigned"),
    ],
)
def test_what_is_left_out_or_guessed_has_a_code(text: str, country: str, code: str) -> None:
    assert codes(text, country) == [code]


@pytest.mark.parametrize(
    ("text", "country"),
    [
        ("030 1234567", "DE"),
        ("+1 650 253 0000", "DE"),
        ("0171 1234567", "DE"),
        ("1701234567", "DE"),
        ("n/a", "DE"),
    ],
)
def test_a_sure_number_has_no_code(text: str, country: str) -> None:
    assert codes(text, country) == []


@pytest.mark.parametrize(
    ("text", "country", "status"),
    [
        ("030 1234567", "DE", "valid"),
        ("(202) 555-0143", "US", "valid"),
        ("+44 7700 900123", "", "unknown"),
        ("07700 900123", "GB", "unknown"),
        ("+33 6 39 98 00 01", "FR", "unknown"),
        ("(555) 010-0199", "US", "unknown"),
        ("33612345678", "DE", "unknown"),
    ],
)
def test_only_an_assigned_number_is_valid(text: str, country: str, status: str) -> None:
    assert [phone.status for phone in phones(text, country)] == [status]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+1 650 253 0000 x12", [("+16502530000", "12", "work")]),
        ("+1 650 253 0000 #12", [("+16502530000", "12", "work")]),
        ("+1 650 253 0000;ext=7", [("+16502530000", "7", "work")]),
        ("030 1234567 Durchwahl 89", [("+49301234567", "89", "work")]),
        (
            "030 1234567 / 0171 7654321 ext. 3",
            [("+49301234567", None, "work"), ("+491717654321", "3", "mobile")],
        ),
        (
            "030 1234567 ext 5 / 0171 7654321",
            [("+49301234567", "5", "work"), ("+491717654321", None, "mobile")],
        ),
        ("+49 30 1234567 (mobile)", [("+49301234567", None, "mobile")]),
        ("030 1234567 (m)", [("+49301234567", None, "mobile")]),
        ("030 1234567 Handy", [("+49301234567", None, "mobile")]),
        ("Mobile: 030 1234567", [("+49301234567", None, "mobile")]),
        ("030 1234567 (fax), 030 1234568", [("+49301234568", None, "work")]),
        (
            "Zentrale 030 1234567 Mobil 0171 7654321",
            [("+49301234567", None, "hq"), ("+491717654321", None, "mobile")],
        ),
    ],
)
def test_words_beside_a_number_name_its_extension_and_type(
    text: str, expected: list[tuple[str, str | None, str]]
) -> None:
    assert [(phone.e164, phone.extension, phone.type) for phone in phones(text)] == expected


def test_the_end_of_a_number_that_is_not_readable_is_no_number() -> None:
    assert numbers("+49 30 Zentrale 23125001") == []


def test_the_part_that_is_no_number_is_counted_beside_the_number() -> None:
    warnings = CellWarnings()

    assert [phone.e164 for phone in phones("+49 30 1234567, 12", "DE", warnings)] == ["+49301234567"]
    assert warnings.counts == {WarningKey("phone", 3, "invalid"): 1}


@pytest.mark.parametrize(
    "text",
    [
        "1/" * 50_000,
        "a 1/2 " * 20_000,
        "1;" * 60_000,
        "+" * 100_000,
        "( " * 50_000,
        "x1" * 50_000,
        "# 1 " * 25_000,
        " - " * 30_000,
        "1" * 100_000,
    ],
)
def test_a_hostile_cell_is_read_in_linear_time(text: str) -> None:
    assert numbers(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "03991 61157-0 | -100",
        "03991 61157-0 / -100",
        "03991/61157-0/-100",
        "03991 61157-0/100",
        "03991 61157-0, -100",
        "03991 61157-0; -100",
        "03991 61157\u20130 / \u2013100",
        "03991 61157-0 (-100)",
        "03991 61157-0 (Durchwahl -100)",
        "03991 61157-0 / DW -100",
        "03991 61157-0 oder -100",
        "03991 61157-0\n-100",
    ],
)
def test_an_extension_after_a_switchboard_is_a_second_number(text: str) -> None:
    assert numbers(text) == ["+493991611570", "+49399161157100"]
    assert not codes(text)


def test_each_extension_belongs_to_the_number_before_it() -> None:
    text = "03991 61157-0, -100; 030 12345-0 / -10 / -11"

    assert numbers(text) == [
        "+493991611570",
        "+49399161157100",
        "+4930123450",
        "+49301234510",
        "+49301234511",
    ]
    assert numbers("650-253-0000 / -0001", "US") == ["+16502530000", "+16502530001"]


def test_a_short_extension_after_a_longer_one_is_reported_because_it_may_replace_digits_of_it() -> None:
    assert numbers("03991 61157-10 / -5") == ["+4939916115710"]
    assert codes("03991 61157-10 / -5") == ["invalid"]


def test_an_announced_extension_may_have_a_hyphen() -> None:
    [phone] = phones("+49 761 47810 Durchwahl: -900")

    assert (phone.e164, phone.extension) == ("+4976147810", "900")


@pytest.mark.parametrize("text", ["030-1234567 (18-20 Uhr)", "030-1234567 (ab 18 Uhr)"])
def test_hours_are_no_digits_of_the_number_before_them(text: str) -> None:
    assert numbers(text) == ["+49301234567"]
    assert codes(text) == ["invalid"]


def test_a_second_extension_is_reported_and_the_first_one_kept() -> None:
    [phone] = phones("(530) 583-6985 x302/x2303", "US")

    assert phone.extension == "302"
    assert codes("(530) 583-6985 x302/x2303", "US") == ["invalid"]


@pytest.mark.parametrize("text", ["650-253-0000,,123#", "650-253-0000 ,,123", "650-253-0000 #123"])
def test_what_is_dialled_after_a_pause_is_an_extension(text: str) -> None:
    [phone] = phones(text, "US")

    assert (phone.e164, phone.extension) == ("+16502530000", "123")


@pytest.mark.parametrize("text", ["(0-22) 583 12 34", "0 22 583 12 34", "022/5831234", "+48 022 583 12 34"])
def test_the_zero_once_dialled_in_poland_is_left_out(text: str) -> None:
    assert numbers(text, "PL") == ["+48225831234"]


@pytest.mark.parametrize("text", ["(0xx11) 3333-4444", "0XX11 3333-4444", "0xx 11 3333-4444"])
def test_the_code_of_any_brazilian_carrier_is_left_out(text: str) -> None:
    assert numbers(text, "BR") == ["+551133334444"]


@pytest.mark.parametrize(
    ("text", "country"), [("03-1234567 \u05e9\u05dc\u05d5\u05d7\u05d4 12", "IL"), ("02 123 4567 ต่อ 12", "TH")]
)
def test_extensions_are_announced_in_other_scripts(text: str, country: str) -> None:
    assert [phone.extension for phone in phones(text, country)] == ["12"]


@pytest.mark.parametrize(
    ("text", "country"),
    [("020-1234567 tst. 12", "NL"), ("08-123 456 78 ankn 12", "SE"), ("030 1234567 Apparat 12", "DE")],
)
def test_extensions_are_announced_by_short_words(text: str, country: str) -> None:
    assert [phone.extension for phone in phones(text, country)] == ["12"]
    assert not codes(text, country)
