"""No request and no periodic step reads a whole table, on a PostgreSQL database of 100,000 contacts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice

import pytest
from alembic import command
from local_servers import POSTGRES, empty_database
from query_plans_support import explained, rescanned, scanned
from sqlalchemy import create_engine, text

from app.engine.audit import incremental
from app.engine.privacy import contact_retention, first_notices, redaction
from app.features.usage import usage
from app.features.usage.usage import Grouping, UsageScope
from app.infra import clock
from app.infra.crypto.digest_keys import DigestKeys
from app.settings import load
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
DAYS_OF_JOBS = 100_000 * 6 / 86_400
"""The days over which the jobs are spread, one every six seconds."""
SIZE = Size(contacts=100_000, large=5_000, jobs=100_000)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, redis_url: str) -> Iterator[Service]:
    with empty_database(tmp_path_factory.mktemp("plans"), "plans") as url:
        engine = create_engine(url)
        with engine.connect() as connection:
            command.upgrade(commands._config(connection), "head")  # noqa: SLF001 -- the upgrade command uses it
            connection.commit()
        fill.fill(engine, DigestKeys.from_settings(load()), SIZE)
        engine.dispose()
        service = Service(url, redis_url, SIZE)
        service.operations()["audit"]()  # the first covers everything
        yield service
        service.close()


def test_only_what_checks_every_row_reads_a_whole_table_and_only_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "SLICE", SIZE.jobs // 100)
    whole: set[tuple[str, str]] = set()
    repeatedly = []
    for name, run in service.operations().items():
        service.prepare(name)
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


def test_a_report_on_usage_reads_only_the_jobs_and_entries_of_its_period(service: Service) -> None:
    starts_at = clock.now() - timedelta(days=79)
    scope = UsageScope(
        workspace_id=fill.WORKSPACE, starts_at=starts_at, ends_at=starts_at + timedelta(days=1)
    )

    with explained(service.api.database) as plans, service.api.database.reading() as session:
        reported = {by: usage.report(session, scope, by)[1].jobs for by in Grouping}

    assert set(reported.values()) == {SIZE.jobs / fill.WORKSPACES / DAYS_OF_JOBS}
    assert len(plans) >= 3 * len(Grouping)
    assert FILLED.intersection(table for plan in plans for table in scanned(plan)) == set()


def test_expired_values_are_found_and_deleted_by_indexes(service: Service) -> None:
    now = clock.now()
    with explained(service.api.database) as plans, service.api.database.transaction() as session:
        deleted = contact_retention.delete_expired(session, period=timedelta(days=5), now=now)
        session.rollback()

    assert deleted.emails > 0 < deleted.phones
    assert {plan["sql"].split()[0] for plan in plans} >= {"SELECT", "DELETE"}
    assert [plan["sql"] for plan in plans[1:] if FILLED.intersection(scanned(plan))] == []


def test_overdue_notices_are_counted_and_marked_by_indexes(service: Service) -> None:
    now = clock.now()
    with explained(service.api.database) as plans, service.api.database.transaction() as session:
        overdue = first_notices.count_overdue(session, period=timedelta(days=1), now=now)
        people = islice(first_notices.due(session, by=now, period=timedelta(days=1)), 500)
        marked = first_notices.mark(session, [person["contact_id"] for person in people], at=now)
        session.rollback()

    assert (overdue, marked.marked) == (first_notices.MAX_COUNTED, 500)
    assert [plan["sql"] for plan in plans if FILLED.intersection(scanned(plan))] == []


def test_the_idempotency_keys_of_a_deleted_record_are_found_by_an_index(service: Service) -> None:
    insertion = text(
        "INSERT INTO idempotency_keys (workspace_id, key, request_hash, reference, created_at) "
        "SELECT :workspace, n, '', n, now() FROM generate_series(1, 10000) n"
    )
    with service.api.database.transaction() as session:
        session.execute(insertion, {"workspace": fill.WORKSPACE})
        session.execute(text("ANALYZE idempotency_keys"))
        with explained(service.api.database) as plans:
            deleted = redaction.delete_idempotency_keys(session, ["7", "8"])
        session.rollback()

    assert deleted == 2
    assert [plan["sql"] for plan in plans if "idempotency_keys" in scanned(plan)] == []


def test_the_people_expected_in_a_company_do_not_grow_with_the_contacts(service: Service) -> None:
    with service.api.database.engine.connect() as connection:
        query = "SELECT n_distinct FROM pg_stats WHERE tablename = 'contacts' AND attname = 'company_id'"
        n_distinct = connection.scalar(text(query))

    assert n_distinct < 0, "a share of the rows, not a number"
