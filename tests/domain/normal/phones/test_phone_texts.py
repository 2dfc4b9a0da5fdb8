import pytest

from app.domain.errors import InvalidValue
from app.domain.normal.phones.phones import (
    PhoneNumber,
    assigned_phone,
    normal_phone,
    parse_phone,
    phone_from_e164,
)


def test_a_parsed_number_has_all_its_parts() -> None:
    number = parse_phone("020 7946 0018 ext. 5", "GB")

    assert number == PhoneNumber(
        e164="+442079460018",
        national="020 7946 0018",
        extension="5",
        country="GB",
        line_type="landline",
        is_assigned=True,
    )


@pytest.mark.parametrize(
    ("text", "line_type"),
    [
        ("+49 1512 3456789", "mobile"),
        ("+49 30 901820", "landline"),
        ("+44 56 1234 5678", "voip"),
        ("+1 650 253 0000", "unknown"),
        ("+1 800 356 9377", "unknown"),
    ],
)
def test_the_line_type_is_derived_from_the_numbering_plan(text: str, line_type: str) -> None:
    assert parse_phone(text).line_type == line_type


def test_a_non_geographic_number_has_no_country() -> None:
    assert parse_phone("+800 1234 5678").country is None


@pytest.mark.parametrize("region", ["gb", " GB ", "UK"])
def test_a_region_may_be_lower_case_or_an_alias(region: str) -> None:
    assert parse_phone("020 7946 0018", region).e164 == "+442079460018"


@pytest.mark.parametrize("region", [None, "", "ZZ", "Britain"])
def test_a_national_number_needs_a_region(region: str | None) -> None:
    with pytest.raises(InvalidValue):
        parse_phone("020 7946 0018", region)


def test_an_international_number_needs_no_region() -> None:
    assert parse_phone("0044 (0)20 7946 0018", "nowhere").e164 == "+442079460018"


def test_a_stored_number_is_described_like_the_parsed_one() -> None:
    parsed = parse_phone("+1 650 253 0000 x12")

    assert phone_from_e164(parsed.e164, parsed.extension) == parsed


def test_a_stored_number_removed_from_the_numbering_plan_is_accepted() -> None:
    number = phone_from_e164("+4411111111")

    assert (number.e164, number.line_type, number.country) == ("+4411111111", "unknown", None)


@pytest.mark.parametrize(
    "text", ["", "16502530000", "+0123456789", "+1 650 253 0000", "+9991234567", "+1234567890123456"]
)
def test_what_is_not_e164_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        phone_from_e164(text)


@pytest.mark.parametrize(
    ("text", "e164"),
    [
        ("+49 30 123456 (mobile)", "+4930123456"),
        ("(+1) 650 253 0000", "+16502530000"),
        ("+49 (0)30 / 7654322", "+49307654322"),
        ("tel:+493076543 23", "+49307654323"),
        ("\u202a+49 30 123456\u202c", "+4930123456"),
        ("+16502530000.0", "+16502530000"),
        ("+52 1 55 1234 5678", "+525512345678"),
    ],
)
def test_words_and_signs_beside_a_number_are_taken_off(text: str, e164: str) -> None:
    assert normal_phone(text) == e164


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("+1 650 253 0000 or +1 650 253 0001", "several phone numbers"),
        ("1.65E+10", "rounded"),
        ("+1 650 253 ****", "not a phone number"),
        ("+49 170 12345..", "not a phone number"),
        ("+1 650 253 0000 / 650 253 0001", "not a phone number"),
    ],
)
def test_what_is_not_one_whole_number_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InvalidValue, match=sentence):
        normal_phone(text)


@pytest.mark.parametrize(
    ("text", "is_assigned"), [("+49 30 901820", True), ("+44 7700 900123", False), ("+1 555 010 0123", False)]
)
def test_a_number_knows_whether_it_is_assigned(text: str, *, is_assigned: bool) -> None:
    assert parse_phone(text).is_assigned is is_assigned
    assert (assigned_phone(text) is not None) is is_assigned
