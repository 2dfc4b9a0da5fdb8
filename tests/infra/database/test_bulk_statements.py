from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import IntegrityError

from app.engine.contacts.companies import Company
from app.infra.database.bulk_statements import are_among, insert_all, is_among
from app.infra.database.db import Database
from app.infra.database.session import Session

MANY = 120
TEXTS = ("plain", "tab\tline\nreturn\rend", "back\\slash", "\\N", "Müller ☃", "", "NULL", "'quoted', \"too\"")


def row(index: int, **values: Any) -> dict[str, Any]:
    return {
        "id": f"com_{index:024d}",
        "name": TEXTS[index % len(TEXTS)],
        "name_key": None,
        "domain": f"a{index}.example",
        "domain_hash": bytes([index, 0, 9, 10, 92]),
        "provenance": {"*": {"source": 'a "b" \\ \n ü', "at": None}},
        "created_at": datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        "updated_at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=5))),
    } | values


@pytest.mark.parametrize("count", [0, 3, MANY])
def test_inserted_rows_are_read_as_they_were_written(session: Session, count: int) -> None:
    rows = [row(index) for index in range(count)]

    insert_all(session, Company, rows)

    stored = session.execute(select(Company.__table__).order_by(Company.id)).mappings().all()
    assert [{name: found[name] for name in rows[0]} for found in stored] == rows
    assert all(found["industry"] is None for found in stored)


def test_rows_may_list_their_columns_in_different_orders(session: Session) -> None:
    rows = [row(index) for index in range(MANY)]
    rows[7] = dict(reversed(rows[7].items()))

    insert_all(session, Company, rows)

    assert session.get_one(Company, rows[7]["id"]).domain == "a7.example"


def test_a_conflict_is_an_integrity_error(database: Database) -> None:
    rows = [row(index, domain="same.example") for index in range(MANY)]

    with pytest.raises(IntegrityError), database.transaction() as session:
        insert_all(session, Company, rows)


@pytest.mark.parametrize("wanted", [[], [0, 5, 999], range(MANY)])
def test_rows_are_found_by_any_number_of_values(session: Session, wanted: list[int]) -> None:
    insert_all(session, Company, [row(index) for index in range(MANY)])
    domains = [f"a{index}.example" for index in wanted]

    found = session.scalars(select(Company.domain).where(is_among(session, Company.domain, domains)))

    assert sorted(map(str, found)) == sorted(domain for domain in domains if domain != "a999.example")


def test_postgresql_searches_many_values_as_an_array_which_it_looks_up_in_the_index() -> None:
    session = Session(create_engine("postgresql+psycopg://"))

    condition = is_among(session, Company.domain, [f"a{index}.example" for index in range(MANY)])

    compiled = str(condition.compile(dialect=postgresql.dialect()))
    assert compiled.startswith("companies.domain = any(array((SELECT json_array_elements_text(")


@pytest.mark.parametrize("wanted", [[], [0, 5], range(MANY)])
def test_rows_are_found_by_any_number_of_pairs(session: Session, wanted: list[int]) -> None:
    insert_all(session, Company, [row(index) for index in range(MANY)])
    columns = (Company.__table__.c.domain, Company.__table__.c.name)
    pairs = [(f"a{index}.example", TEXTS[index % len(TEXTS)]) for index in wanted]

    found = session.execute(
        select(*columns).where(are_among(session, columns, [*pairs, ("a1.example", "x")]))
    )

    assert sorted(map(tuple, found)) == sorted(pairs)
