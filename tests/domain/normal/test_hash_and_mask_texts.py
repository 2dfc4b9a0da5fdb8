import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.errors import BadHash, InvalidValue
from app.domain.normal.hashes import (
    hex_hash,
    parse_hash,
    parse_prefix,
    prefix_bounds,
    profile_hash,
    website_hash,
)
from app.domain.normal.masks import mask_email, mask_phone


def test_a_websites_hash_is_the_sha256_of_its_normal_form() -> None:
    assert hex_hash(website_hash("acme.com")) == hashlib.sha256(b"acme.com").hexdigest()


def test_a_profiles_hash_is_that_of_its_url_in_utf_8() -> None:
    url = "https://www.linkedin.com/in/josé"

    assert profile_hash(url) == hashlib.sha256(url.encode()).digest()


def test_a_hash_can_be_formatted_and_parsed() -> None:
    digest = website_hash("acme.com")

    assert parse_hash(hex_hash(digest)) == digest


@pytest.mark.parametrize(
    "text", ["", "ab", "A" * 64, "g" * 64, "a" * 63, "a" * 65, "٣" * 64, "a" * 64 + "\n"]
)
def test_a_hash_must_be_64_lower_case_hexadecimal_digits(text: str) -> None:
    with pytest.raises(BadHash):
        parse_hash(text)


def test_a_prefix_must_have_exactly_the_configured_length() -> None:
    assert parse_prefix("0a1b", 4) == "0a1b"
    with pytest.raises(BadHash, match="bad_hash"):
        parse_prefix("0a1b2", 4)


@settings(max_examples=50, deadline=None)
@given(st.binary(min_size=32, max_size=32), st.integers(0, 64))
def test_a_hash_lies_within_the_bounds_of_its_prefixes(digest: bytes, length: int) -> None:
    low, high = prefix_bounds(digest.hex()[:length])

    assert low <= digest <= high


@settings(max_examples=50, deadline=None)
@given(st.binary(min_size=32, max_size=32), st.text("0123456789abcdef", min_size=1, max_size=8))
def test_a_hash_of_another_prefix_lies_outside(digest: bytes, prefix: str) -> None:
    low, high = prefix_bounds(prefix)

    assert (low <= digest <= high) == digest.hex().startswith(prefix)


@pytest.mark.parametrize("prefix", ["xyz", "AB", "a" * 65])
def test_bounds_of_an_invalid_prefix_are_an_error(prefix: str) -> None:
    with pytest.raises(BadHash):
        prefix_bounds(prefix)


@pytest.mark.parametrize("email", ["ada@acme.com", "a@acme.com", "augusta.ada.king.lovelace@acme.com"])
def test_a_masked_email_reveals_only_the_first_character_and_the_domain(email: str) -> None:
    assert mask_email(email) == "a•••••@acme.com"


@pytest.mark.parametrize("text", ["", "ada", "@acme.com", "ada@"])
def test_masking_an_invalid_email_is_an_error(text: str) -> None:
    with pytest.raises(InvalidValue):
        mask_email(text)


@pytest.mark.parametrize(
    ("e164", "mask"),
    [
        ("+16502530023", "+1 •••••••23"),
        ("+442079460018", "+44 •••••••18"),
        ("+3545811234", "+354 •••••••34"),
        ("+80012345678", "+800 •••••••78"),
    ],
)
def test_a_masked_phone_shows_the_country_code_and_two_digits(e164: str, mask: str) -> None:
    assert mask_phone(e164) == mask


@pytest.mark.parametrize("text", ["", "6502530023", "+1", "+999123456", "+1650253002x"])
def test_masking_an_invalid_number_is_an_error(text: str) -> None:
    with pytest.raises(InvalidValue):
        mask_phone(text)
