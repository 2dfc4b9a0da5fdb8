"""Headers of forms and public lists, which name one field in several words or with words beside it."""

from __future__ import annotations

import pytest

from app.domain.lists.headers.header_fields import column

JOINED = [
    ("Companies", "company_name"),
    ("Firma/Institution", "company_name"),
    ("Company / Organisation", "company_name"),
    ("Company (or Organisation)", "company_name"),
    ("Company or Organization Name", "company_name"),
    ("Affiliation (Company)", "company_name"),
    ("Firma bzw. Institution", "company_name"),
    ("Entreprise / Société", "company_name"),
    ("Société ou organisme", "company_name"),
    ("Empresa/Institución", "company_name"),
    ("Empresa u organización", "company_name"),
    ("Bedrijf of organisatie", "company_name"),
    ("Name des Unternehmens", "company_name"),
    ("Name of your organization", "company_name"),
    ("Job Title/Role", "title"),
    ("Job title (optional)", "title"),
    ("Funktion / Position", "title"),
    ("Surname(s)", "last_name"),
    ("Last Name / Surname", "last_name"),
    ("Your name", "full_name"),
    ("Delegate name", "full_name"),
    ("Ansprechpartner/in", "full_name"),
    ("Homepage/Website", "company_domain"),
    ("Town/City", "city"),
    ("PLZ/Ort", "city"),
    ("City, State", "location"),
    ("City and Country", "location"),
    ("Country/Region", "country"),
]


@pytest.mark.parametrize(("header", "field"), JOINED)
def test_a_header_may_name_its_field_twice(header: str, field: str) -> None:
    found = column(header)

    assert found is not None
    assert found.field == field


@pytest.mark.parametrize(
    "header",
    [
        "Name / Company",
        "Title or Name",
        "Company/ID",
        "Previous Company",
        "Past Companies",
        "Order / Company",
    ],
)
def test_a_header_of_several_things_is_not_read(header: str) -> None:
    assert column(header) is None


def test_both_parts_of_a_name_are_no_single_field() -> None:
    found = column("Last name, first name")

    assert found is not None
    assert found.field == "full_name"
