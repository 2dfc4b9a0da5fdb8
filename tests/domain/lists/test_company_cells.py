"""What identifies the company of a row: its website, the person's address, or its name."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.errors import InvalidValue
from app.domain.findings import FoundCompany
from app.domain.lists.cells.cell_warnings import CellWarnings
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.people_rows import person_of
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.lists.warning_kinds import KINDS

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def read(**cells: str) -> tuple[FoundCompany | None, list[str]]:
    """Return the company of a person's row, and the codes of its warnings."""
    layout, warnings = map_columns(list(cells), Entity.CONTACTS), CellWarnings()
    row = RowValues(layout, list(cells.values()), ImportDefaults("list.csv", NOW, NOW), warnings, 2)
    company = person_of(row, layout).found.company
    assert {key.code for key in warnings.counts} <= KINDS.keys()
    return company, [key.code for key in warnings.counts]


@pytest.mark.parametrize(
    ("cell", "domain", "codes"),
    [
        ("acme.example; acme.de", "acme.example", ["several_domains"]),
        ("acme.example, acme.de", "acme.example", ["several_domains"]),
        ("acme.example | acme.de", "acme.example", ["several_domains"]),
        ("acme.example acme.de", "acme.example", ["several_domains"]),
        ("acme.example\nacme.de", "acme.example", ["several_domains"]),
        ("acme.example\u3001acme.de", "acme.example", ["several_domains"]),
        ("www.acme.example (old: acme.de)", "acme.example", ["several_domains"]),
        ("acme.example:::acme.de", "acme.example", ["several_domains"]),
        ('["acme.example", "acme.de"]', "acme.example", ["several_domains"]),
        ("['https://acme.example/', 'https://acme.de/']", "acme.example", ["several_domains"]),
        ("https://www.acme.example; acme.example", "acme.example", []),
        ("acme; acme.example", "acme.example", []),
        ("facebook.com/acme, acme.example", "acme.example", []),
        ("info@acme.example; sales@acme.example", "acme.example", []),
        ("https://acme.example/a,b;c", "acme.example", []),
        ("acme.example", "acme.example", []),
        ("sites.google.com/view/acme", None, ["shared_host"]),
        ("facebook.com/acme; instagram.com/acme", None, ["shared_host"]),
        ("acme; de", None, ["invalid"]),
        ("co.uk; com", None, ["invalid"]),
    ],
)
def test_the_first_of_several_domains_is_used(cell: str, domain: str | None, codes: list[str]) -> None:
    company, warned = read(full_name="Ada Lovelace", company_name="Acme", company_domain=cell)

    assert company is not None
    assert (company.name, company.domain) == ("Acme", domain)
    assert warned == codes


@pytest.mark.parametrize(
    ("name", "email", "domain"),
    [
        ("Acme", "ada@mail.acme.example", "acme.example"),
        ("", "ada@acme.example", "acme.example"),
        ("Acme", "ada@acme.onmicrosoft.com", None),
        ("Ryde City Council", "ada@ryde.nsw.gov.au", None),
        ("Acme", "ada@linkedin.com", None),
        ("LinkedIn", "ada@linkedin.com", "linkedin.com"),
        ("Acme", "ada@gmail.com", None),
        ("Acme", "ada@austin.rr.com", None),
        ("Acme", "ada@former.example; ada@acme.example", "acme.example"),
        ("Other", "ada@former.example; ada@acme.example", "former.example"),
        ("", "ada@former.example; ada@acme.example", "former.example"),
    ],
)
def test_without_a_website_the_domain_is_that_of_an_address_that_identifies_a_company(
    name: str, email: str, domain: str | None
) -> None:
    company, warned = read(full_name="Ada Lovelace", company_name=name, email=email)

    assert (company.domain if company else None) == domain
    assert warned == []


def test_a_page_at_linkedin_in_the_column_of_the_website_is_not_left_out() -> None:
    company, warned = read(
        full_name="Ada Lovelace", company_name="Acme", company_domain="linkedin.com/company/acme-demo"
    )

    assert company is not None
    assert (company.domain, company.linkedin_url) == (None, "https://www.linkedin.com/company/acme-demo")
    assert warned == []


@pytest.mark.parametrize(
    "name", ["Freelance", "Self-employed", "Stealth Startup", "Selbstständig", "Confidential"]
)
def test_words_for_no_employer_are_no_company(name: str) -> None:
    company, warned = read(full_name="Ada Lovelace", company_name=name, email="ada@gmail.com")

    assert (company, warned) == (None, ["no_employer"])


@pytest.mark.parametrize("name", ["Freelance", "N/A", "Open to work", "Freiberufler"])
def test_a_name_without_an_employer_identifies_nobody(name: str) -> None:
    with pytest.raises(InvalidValue, match="does not identify a person"):
        read(full_name="Ada Lovelace", company_name=name)


def test_without_an_employer_the_domain_still_identifies() -> None:
    company, warned = read(full_name="Ada Lovelace", company_name="Freelance", company_domain="ada.example")

    assert company is not None
    assert (company.name, company.domain, warned) == (None, "ada.example", ["no_employer"])


def test_a_company_may_have_such_a_word_as_its_name() -> None:
    company, warned = read(
        full_name="Ada Lovelace", company_name="Freelance", company_domain="freelance.example"
    )

    assert company is not None
    assert (company.name, company.domain, warned) == ("Freelance", "freelance.example", [])


@pytest.mark.parametrize(
    ("website", "number"),
    [
        ("www.amazon.com.au/acme", "+61262891555"),
        ("sites.google.com/acme", None),
        ("not a site", None),
    ],
)
def test_a_shared_website_of_a_country_shows_the_country_of_numbers(website: str, number: str | None) -> None:
    cells = {"name": "Ada Low", "phone": "02 6289 1555", "company": "Acme", "website": website}
    layout = map_columns(list(cells), Entity.CONTACTS)
    row = RowValues(layout, list(cells.values()), ImportDefaults("list.csv", NOW, NOW), CellWarnings(), 2)
    found = person_of(row, layout).found

    assert found.company is not None
    assert found.company.domain is None
    assert [phone.e164 for phone in found.phones] == ([number] if number else [])


@pytest.mark.parametrize(
    ("cell", "domain", "page", "codes"),
    [
        ("https://www.acme.com/about", "acme.com", None, []),
        ("www.acme.com", "acme.com", None, []),
        ("acme.de", "acme.de", None, []),
        ("https://www.linkedin.com/company/acme/", None, "https://www.linkedin.com/company/acme", []),
        ("https://sites.google.com/view/acme", None, None, ["shared_host"]),
    ],
)
def test_a_website_in_the_cell_of_the_company_name_is_not_its_name(
    cell: str, domain: str | None, page: str | None, codes: list[str]
) -> None:
    company, warned = read(full_name="Ada Lovelace", email="ada@gmail.com", company_name=cell)

    found = (company.name, company.domain, company.linkedin_url) if company else (None, None, None)
    assert (found, warned) == ((None, domain, page), codes)


def test_the_website_of_its_own_column_comes_before_the_one_in_the_name() -> None:
    company, warned = read(full_name="Ada Lovelace", company_name="www.beta.com", company_domain="acme.com")

    assert company is not None
    assert (company.name, company.domain, warned) == (None, "acme.com", [])
