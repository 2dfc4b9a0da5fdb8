"""The lists of a workspace that owns 100,000 contacts are read from indexes, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from alembic import command
from local_servers import POSTGRES, empty_database
from query_plans_support import explained, rescanned, scanned
from sqlalchemy import create_engine, text

from app.domain.findings import EmailStatus
from app.domain.ids import EXAMPLES
from app.engine.owned import owned_contacts
from app.engine.owned.owned_filters import Cursor, Selection, Sort
from app.infra import clock
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.db import Database
from app.settings import load
from benchmarks.growth import fill
from benchmarks.growth.fill import WORKSPACE, Size
from cli import database as commands

pytestmark = [
    pytest.mark.slow,
    pytest.mark.database,
    pytest.mark.skipif(POSTGRES is None, reason="reads PostgreSQL's plans"),
]
SIZE = Size(contacts=120_000, large=5_000, jobs=100_000)
TABLES = {
    "contacts",
    "emails",
    "phones",
    "jobs",
    "reveals",
    "revealed_values",
    "saved_profiles",
    "list_members",
}
LIST = "lst_" + "0" * 24
SAVED = """
    INSERT INTO saved_profiles (id, workspace_id, linkedin_url, tags, captured, created_at, updated_at)
    SELECT 'prf_' || lpad(to_hex(n), 24, '0'), :workspace,
           'https://www.linkedin.com/in/person-' || n, '["a"]', '{}', now() - n * interval '1 second', now()
    FROM generate_series(90000, 119999) n
    """
LISTS = """
    INSERT INTO contact_lists (id, workspace_id, name, created_at, updated_at)
    SELECT 'lst_' || lpad(to_hex(n), 24, '0'), :workspace, 'List ' || n, now(), now()
    FROM generate_series(0, 99) n
    """
LISTED = """
    INSERT INTO list_members (list_id, profile_id, created_at)
    SELECT 'lst_' || lpad(to_hex(n % 100), 24, '0'), 'prf_' || lpad(to_hex(n), 24, '0'), now()
    FROM generate_series(90000, 119999) n
    """


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A workspace that revealed 100,000 contacts and saved 30,000, with 300 of them on each of 100 lists."""
    with empty_database(tmp_path_factory.mktemp("owned"), "owned") as url:
        engine = create_engine(url)
        with engine.connect() as connection:
            command.upgrade(commands._config(connection), "head")  # noqa: SLF001 -- the upgrade command uses it
            connection.commit()
        fill.fill(engine, DigestKeys.from_settings(load()), SIZE)
        with engine.begin() as connection:
            for table in ("reveals", "revealed_values", "jobs"):
                sql = f"UPDATE {table} SET workspace_id = :id"  # noqa: S608 -- names of this file
                connection.execute(text(sql), {"id": WORKSPACE})
            connection.execute(text(SAVED), {"workspace": WORKSPACE})
            connection.execute(text(LISTS), {"workspace": WORKSPACE})
            connection.execute(text(LISTED))
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
        engine.dispose()
        opened = Database(url, keys=DigestKeys.from_settings(load()))
        yield opened
        opened.close()


def plans_of(
    database: Database, selection: Selection, after: Cursor | None = None
) -> list[dict[str, object]]:
    """Read a page of fifty; return the plans of its statements."""
    with explained(database) as plans, database.reading() as session:
        page = owned_contacts.page(session, WORKSPACE, selection, after=after, limit=50)
    assert page.contacts
    return plans


@pytest.mark.parametrize(
    ("selection", "after"),
    [
        (Selection(), None),
        (Selection(), Cursor(clock.now(), EXAMPLES["con"])),
        (Selection(list_name="List 7"), None),
        (Selection(name="last77"), None),
        (Selection(name="first7 last77", sort=Sort.NAME), None),
        (Selection(list_name=LIST, sort=Sort.NAME), None),
        (Selection(person_id=fill.contact_id(70_000)), None),
        (Selection(person_id=fill.contact_id(110_000)), None),
    ],
)
def test_a_page_reads_no_table_as_a_whole(
    database: Database, selection: Selection, after: Cursor | None
) -> None:
    plans = plans_of(database, selection, after)

    assert [table for plan in plans for table in scanned(plan) if table in TABLES] == []


@pytest.mark.parametrize(
    "selection",
    [
        Selection(sort=Sort.NAME),
        Selection(sort=Sort.COMPANY),
        Selection(status=EmailStatus.VALID),
        Selection(tag="a"),
    ],
)
def test_an_order_that_no_index_has_reads_each_row_once(database: Database, selection: Selection) -> None:
    plans = plans_of(database, selection)

    assert [table for plan in plans for table in rescanned(plan) if table in TABLES] == []
