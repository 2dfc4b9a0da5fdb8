import pytest

from app.domain.errors import InvalidValue
from app.domain.normal.phones import PhoneNumber, parse_phone, phone_from_e164


def test_a_number_is_told_in_all_its_parts() -> None:
    number = parse_phone("020 7946 0018 ext. 5", "GB")

    assert number == PhoneNumber(
        e164="+442079460018", national="020 7946 0018", extension="5", country="GB", line_type="landline"
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
def test_the_numbering_plan_tells_the_line_type(text: str, line_type: str) -> None:
    assert parse_phone(text).line_type == line_type


def test_a_number_of_no_country_has_none() -> None:
    assert parse_phone("+800 1234 5678").country is None


@pytest.mark.parametrize("region", ["gb", " GB ", "UK"])
def test_a_region_is_read_loosely(region: str) -> None:
    assert parse_phone("020 7946 0018", region).e164 == "+442079460018"


@pytest.mark.parametrize("region", [None, "", "ZZ", "Britain"])
def test_a_national_number_needs_a_region(region: str | None) -> None:
    with pytest.raises(InvalidValue):
        parse_phone("020 7946 0018", region)


def test_an_international_number_needs_none() -> None:
    assert parse_phone("0044 (0)20 7946 0018", "nowhere").e164 == "+442079460018"


def test_a_kept_number_is_described_as_the_parsed_one_was() -> None:
    parsed = parse_phone("+1 650 253 0000 x12")

    assert phone_from_e164(parsed.e164, parsed.extension) == parsed


def test_a_kept_number_that_the_plan_has_dropped_is_let_through() -> None:
    number = phone_from_e164("+4411111111")

    assert (number.e164, number.line_type, number.country) == ("+4411111111", "unknown", None)


@pytest.mark.parametrize(
    "text", ["", "16502530000", "+0123456789", "+1 650 253 0000", "+9991234567", "+1234567890123456"]
)
def test_what_is_not_e164_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        phone_from_e164(text)
