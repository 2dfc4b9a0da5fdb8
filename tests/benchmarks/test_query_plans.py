"""No request and no periodic step reads a whole table, on a PostgreSQL database of 100,000 contacts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from alembic import command
from local_servers import POSTGRES, empty_database
from sqlalchemy import create_engine, event, text

from app.core.audit import incremental
from app.infra.db import Database
from benchmarks.growth import fill
from benchmarks.growth.fill import Size
from benchmarks.growth.operations import READ_EVERYTHING, Service
from cli import database as commands

pytestmark = [
    pytest.mark.slow,
    pytest.mark.database,
    pytest.mark.skipif(POSTGRES is None, reason="reads PostgreSQL's plans"),
]
FILLED = frozenset(fill.TABLES) - {"suppressions"}  # reading 10,000 is cheaper than searching for hundreds
JOINED_BY_AUDIT = {("audit", "jobs"), ("audit", "revealed_values")}
"""What a slice is joined with: of 100,000 rows, reading all is cheaper than searching for thousands."""
FEW = 10
SIZE = Size(contacts=100_000, large=5_000, jobs=100_000)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Service]:
    with empty_database(tmp_path_factory.mktemp("plans"), "plans") as url:
        engine = create_engine(url)
        with engine.connect() as connection:
            command.upgrade(commands._config(connection), "head")  # noqa: SLF001 -- the upgrade command uses it
            connection.commit()
        fill.fill(engine, SIZE)
        engine.dispose()
        service = Service(url, redis_url, SIZE)
        service.operations()["audit"]()  # the first covers everything
        yield service
        service.close()


@contextmanager
def explained(database: Database) -> Iterator[list[dict[str, Any]]]:
    """Collect the plans of the statements of the block."""
    plans: list[dict[str, Any]] = []

    def explain(
        _connection: Any,
        cursor: Any,
        sql: str,
        parameters: Any,
        _context: Any,
        is_many: bool,  # noqa: FBT001 -- SQLAlchemy's signature
    ) -> None:
        if sql.startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")):
            cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", parameters[0] if is_many else parameters)
            plans.append(cursor.fetchone()[0][0]["Plan"] | {"sql": sql})

    for engine in database.engines:
        event.listen(engine, "before_cursor_execute", explain)
    yield plans
    for engine in database.engines:
        event.remove(engine, "before_cursor_execute", explain)


def scanned(plan: dict[str, Any]) -> list[str]:
    """Return the tables that the plan reads as a whole; an EXISTS reads only the first row."""
    is_whole = plan["Node Type"] == "Seq Scan" and plan.get("Parent Relationship") != "InitPlan"
    own = [plan["Relation Name"]] if is_whole else []
    return own + [table for child in plan.get("Plans", ()) for table in scanned(child)]


def rescanned(plan: dict[str, Any], *, is_repeated: bool = False) -> list[str]:
    """Return the tables that the plan reads as a whole for each row of another: quadratic time."""
    own = [plan["Relation Name"]] if plan["Node Type"] == "Seq Scan" and is_repeated else []
    return own + [
        table
        for child in plan.get("Plans", ())
        for table in rescanned(child, is_repeated=is_repeated or _is_repeated(plan, child))
    ]


def _is_repeated(plan: dict[str, Any], child: dict[str, Any]) -> bool:
    """Return whether the child runs for each of many rows: of its parent, or of the outer side of a join."""
    if child["Parent Relationship"] == "SubPlan":
        return plan["Plan Rows"] > FEW
    is_inner = plan["Node Type"] == "Nested Loop" and child["Parent Relationship"] == "Inner"
    return is_inner and plan["Plans"][0]["Plan Rows"] > FEW


def test_only_what_checks_every_row_reads_a_whole_table_and_only_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "SLICE", SIZE.jobs // 100)
    whole: set[tuple[str, str]] = set()
    repeatedly = []
    for name, run in service.operations().items():
        with explained(service.api.database) as plans:
            run()
        assert plans, name
        for plan in plans:
            whole |= {(name, table) for table in FILLED.intersection(scanned(plan))}
            repeatedly += [(name, plan["sql"])] if FILLED.intersection(rescanned(plan)) else []

    assert {(name, table) for name, table in whole if name not in READ_EVERYTHING} <= JOINED_BY_AUDIT
    assert {name for name, _table in whole} >= READ_EVERYTHING
    assert repeatedly == []


def test_the_latest_suppression_is_read_from_an_index(service: Service) -> None:
    repeat = service.operations()["reveal, repeated"]
    repeat()

    with explained(service.api.database) as plans:
        repeat()

    assert [plan["sql"] for plan in plans if "suppressions" in scanned(plan)] == []
    assert any("max(suppressions.created_at)" in plan["sql"] for plan in plans)


def test_the_people_expected_in_a_company_do_not_grow_with_the_contacts(service: Service) -> None:
    with service.api.database.engine.connect() as connection:
        query = "SELECT n_distinct FROM pg_stats WHERE tablename = 'contacts' AND attname = 'company_id'"
        n_distinct = connection.scalar(text(query))

    assert n_distinct < 0, "a share of the rows, not a number"
