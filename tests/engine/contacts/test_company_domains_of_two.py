from __future__ import annotations

from dataclasses import replace

import pytest
from findings_support import DAY, NOW, a_source, company, email, person
from sqlalchemy import select

from app.domain.findings import FoundContact
from app.engine.contacts import companies, contacts
from app.engine.contacts.companies import Company
from app.engine.contacts.contacts import Contact
from app.infra.database.session import Session

DOMAIN = "both.example"
PAGE = "https://www.linkedin.com/company/both-demo"
ACME, ZENITH = company("Acme Bikes", DOMAIN), company("Zenith Law", DOMAIN)


def stored(session: Session) -> list[tuple[str | None, str | None]]:
    rows = session.execute(select(Company.name, Company.domain).order_by(Company.id))
    return [(row.name, row.domain) for row in rows]


def employers(session: Session) -> dict[str | None, str | None]:
    query = select(Contact.full_name, Company.name).join(Company, Company.id == Contact.company_id)
    return {row.full_name: row.name for row in session.execute(query)}


def employee(name: str, employer: str, *addresses: str) -> FoundContact:
    return person(
        full_name=name,
        company=company(employer, DOMAIN),
        emails=tuple(email(address) for address in addresses),
    )


@pytest.mark.parametrize(
    "other",
    ["Zenith Law", "Ryde City Council", "Acmo", "Bikes of Zenith"],
    ids=["other", "public", "resembles", "common word"],
)
def test_two_names_at_one_domain_are_two_companies(session: Session, other: str) -> None:
    results = companies.upsert_many(session, [ACME, company(other, DOMAIN)], now=NOW)

    assert stored(session) == [("Acme Bikes", DOMAIN), (other, None)]
    assert [result.domain_taken for result in results] == [False, True]


@pytest.mark.parametrize("first", [None, "Acme Bikes"])
def test_a_domain_that_many_companies_of_a_list_have_is_that_of_none(
    session: Session, first: str | None
) -> None:
    names = (first, "Acme Bikes", "Zenith Law", "Ryde Bakers", "Zenith Law Ltd")
    results = companies.upsert_many(session, [company(name, DOMAIN) for name in names], now=NOW)

    owners = [name for name, domain in stored(session) if domain]
    assert owners == ([None] if first is None else [])
    assert [result.domain_taken for result in results] == [first is not None, True, True, True, True]


def test_a_domain_that_many_companies_have_is_that_of_the_one_named_after_it(session: Session) -> None:
    names = ("Acme Bikes", "Zenith Law", "Both", "Ryde Bakers")
    companies.upsert_many(session, [company(name, DOMAIN) for name in names], now=NOW)

    assert stored(session) == [
        ("Acme Bikes", None),
        ("Zenith Law", None),
        ("Both", DOMAIN),
        ("Ryde Bakers", None),
    ]


def test_the_domain_stays_with_the_company_that_had_it_first(session: Session) -> None:
    companies.upsert(session, ACME, now=NOW)

    first = companies.upsert(session, ZENITH, now=NOW + DAY)
    again = companies.upsert(session, ZENITH, now=NOW + 2 * DAY)

    assert first.id == again.id
    assert stored(session) == [("Acme Bikes", DOMAIN), ("Zenith Law", None)]


@pytest.mark.parametrize("name", ["Acme", "ACME Bikes GmbH", "Acme Bikes Europe", "AB", None])
def test_forms_of_one_name_at_one_domain_are_one_company(session: Session, name: str | None) -> None:
    companies.upsert_many(session, [ACME, company(name, DOMAIN)], now=NOW, rename=False)

    assert stored(session) == [("Acme Bikes", DOMAIN)]


def test_a_company_without_a_name_is_the_one_of_its_domain(session: Session) -> None:
    companies.upsert_many(session, [company(None, DOMAIN), ZENITH], now=NOW)

    assert stored(session) == [("Zenith Law", DOMAIN)]


def test_a_common_page_shows_a_company_with_a_new_name(session: Session) -> None:
    companies.upsert(session, company("Acme Bikes", DOMAIN, linkedin_url=PAGE), now=NOW)

    companies.upsert(session, company("Zenith Law", DOMAIN, NOW + DAY, linkedin_url=PAGE), now=NOW + DAY)

    assert stored(session) == [("Zenith Law", DOMAIN)]


def test_a_company_that_was_asked_for_by_its_domain_may_have_a_new_name(session: Session) -> None:
    companies.upsert(session, ACME, now=NOW)

    newer = company("Zenith Law", DOMAIN, NOW + DAY)
    companies.upsert(session, newer, now=NOW + DAY, was_asked=True)

    assert stored(session) == [("Zenith Law", DOMAIN)]


def test_a_company_with_a_taken_domain_is_the_one_of_its_name(session: Session) -> None:
    own = company("Zenith Law", "zenith.example")
    companies.upsert_many(session, [ACME, own, ZENITH], now=NOW)

    assert stored(session) == [("Acme Bikes", DOMAIN), ("Zenith Law", "zenith.example")]


def test_a_company_found_by_its_page_does_not_get_the_domain_of_another(session: Session) -> None:
    page = company("Zenith Law", None, linkedin_url=PAGE)
    companies.upsert_many(session, [ACME, page, company("Zenith Law", DOMAIN, linkedin_url=PAGE)], now=NOW)

    assert stored(session) == [("Acme Bikes", DOMAIN), ("Zenith Law", None)]


@pytest.mark.parametrize("batches", [1, 2])
@pytest.mark.parametrize("host", [DOMAIN, f"mail.{DOMAIN}"])
def test_people_with_addresses_at_one_domain_under_two_names_are_of_two_companies(
    session: Session, host: str, batches: int
) -> None:
    people = [
        employee("Ada Lovelace", "Acme Bikes", f"ada@{host}"),
        employee("Bob Stone", "Zenith Law", f"bob@{host}"),
    ]
    for batch in [people] if batches == 1 else [people[:1], people[1:]]:
        contacts.upsert_many(session, batch, now=NOW)

    assert stored(session) == [("Acme Bikes", DOMAIN), ("Zenith Law", None)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada@both.example", "bob@gmail.com"),
        ("ada@gmail.com", "bob@both.example"),
        ("a@notboth.example", "b@both.example"),
    ],
)
def test_addresses_under_one_name_only_show_nothing(session: Session, one: str, other: str) -> None:
    people = [employee("Ada Lovelace", "Acme Bikes", one), employee("Bob Stone", "Zenith Law", other)]

    results = contacts.upsert_many(session, people, now=NOW)

    assert stored(session) == [("Acme Bikes", DOMAIN), ("Zenith Law", None)]
    assert [result.conflicts for result in results] == [(), ("taken_domain",)]


def test_a_list_that_is_imported_again_yields_the_same_companies(session: Session) -> None:
    people = [
        employee("Ada Lovelace", "Acme Bikes"),
        employee("Bob Stone", "Zenith Law", f"bob@{DOMAIN}"),
        employee("Cy Young", "Acme Bikes", f"cy@{DOMAIN}"),
    ]
    contacts.upsert_many(session, people, now=NOW)
    before = employers(session)

    later = [replace(one, source=a_source(NOW + DAY)) for one in people]
    contacts.upsert_many(session, later, now=NOW + DAY)

    assert employers(session) == before
    assert before == {"Ada Lovelace": "Acme Bikes", "Bob Stone": "Zenith Law", "Cy Young": "Acme Bikes"}
