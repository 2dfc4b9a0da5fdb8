from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from local_servers import empty_database
from sqlalchemy import Connection, create_engine, text

from cli.database import _config

WORKSPACE = """
INSERT INTO workspaces (id, name, available, held, spent, created_at)
VALUES (:id, 'Acme', 0, 0, 0, '2026-01-01 00:00:00+00:00')
"""
SAVED = """
INSERT INTO saved_profiles (id, workspace_id, linkedin_url, list_name, tags, captured, created_at, updated_at)
VALUES (:id, :workspace, :url, :list, '[]', '{}', '2026-01-01 00:00:00+00:00', '2026-01-02 00:00:00+00:00')
"""
MEMBERS = """
SELECT l.workspace_id, l.name, m.profile_id
FROM list_members m JOIN contact_lists l ON l.id = m.list_id ORDER BY m.profile_id
"""


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A database of the version before the migration, with saved profiles of two workspaces."""
    with empty_database(tmp_path, "before_lists") as url:
        engine = create_engine(url)
        with engine.connect() as connection:
            command.upgrade(_config(connection), "0025")
            connection.execute(text(WORKSPACE), [{"id": "wks_1"}, {"id": "wks_2"}])
            rows = [("prf_1", "wks_1", "Hot"), ("prf_2", "wks_1", "Hot"), ("prf_3", "wks_2", "Hot"),
                    ("prf_4", "wks_2", None)]  # fmt: skip
            connection.execute(
                text(SAVED),
                [{"id": row, "workspace": owner, "url": row, "list": name} for row, owner, name in rows],
            )
            connection.commit()
            yield connection
        engine.dispose()


def test_the_list_of_a_saved_profile_becomes_a_list_with_it(connection: Connection) -> None:
    command.upgrade(_config(connection), "0026")

    assert [tuple(row) for row in connection.execute(text(MEMBERS))] == [
        ("wks_1", "Hot", "prf_1"),
        ("wks_1", "Hot", "prf_2"),
        ("wks_2", "Hot", "prf_3"),
    ]
    assert connection.scalar(text("SELECT count(*) FROM contact_lists")) == 2


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_a_downgrade_keeps_the_saved_profiles(connection: Connection) -> None:
    command.upgrade(_config(connection), "0026")

    command.downgrade(_config(connection), "0025")

    names = connection.execute(text("SELECT list_name FROM saved_profiles ORDER BY id")).scalars().all()
    assert names == ["Hot", "Hot", "Hot", None]
