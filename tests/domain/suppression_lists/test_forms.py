from __future__ import annotations

from base64 import b64encode

import pytest

from app.domain.errors import InvalidValue
from app.domain.normal.emails import normal_email
from app.domain.normal.phones.phones import parse_phone
from app.domain.suppression_lists import forms
from app.domain.suppression_lists.hashed_values import hash_of, parse_hash

EMAIL_HASH = "KA18MT/ph6IHYjzT9zwETySDQyvSh87YuoSBpOQtkhE="
PHONE_HASH = "vGM7y5n+hBXRSEAklhHDPCbysyNgYTmXdMcagGUOY8E="


def hashes(kind: str, value: str) -> set[str]:
    """Return the published form of each hash that suppresses the value."""
    return {b64encode(hash_of(text)).decode() for _kind, text in forms.checked(kind, value)}


@pytest.mark.parametrize(
    ("kind", "value", "published"),
    [
        ("email", normal_email("Anna.Smith@Domain.com"), EMAIL_HASH),
        ("email", normal_email(" anna.smith@domain.COM "), EMAIL_HASH),
        ("phone", parse_phone("+1(415)555-9317").e164, PHONE_HASH),
        ("phone", parse_phone("+84(90)123 4567").e164, "ptzVkgbv9DonwvPCHmXmJ2SEOaolSh37z3ZzY/Gmm+U="),
    ],
)
def test_the_published_vectors_of_california_match(kind: str, value: str, published: str) -> None:
    assert published in hashes(kind, value)


@pytest.mark.parametrize(
    ("value", "listed_form", "is_suppressed"),
    [
        (" Deleted@Person.IO", "deleted@person.io", True),
        ("deleted+x@person.io", "deleted@person.io", False),
        ("a.d.a+news@gmail.com", "ada@gmail.com", True),
        ("ada@googlemail.com", "ada@gmail.com", True),
        ("a.da@acme.com", "ada@acme.com", False),
        ("ada@xn--bcher-kva.example.com", "ada@bücher.example.com", True),
    ],
)
def test_an_address_is_suppressed_in_the_spellings_of_its_mailbox(
    value: str, listed_form: str, *, is_suppressed: bool
) -> None:
    assert (("email", listed_form) in forms.checked("email", normal_email(value))) is is_suppressed


def test_a_domain_suppresses_the_addresses_at_it_and_below_it() -> None:
    below, above = forms.checked("email", "ada@uk.acme.co.uk"), forms.checked("domain", "acme.co.uk")

    assert [text for kind, text in below if kind == "domain"] == ["uk.acme.co.uk", "acme.co.uk"]
    assert above == (("domain", "acme.co.uk"),)
    assert forms.checked("domain", "co.uk") == (("domain", "co.uk"),)


def test_a_domain_that_cannot_be_decoded_has_one_form() -> None:
    assert forms.own("email", "ada@xn--a.com") == (("email", "ada@xn--a.com"),)


def test_a_number_that_is_listed_in_plain_text_has_one_form_and_is_found_in_three() -> None:
    assert forms.listed("phone", "+14155559317") == (("phone", "+14155559317"),)
    assert forms.own("phone", "+14155559317") == (
        ("phone", "+14155559317"),
        ("phone", "14155559317"),
        ("phone", "4155559317"),
    )


@pytest.mark.parametrize(
    "text",
    [
        EMAIL_HASH,
        EMAIL_HASH.rstrip("="),
        EMAIL_HASH.replace("/", "_"),
        hash_of("anna.smith@domain.com").hex(),
    ],
)
def test_a_hash_is_read_in_every_notation(text: str) -> None:
    assert parse_hash(f" {text}\n") == hash_of("anna.smith@domain.com")


@pytest.mark.parametrize("text", ["", "ada@acme.com", "ab" * 20, "=" * 44, EMAIL_HASH + "A"])
def test_other_texts_are_no_hashes(text: str) -> None:
    with pytest.raises(InvalidValue, match="not a SHA-256"):
        parse_hash(text)
