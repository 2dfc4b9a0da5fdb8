import phonenumbers
import pytest
from phonenumbers import (
    COUNTRY_CODE_TO_REGION_CODE,
    PhoneNumber,
    PhoneNumberFormat,
    PhoneNumberType,
    ValidationResult,
)

from app.domain.normal.phones import numbering_plans

LINES = {
    PhoneNumberType.MOBILE: "mobile",
    PhoneNumberType.FIXED_LINE: "landline",
    PhoneNumberType.VOIP: "voip",
}
EXAMPLES = {
    phonenumbers.format_number(number, PhoneNumberFormat.E164)
    for code, regions in COUNTRY_CODE_TO_REGION_CODE.items()
    for number in (
        phonenumbers.example_number_for_non_geo_entity(code),
        *(
            phonenumbers.example_number_for_type(region, line)
            for region in regions
            for line in PhoneNumberType.values()
        ),
    )
    if number is not None
}
CHANGED = {f"{text[:at]}{digit}{text[at + 1 :]}" for text in EXAMPLES for at in (-6, -1) for digit in "047"}


def line_type(number: PhoneNumber) -> str | None:
    """Return the line type; None if no plan has assigned the number."""
    line = phonenumbers.number_type(number)
    return None if line == PhoneNumberType.UNKNOWN else LINES.get(line, "unknown")


def parsed(text: str) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(text)
    except phonenumbers.NumberParseException:
        return None


NUMBERS = [number for text in sorted(EXAMPLES | CHANGED) if (number := parsed(text)) is not None]


def test_country_and_line_type_are_those_of_the_library() -> None:
    for number in NUMBERS:
        national = phonenumbers.national_significant_number(number)

        assert numbering_plans.describe(number.country_code or 0, national) == (
            phonenumbers.region_code_for_number(number),
            line_type(number),
        )


def test_a_number_is_possible_if_it_is_to_the_library() -> None:
    shorter = [PhoneNumber(one.country_code, (one.national_number or 0) // 10) for one in NUMBERS]
    for number in NUMBERS + shorter:
        national = phonenumbers.national_significant_number(number)

        assert numbering_plans.is_possible(number.country_code or 0, national) == (
            phonenumbers.is_possible_number_with_reason(number) == ValidationResult.IS_POSSIBLE
        )


def test_the_national_format_is_that_of_the_library() -> None:
    for number in NUMBERS:
        national = phonenumbers.national_significant_number(number)

        assert numbering_plans.national_format(
            number.country_code or 0, national
        ) == phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)


def test_a_plain_number_is_parsed_as_the_library_parses_it() -> None:
    for text in EXAMPLES | CHANGED:
        for written in (text, f"{text[:4]} ({text[4:6]}) {text[6:8]}-{text[8:]}"):
            number = numbering_plans.parse_plain(written)

            expected = parsed(written)
            assert number is None or (
                expected is not None
                and number == (expected.country_code, phonenumbers.national_significant_number(expected))
            )


@pytest.mark.parametrize(
    "text",
    [
        "16502530000",
        "+1 650 253 0000 x5",
        "+44 (0)20 7946 0018",
        "+1 1 650 253 0000",
        "+999 1234567",
        "+1 650",
    ],
)
def test_what_takes_the_library_to_parse_is_left_to_it(text: str) -> None:
    assert numbering_plans.parse_plain(text) is None
