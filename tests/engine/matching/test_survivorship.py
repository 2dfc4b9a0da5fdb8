"""Storage of source records, and the values of a person or company selected from them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from findings_support import ADA, DAY, NOW, a_source, company, person

from app.domain.findings import SourceKind
from app.domain.records.subjects import Subject
from app.engine.contacts import companies, contacts
from app.engine.contacts.companies import Company
from app.engine.matching import survivorship
from app.infra.database.session import Session

SUBJECT = Subject(linkedin_url=ADA)
RANKING = ("one", "two")


def by(provider: str, at: datetime = NOW) -> dict[str, Any]:
    return {"source": a_source(at, provider, SourceKind.PROVIDER)}


def test_loaded_rows_are_refreshed_after_the_merge(session: Session) -> None:
    stored = contacts.upsert(session, person(linkedin_url=ADA, company=company(at=NOW - DAY)), now=NOW)
    employer = session.get(Company, stored.company_id)
    finding = person(title="CTO", company=company(at=NOW, industry="Machinery"), **by("one"))

    survivorship.store_person(session, SUBJECT, [finding], ranking=RANKING, now=NOW)

    assert employer is not None
    assert (stored.title, employer.industry) == ("CTO", "Machinery")


def test_differing_spellings_of_one_employer_are_not_a_conflict(session: Session) -> None:
    contacts.upsert(session, person(linkedin_url=ADA, company=company("Acme", "acme.example")), now=NOW)
    finding = person(company=company("Acme Supplies", "acme.example"), **by("one"))

    records = survivorship.store_person(session, SUBJECT, [finding], ranking=RANKING, now=NOW)

    contact = survivorship.first_contact(session, records)
    assert contact is not None
    firm = companies.get(session, str(contact.company_id))
    described = survivorship.field_provenance(session, records, contact=contact, company=firm, profile=True)
    assert [(record["entity"], record["field"]) for record in described["conflicts"]] == [("company", "name")]


def test_without_a_stored_contact_and_findings_there_are_no_records(session: Session) -> None:
    records = survivorship.store_person(session, SUBJECT, [], ranking=RANKING, now=NOW)

    assert (
        survivorship.first_contact(session, records) is survivorship.first_company(session, records) is None
    )
    assert survivorship.field_provenance(session, records, contact=None, company=None, profile=True) == {
        "sources": {"contact": {}, "company": {}},
        "conflicts": [],
    }


def test_a_finding_without_a_name_gets_the_profile_of_another_finding(session: Session) -> None:
    nameless = person(full_name=None, first_name=None, last_name=None, title="CTO", **by("one"))
    named = person(linkedin_url=ADA, **by("two"))

    records = survivorship.store_person(
        session, Subject(email="ada@acme.example"), [nameless, named], ranking=RANKING, now=NOW
    )

    assert len({contact_id for contact_id, _word in records.contacts}) == 1


MEMBER = "https://www.linkedin.com/in/ACoAAAbCdEf_-123"


@pytest.mark.parametrize(("asked", "answered"), [(ADA, MEMBER), (MEMBER, ADA)])
def test_an_answer_with_the_other_profile_url_links_the_two(
    session: Session, asked: str, answered: str
) -> None:
    finding = person(linkedin_url=answered, **by("one"))

    records = survivorship.store_person(
        session, Subject(linkedin_url=asked), [finding], ranking=RANKING, now=NOW
    )

    contact = survivorship.first_contact(session, records)
    assert contact is not None
    assert (contact.linkedin_url, contact.member_url) == (ADA, MEMBER)


def test_an_answer_about_a_stored_contact_links_the_two(session: Session) -> None:
    stored = contacts.upsert(session, person(linkedin_url=ADA), now=NOW)
    finding = person(linkedin_url=MEMBER, **by("one"))
    subject = Subject(contact_id=stored.id, linkedin_url=ADA)

    survivorship.store_person(session, subject, [finding], ranking=RANKING, now=NOW)

    assert (stored.linkedin_url, stored.member_url) == (ADA, MEMBER)


def test_a_company_that_was_asked_for_by_its_domain_is_described_under_any_name(session: Session) -> None:
    stored = companies.upsert(session, company("Acme", "acme.example"), now=NOW)
    finding = replace(company("Zenith", None, NOW + DAY, industry="Tools"), **by("one", NOW + DAY))

    records = survivorship.store_company(
        session, company(None, "acme.example"), [finding], ranking=RANKING, now=NOW + DAY
    )

    firm = survivorship.first_company(session, records)
    assert firm is not None
    assert (firm.id, firm.domain, firm.industry) == (stored.id, "acme.example", "Tools")
    assert {company_id for company_id, _ in records.companies} == {stored.id}
