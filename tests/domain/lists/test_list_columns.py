from __future__ import annotations

import pytest

from app.domain.errors import InvalidValue
from app.domain.lists.headers.column_mapping import Entity, check_mapping, explain_unknown, map_columns
from app.domain.lists.headers.header_fields import FIELDS, Column, column


@pytest.mark.parametrize(
    ("header", "field", "kind", "group"),
    [
        ("E-Mail-Adresse", "email", None, ""),
        ("Work Email", "email", "work", "work"),
        ("Geschäftliche E-Mail", "email", "work", "work"),
        ("Company Email", "email", "work", "corporate"),
        ("Private email", "email", "personal", "personal"),
        ("Secondary Email Status", "email_status", None, "secondary"),
        ("emailVerified", "email_status", None, ""),
        ("Email 2 Confidence", "email_confidence", None, "2"),
        ("Primary Email Last Verified At", "email_verified_at", None, ""),
        ("Work Direct Phone", "phone", "direct", "work direct"),
        ("Corporate Phone", "phone", "hq", "corporate"),
        ("Home Phone 2", "phone", "other", "personal 2"),
        ("Mobile Phone1", "phone", "mobile", "mobile 1"),
        ("Téléphone portable", "phone", "mobile", "mobile"),
        ("Phone 1 - Type", "phone_type", None, "1"),
        ("phone_2_do_not_call", "phone_do_not_call", None, "2"),
    ],
)
def test_columns_of_emails_and_phones_are_read_word_by_word(
    header: str, field: str, kind: str | None, group: str
) -> None:
    found = column(header)

    assert found is not None
    assert (found.field, found.kind, found.group) == (field, kind, group)


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("FIRST_NAME", "first_name"),
        ("linkedInUrl", "linkedin_url"),
        ("# Employees", "company_headcount"),
        ("Prénom", "first_name"),
        ("Unternehmensgröße", "company_headcount"),
        ("Account: Website", "company_domain"),
    ],
)
def test_case_accents_and_punctuation_do_not_matter(header: str, field: str) -> None:
    found = column(header)

    assert found is not None
    assert found.field == field


@pytest.mark.parametrize(
    "header",
    ["Manager Email", "Business Fax", "Company Name for Emails", "Fax Opt Out", "Contact Owner", "", "!"],
)
def test_other_columns_are_ignored(header: str) -> None:
    assert column(header) is None


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_can_be_mapped_to(field: str) -> None:
    check_mapping({"column": field})

    assert column(field) is not None


def test_attributes_belong_to_the_value_of_their_group() -> None:
    header = [
        "Email",
        "Email Status",
        "Email",
        "Email Status",
        "Personal Email",
        "Phone",
        "Mobile",
        "Mobile DNC",
    ]

    layout = map_columns(header, Entity.CONTACTS)

    assert [(slot.index, dict(slot.attributes)) for slot in layout.emails] == [
        (0, {"status": 1}),
        (2, {"status": 3}),
        (4, {}),
    ]
    assert [(slot.index, slot.kind, dict(slot.attributes)) for slot in layout.phones] == [
        (5, None, {}),
        (6, "mobile", {"do_not_call": 7}),
    ]
    assert layout.known_count == 8


def test_attributes_without_a_value_belong_to_the_first_value() -> None:
    layout = map_columns(["Verification status", "Work Email", "Private Email"], Entity.CONTACTS)

    assert [dict(slot.attributes) for slot in layout.emails] == [{"status": 0}, {}]


def test_a_status_column_without_an_email_column_is_ignored() -> None:
    layout = map_columns(["Email Status"], Entity.CONTACTS)

    assert (layout.emails, layout.names_rows) == ((), False)


def test_the_most_reliable_column_comes_first() -> None:
    layout = map_columns(["Title", "Job Title", "Website", "Domain"], Entity.CONTACTS)

    assert layout.single == {"title": (1, 0), "company_domain": (3, 2)}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (["Vorname", "Name"], {"first_name": (0,), "last_name": (1,)}),
        (["Vorname", "Nachname", "Name"], {"first_name": (0,), "last_name": (1,), "full_name": (2,)}),
        (["First Name", "Full Name"], {"first_name": (0,), "full_name": (1,)}),
        (["Name"], {"full_name": (0,)}),
    ],
)
def test_a_name_column_next_to_a_first_name_is_the_last_name(
    header: list[str], expected: dict[str, tuple[int, ...]]
) -> None:
    assert map_columns(header, Entity.CONTACTS).single == expected


def test_in_a_list_of_companies_the_name_column_is_the_company_name() -> None:
    layout = map_columns(["Name", "City", "LinkedIn", "Email", "Stage"], Entity.COMPANIES)

    assert set(layout.single) == {"company_name", "company_city", "company_linkedin_url"}
    assert layout.emails == ()
    assert layout.names_rows


def test_the_operators_mapping_overrides_the_header() -> None:
    layout = map_columns(["Title", "Rang", "email"], Entity.CONTACTS, {"rang": "title", "EMAIL": "-"})

    assert layout.single["title"] == (1, 0)
    assert layout.meanings == {"Title": "title", "Rang": "title", "email": None}
    assert layout.has("TITLE")
    assert not layout.has("Rank")


def test_an_unknown_field_is_named_in_the_error() -> None:
    with pytest.raises(InvalidValue, match="'shoe size' is not a field") as caught:
        check_mapping({"a": "email", "b": "shoe size", "c": "ignore"})

    assert "full_name" in str(caught.value)


@pytest.mark.parametrize(
    ("entity", "needed"), [(Entity.CONTACTS, "an e-mail"), (Entity.COMPANIES, "a domain")]
)
def test_the_error_names_the_missing_columns(entity: Entity, needed: str) -> None:
    sentence = explain_unknown(["wer", " "], entity)

    assert needed in sentence
    assert "Columns found: 'wer'." in sentence
    assert "Columns found: none." in explain_unknown([], entity)


def test_a_column_without_a_kind_has_none() -> None:
    assert Column("email") == Column("email", None, "", 0)


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("Person - Job title", "title"),
        ("Prospect City", "city"),
        ("Organization - Website", "company_domain"),
        ("Employer LinkedIn URL", "company_linkedin_url"),
        ("regularCompanyUrl", "company_linkedin_url"),
        ("Adresse de messagerie", "email"),
    ],
)
def test_a_header_may_begin_with_its_owner(header: str, field: str) -> None:
    found = column(header)

    assert found is not None
    assert found.field == field
