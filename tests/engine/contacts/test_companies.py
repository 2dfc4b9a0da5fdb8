from __future__ import annotations

from dataclasses import replace

import pytest
from findings_support import DAY, NOW, a_source, company
from sqlalchemy import func, select

from app.domain.findings import FoundCompany
from app.domain.normal.hashes import profile_hash, website_hash
from app.domain.records.merging import Change
from app.engine.contacts import companies
from app.engine.contacts.companies import Company
from app.infra.database.session import Session

PAGE = "https://www.linkedin.com/company/acme-demo"
ACME = company("Acme Inc.", "acme.example", linkedin_url=PAGE)


def count(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(Company)) or 0


def test_a_company_is_stored_with_its_hashes(session: Session) -> None:
    stored = companies.upsert(session, ACME, now=NOW)

    assert (stored.name, stored.name_key) == ("Acme Inc.", "acme")
    assert stored.domain_hash == website_hash("acme.example")
    assert stored.linkedin_hash == profile_hash(PAGE)
    assert companies.get(session, stored.id) == stored


@pytest.mark.parametrize(
    "second",
    [
        company(None, "acme.example"),
        company("Acme Rail Systems", "acme.example"),
        company(None, None, linkedin_url=PAGE),
        company("ACME", None),
        company("acme inc", None, linkedin_url=PAGE),
    ],
    ids=["domain", "domain before name", "page", "name", "page and name"],
)
def test_records_with_a_common_identifier_are_one_company(session: Session, second: FoundCompany) -> None:
    first = companies.upsert(session, ACME, now=NOW)

    stored = companies.upsert(session, second, now=NOW)

    assert stored.id == first.id
    assert count(session) == 1


@pytest.mark.parametrize(
    "second",
    [
        company("Acme Inc.", "acme-tools.example"),
        company("Acme Inc.", None, linkedin_url="https://www.linkedin.com/company/acme-tools-demo"),
        company("Apex", None),
        company("Acme AG", None),
    ],
    ids=["another domain", "another page", "another name", "another legal form"],
)
def test_records_that_differ_in_domain_page_name_or_legal_form_are_two_companies(
    session: Session, second: FoundCompany
) -> None:
    companies.upsert(session, ACME, now=NOW)

    companies.upsert(session, second, now=NOW)

    assert count(session) == 2


def test_a_missing_domain_is_filled_and_then_never_changes(session: Session) -> None:
    companies.upsert(session, company("Acme", None, linkedin_url=PAGE), now=NOW)

    filled = companies.upsert(session, ACME, now=NOW).domain
    other = company("Acme", "acme-new.example", at=NOW + DAY, linkedin_url=PAGE)
    later = companies.upsert(session, other, now=NOW + DAY).domain

    assert (filled, later) == ("acme.example", "acme.example")


def test_a_page_of_another_company_is_not_stored(session: Session) -> None:
    companies.upsert(session, company(None, None, linkedin_url=PAGE), now=NOW)
    companies.upsert(session, company(None, "acme.example"), now=NOW)

    stored = companies.upsert(session, ACME, now=NOW)

    assert (stored.domain, stored.linkedin_url) == ("acme.example", None)
    assert count(session) == 2


def test_newer_values_replace_older_ones(session: Session) -> None:
    companies.upsert(
        session, company("Acme", "acme.example", headcount="11-50", city="Boston", country="US"), now=NOW
    )
    newer = company("Acme Labs", "acme.example", NOW + DAY, headcount="51-200")

    stored = companies.upsert(session, newer, now=NOW + DAY)

    assert (stored.name, stored.name_key, stored.headcount, stored.city) == (
        "Acme Labs",
        "acme labs",
        "51-200",
        "Boston",
    )
    assert stored.updated_at == NOW + DAY


def test_older_values_only_fill_empty_fields(session: Session) -> None:
    companies.upsert(session, company("Acme", "acme.example", headcount="11-50"), now=NOW)
    older = company("Acme Old", "acme.example", NOW - DAY, headcount="1-10", industry="Tools")

    stored = companies.upsert(session, older, now=NOW + DAY)

    assert (stored.name, stored.headcount, stored.industry) == ("Acme", "11-50", "Tools")


def test_the_same_record_again_changes_nothing(session: Session) -> None:
    first = companies.upsert(session, ACME, now=NOW)

    [result] = companies.upsert_many(session, [ACME], now=NOW + DAY)

    assert result == (first.id, Change.NONE, False)
    assert session.get_one(Company, result.company_id, populate_existing=True).updated_at == NOW


def test_records_of_one_batch_are_merged(session: Session) -> None:
    stored = companies.upsert_many(
        session, [ACME, ACME, company("Acme GmbH", None), company("Apex")], now=NOW
    )

    assert len({result.company_id for result in stored}) == 2
    assert [result.change for result in stored] == [None, Change.NONE, Change.NONE, None]


def test_equal_records_of_one_batch_are_one_company(session: Session) -> None:
    stored = companies.upsert_many(session, [ACME, replace(ACME)], now=NOW)

    assert len({result.company_id for result in stored}) == 1
    assert [result.change for result in stored] == [None, Change.NONE]


def test_an_unknown_id_is_of_no_company(session: Session) -> None:
    assert companies.get(session, "com_unknown") is None


def test_a_company_is_found_by_any_identifier(session: Session) -> None:
    stored = companies.upsert(session, ACME, now=NOW)

    found = companies.find(session, FoundCompany(source=a_source(), name="acme"))

    assert found == stored
    assert companies.find(session, FoundCompany(source=a_source(), name="apex")) is None
