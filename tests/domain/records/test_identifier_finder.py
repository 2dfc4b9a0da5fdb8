from __future__ import annotations

import pytest

from app.domain.records.identifier_finder import identifiers_in

PHONE = ("phone", "+16175550155")
PROFILE = ("linkedin_url", "https://www.linkedin.com/in/zoë-ray")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (
            "Ask Ada.L@Acme.com, or <bob@acme.co.uk>.",
            {("email", "ada.l@acme.com"), ("email", "bob@acme.co.uk")},
        ),
        ("https://hook.example/?about=z.ray%40acme.com", {("email", "z.ray@acme.com")}),
        ("see https://de.linkedin.com/in/zo%C3%AB-ray?trk=x", {PROFILE}),
        ({"a": [{"b": "linkedin.com/in/zoë-ray"}], "c": 7, "d": None}, {PROFILE}),
        (
            "sales: https://www.linkedin.com/sales/lead/ACwAAAbCdEf_-xyz,NAME_SEARCH,a1b2",
            {("linkedin_url", "https://www.linkedin.com/in/ACwAAAbCdEf_-xyz")},
        ),
        ("+1 (617) 555-0155 or 0044 20 7946 0018", {PHONE, ("phone", "+442079460018")}),
        ("16175550155", {PHONE}),
        (
            "'ada@acme.com' is o'neil@acme.com",
            {("email", "ada@acme.com"), ("email", "'ada@acme.com"), ("email", "o'neil@acme.com")},
        ),
        (("nobody", "a@b", "linkedin.com/in/me", "12345", "order 0000000"), set()),
    ],
)
def test_identifiers_are_found_in_any_text(value: object, found: set[tuple[str, str]]) -> None:
    assert set(identifiers_in(value)) == found


def test_an_address_is_found_behind_a_long_text_without_spaces() -> None:
    text = f"{'/@con_' * 20_000}/ada@acme.com,linkedin.com/in/zoë-ray"

    found = set(identifiers_in(text))

    assert found >= {("email", "ada@acme.com"), PROFILE}
