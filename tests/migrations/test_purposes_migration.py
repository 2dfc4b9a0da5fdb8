"""The migration that stores purposes keeps what is stored, and the audit log continues to record reveals."""

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
VALUES ('wks_1', 'Acme', 0, 0, 0, '2026-01-01 00:00:00+00:00')
"""
CONTACT = """
INSERT INTO contacts (id, provenance, created_at, updated_at)
VALUES (:id, '{}', '2026-01-01 00:00:00+00:00', '2026-01-01 00:00:00+00:00')
"""
REVEAL = """
INSERT INTO reveals (workspace_id, contact_id, field, job_id, credits, created_at)
VALUES ('wks_1', :id, 'email', 'job_1', 1, '2026-01-01 00:00:00+00:00')
"""
REVEAL_WITH_PURPOSE = """
INSERT INTO reveals (workspace_id, contact_id, field, job_id, credits, purpose, created_at)
VALUES ('wks_1', :id, 'email', 'job_2', 1, 'recruiting', '2026-01-01 00:00:00+00:00')
"""
RECORDED = "SELECT object_id, reason, request_id FROM audit_log_pending ORDER BY id"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A database of the version before the migration, with a reveal."""
    with empty_database(tmp_path, "before_purposes") as url:
        engine = create_engine(url)
        with engine.connect() as connection:
            command.upgrade(_config(connection), "0042")
            connection.execute(text(WORKSPACE))
            connection.execute(text(CONTACT), [{"id": f"con_{number}"} for number in (1, 2, 3)])
            connection.execute(text(REVEAL), {"id": "con_1"})
            connection.commit()
            yield connection
        engine.dispose()


def test_reveals_of_the_previous_version_have_no_purpose(connection: Connection) -> None:
    command.upgrade(_config(connection), "0043")
    connection.execute(text(REVEAL), {"id": "con_2"})  # that version serves meanwhile
    connection.execute(text(REVEAL_WITH_PURPOSE), {"id": "con_3"})

    purposes = connection.execute(text("SELECT purpose FROM reveals ORDER BY contact_id")).scalars().all()
    assert purposes == [None, None, "recruiting"]
    assert [tuple(row) for row in connection.execute(text(RECORDED))] == [
        ("con_1", None, "job_1"),
        ("con_2", None, "job_1"),
        ("con_3", "recruiting", "job_2"),
    ]


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_after_a_downgrade_reveals_are_still_recorded(connection: Connection) -> None:
    command.upgrade(_config(connection), "0043")
    connection.execute(text(REVEAL_WITH_PURPOSE), {"id": "con_2"})
    connection.commit()

    command.downgrade(_config(connection), "0042")
    connection.execute(text(REVEAL), {"id": "con_3"})

    recorded = [row.object_id for row in connection.execute(text(RECORDED))]
    assert recorded == ["con_1", "con_2", "con_3"]
