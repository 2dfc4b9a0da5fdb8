from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import literal, select
from stored_support import PRICES, a_company, a_contact, an_email, suppress

from app.domain.normal.hashes import hex_hash, website_hash
from app.engine.contacts import learned_patterns
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppressions
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.lists.import_runs import ImportRun
from app.engine.lookups import company_hashes, leads, people_counts
from app.engine.lookups.people_counts import PeopleCount
from app.infra import clock
from app.infra.database.session import Session

HASHES = [hex_hash(website_hash("acme.com"))]


@pytest.fixture
def company(session: Session, monkeypatch: pytest.MonkeyPatch) -> Company:
    """A company of four people, where one of more than three is large."""
    monkeypatch.setattr(people_counts, "LARGE", 3)
    company = a_company(session)
    for department in ("sales", "engineering", "engineering", None):
        a_contact(session, company, department=department, seniority="vp" if department == "sales" else None)
    return company


def count(session: Session, workspace_id: str) -> int:
    found = company_hashes.find(session, workspace_id, {"kind": "website", "hashes": HASHES})
    assert found is not None
    total: int = found["company"]["contacts_count"]
    return total


def count_by_prefix(session: Session, workspace_id: str) -> dict[str, int]:
    found = company_hashes.find(session, workspace_id, {"kind": "website", "prefix": HASHES[0][:4]})
    assert found is not None
    companies = [match["company"] for match in found["matches"] if match["company"]]
    return {company["domain"]: company["contacts_count"] for company in companies}


def find_leads(session: Session, workspace_id: str, **filters: Any) -> dict[str, Any]:
    request = {"hashes": HASHES, "limit": 25} | filters
    found = leads.by_website_hash(session, workspace_id, request, prices=PRICES)
    assert found is not None
    return found


def stored(session: Session) -> dict[str, dict[str, int]]:
    """Return the stored counts by filter."""
    rows = session.execute(select(PeopleCount.filter_key, PeopleCount.departments))
    return dict(list(rows))


def age(session: Session, by: timedelta) -> None:
    for row in session.scalars(select(PeopleCount)):
        row.counted_at -= by
    session.flush()


@pytest.mark.usefixtures("company")
def test_the_people_of_a_large_company_are_counted_once(session: Session, workspace_id: str) -> None:
    first = count(session, workspace_id)
    a_contact(session, session.scalars(select(Company)).one())

    again = count(session, workspace_id)

    assert (first, again) == (4, 4)
    assert stored(session) == {"": {"sales": 1, "engineering": 2, "": 1}}


def test_they_are_counted_again_after_an_hour(session: Session, workspace_id: str, company: Company) -> None:
    count(session, workspace_id)
    a_contact(session, company, department="sales")
    age(session, people_counts.MAX_AGE)

    counted = count(session, workspace_id)

    assert counted == 5
    assert stored(session) == {"": {"sales": 2, "engineering": 2, "": 1}}


def test_they_are_counted_again_after_a_suppression(
    session: Session, workspace_id: str, company: Company
) -> None:
    count(session, workspace_id)
    a_contact(session, company)
    suppressions.suppress(session, [Identifier("email", "x@y.example")], reason="asked", now=clock.now())

    counted = count(session, workspace_id)

    assert counted == 5


def test_they_are_counted_again_after_an_import(
    session: Session, workspace_id: str, company: Company
) -> None:
    count(session, workspace_id)
    a_contact(session, company)
    now = clock.now()
    session.add(ImportRun(id=1, entity="contacts", rows=1, started_at=now, touched_at=now))
    session.flush()

    counted = count(session, workspace_id)

    assert counted == 5


def test_the_people_of_a_small_company_are_counted_at_each_request(
    session: Session, workspace_id: str, company: Company
) -> None:
    session.delete(session.scalars(select(Contact).where(Contact.company_id == company.id)).first())
    before = count(session, workspace_id)
    session.delete(session.scalars(select(Contact).where(Contact.company_id == company.id)).first())

    after = count(session, workspace_id)

    assert (before, after, stored(session)) == (3, 2, {})


@pytest.mark.usefixtures("company")
def test_the_counts_of_each_filter_but_the_department_are_stored(session: Session, workspace_id: str) -> None:
    totals = [
        find_leads(session, workspace_id, **filters)["total"]
        for filters in ({"seniority": "vp"}, {"has": ["email"]}, {"department": "engineering"}) * 2
    ]

    assert totals == [1, 0, 2] * 2
    assert stored(session) == {
        "vp": {"sales": 1},
        "email": {},
        "": {"sales": 1, "engineering": 2, "": 1},
    }


@pytest.mark.usefixtures("company")
def test_counts_of_a_word_that_is_not_a_seniority_are_not_stored(session: Session, workspace_id: str) -> None:
    total = find_leads(session, workspace_id, seniority="wizard")["total"]

    assert (total, stored(session)) == (0, {})


def test_counts_are_stored_without_suppressed_people(
    session: Session, workspace_id: str, company: Company
) -> None:
    an_email(session, a_contact(session, company, department="legal"), "grace@acme.com")
    suppress(session, "email", "grace@acme.com")

    counted = count(session, workspace_id)

    assert counted == 4
    assert stored(session) == {"": {"sales": 1, "engineering": 2, "": 1}}


def test_a_prefix_lookup_uses_the_stored_counts_of_a_large_company_and_stores_them(
    session: Session, workspace_id: str, company: Company
) -> None:
    small = a_company(session, "Shop", domain="shop.example")
    small.domain_hash = company.domain_hash[:-1] + b"\0" if company.domain_hash else None
    session.flush()
    a_contact(session, small)
    before = count_by_prefix(session, workspace_id)
    for employer in (company, small):
        a_contact(session, employer)

    after = count_by_prefix(session, workspace_id)

    assert before == {"acme.com": 4, "shop.example": 1}
    assert after == {"acme.com": 4, "shop.example": 2}
    assert count(session, workspace_id) == 4
    assert stored(session) == {"": {"sales": 1, "engineering": 2, "": 1}}


@pytest.mark.usefixtures("company")
def test_expired_counts_are_purged(session: Session, workspace_id: str) -> None:
    count(session, workspace_id)
    people_counts.purge_expired(session, before=clock.now() - people_counts.MAX_AGE)
    kept = stored(session)
    age(session, people_counts.MAX_AGE)

    people_counts.purge_expired(session, before=clock.now() - people_counts.MAX_AGE)

    assert (list(kept), stored(session)) == ([""], {})


def test_the_pattern_is_learned_from_the_newest_addresses(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned_patterns, "PATTERN_SAMPLE", 2)
    person = a_contact(session, a_company(session))
    forms = ("{first}", "{first}.{last}", "{f}{last}", None)
    for number, form in enumerate(forms):
        an_email(session, person, f"{number}@acme.com", form=form)
    an_email(session, person, "5@acme.com", form="{last}", status="invalid")

    newest = session.scalars(learned_patterns.newest_forms(literal("acme.com"))).all()

    assert newest == ["{f}{last}", "{first}.{last}"]
