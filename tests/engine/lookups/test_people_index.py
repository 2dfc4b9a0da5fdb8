"""How PostgreSQL finds people by criteria: at companies, in a sample, or by the index."""

from __future__ import annotations

from typing import Any

import pytest
from local_servers import POSTGRES
from sqlalchemy import text
from stored_support import a_company, a_contact, statements

from app.domain.people_criteria import PeopleCriteria
from app.engine.lookups import people_finder, people_index
from app.engine.lookups.people_finder import Finding
from app.infra.database.session import Session

pytestmark = pytest.mark.skipif(POSTGRES is None, reason="PostgreSQL has the index")


def find(session: Session, **criteria: Any) -> Finding:
    return people_finder.find(session, PeopleCriteria(**criteria))


def many_people(session: Session, count: int = 60) -> None:
    """Insert people of three companies, each third a head of sales, and count them."""
    companies = [
        a_company(session, f"Company {number}", domain=f"c{number}.com", headcount=headcount)
        for number, headcount in enumerate(("1-10", "11-50", "11-50"))
    ]
    for number in range(count):
        is_head = number % 3 == 0
        a_contact(
            session,
            companies[number % 3],
            "Ada Lovelace",
            title="Head of Sales" if is_head else "Clerk",
            seniority="head" if is_head else "entry",
            department="sales",
        )
    session.execute(text("ANALYZE contacts"))


def take_samples(monkeypatch: pytest.MonkeyPatch, *, size: int, enough: int) -> None:
    """Make samples of at most so many people, and so many people of a sample enough."""
    monkeypatch.setattr(people_index, "SAMPLE", size)
    monkeypatch.setattr(people_index, "MIN_SAMPLED", enough)
    monkeypatch.setattr(people_index, "MIN_ESTIMATED", 1)


def test_many_people_are_found_in_a_sample(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    many_people(session, 600)
    take_samples(monkeypatch, size=280, enough=1)

    found = find(session, departments=("sales",))

    assert 0 < len(found.people) < 600
    assert found.is_at_least
    assert found.estimate is not None
    assert 600 / 4 <= found.estimate <= 600 * 4


def test_the_same_sample_is_read_again(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    many_people(session, 600)
    take_samples(monkeypatch, size=280, enough=1)

    first, second = (find(session, departments=("sales",)) for _ in range(2))

    assert first == second


@pytest.mark.parametrize(
    "criteria",
    [
        {"titles": ("head of sales",)},
        {"titles": ("head of sales", "cto")},
        {"seniorities": ("head",)},
        {"seniorities": ("head",), "departments": ("sales",), "countries": ("GB", "US")},
        {"titles": ("sales",), "headcounts": ("1-10",)},
        {"titles": ("sales",), "company_domain": "c0.com"},
        {"headcounts": ("1-10",)},
        {"company_domain": "c0.com"},
    ],
)
def test_few_people_are_all_found(
    session: Session, monkeypatch: pytest.MonkeyPatch, criteria: dict[str, Any]
) -> None:
    many_people(session)
    take_samples(monkeypatch, size=29, enough=1_000)

    found = find(session, **criteria)

    assert (len(found.people), found.is_at_least) == (20, False)
    assert {person.seniority for person in found.people} == {"head"}


def test_nobody_is_found_at_an_unknown_company(session: Session) -> None:
    many_people(session)

    found = find(session, company_domain="unknown.com")

    assert found == Finding([])


def test_of_too_many_companies_the_first_are_read(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    many_people(session)
    monkeypatch.setattr(people_index, "MAX_COMPANIES", 1)

    found = find(session, headcounts=("11-50",))

    assert (len(found.people), found.is_at_least) == (20, True)


def test_people_with_a_title_at_too_many_companies_are_found_by_the_title(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    many_people(session)
    monkeypatch.setattr(people_index, "MAX_COMPANIES", 1)
    monkeypatch.setattr(people_index, "MAX_INDEXED_COMPANIES", 0)

    found = find(session, headcounts=("11-50",), titles=("clerk",))

    assert (len(found.people), found.is_at_least) == (40, False)


def test_of_more_people_than_are_read_some_may_be_missing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    many_people(session)
    monkeypatch.setattr(people_index, "MAX_READ", 30)
    monkeypatch.setattr(people_index, "MAX_COMPANIES", 1)
    monkeypatch.setattr(people_index, "MAX_INDEXED_COMPANIES", 0)

    found = find(session, headcounts=("11-50",), departments=("sales",))

    assert 0 < len(found.people) < 40
    assert found.is_at_least


def test_people_who_meet_many_combinations_are_found(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    many_people(session)
    monkeypatch.setattr(people_index, "MAX_COMBINATIONS", 1)

    found = find(session, seniorities=("head", "vp"), departments=("sales", "legal"))

    assert (len(found.people), found.is_at_least) == (20, False)


def test_a_value_is_no_operator_of_a_query(session: Session) -> None:
    many_people(session)

    found = find(session, seniorities=("head' | 's:entry", "\\"), countries=("!",))

    assert found == Finding([])


def test_the_index_is_read_and_not_the_table(session: Session) -> None:
    many_people(session, 300)

    with statements(session.get_bind()) as seen:  # type: ignore[arg-type]
        find(session, titles=("cto",))

    sql, values = next((sql, values) for sql, values in seen if "title_terms" in sql)
    session.execute(text("SET LOCAL enable_seqscan = off"))
    plan = session.connection().exec_driver_sql(f"EXPLAIN {sql}", values).scalars().all()
    assert any("ix_contacts_search" in line for line in plan)
