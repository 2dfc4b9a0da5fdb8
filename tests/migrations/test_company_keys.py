from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, create_engine, text

from cli.database import _config

INSERT = """
INSERT INTO companies (id, name, name_key, provenance, created_at, updated_at)
VALUES (:id, :name, :key, '{}', '2026-01-01', '2026-01-01')
"""


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A database of the version before the migration."""
    engine = create_engine(f"sqlite:///{tmp_path}/old.sqlite3")
    with engine.connect() as connection:
        command.upgrade(_config(connection), "0016")
        yield connection
    engine.dispose()


def test_the_keys_of_stored_companies_follow_the_new_rules(connection: Connection) -> None:
    stored = [
        {"id": "com_1", "name": "Open Joint Stock Company Acme", "key": "open joint stock"},
        {"id": "com_2", "name": "Globex GmbH", "key": "globex"},
        {"id": "com_3", "name": None, "key": None},
        {"id": "com_4", "name": "SiemensAG", "key": "siemensag"},
    ]
    connection.execute(text(INSERT), stored)

    command.upgrade(_config(connection), "0017")

    keys = connection.execute(text("SELECT name_key FROM companies ORDER BY id")).scalars().all()
    assert keys == ["acme", "globex", None, "siemens"]
