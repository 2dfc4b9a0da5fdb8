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
    """An empty database."""
    engine = create_engine(f"sqlite:///{tmp_path}/old.sqlite3")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.mark.parametrize(("before", "after"), [("0016", "0017"), ("0048", "0049")])
def test_the_keys_of_stored_companies_follow_the_new_rules(
    connection: Connection, before: str, after: str
) -> None:
    command.upgrade(_config(connection), before)
    stored = [
        {"id": "com_1", "name": "Open Joint Stock Company Acme", "key": "open joint stock"},
        {"id": "com_2", "name": "Globex GmbH", "key": "globex"},
        {"id": "com_3", "name": None, "key": None},
        {"id": "com_4", "name": "SiemensAG", "key": "siemensag"},
    ]
    connection.execute(text(INSERT), stored)

    command.upgrade(_config(connection), after)

    keys = connection.execute(text("SELECT name_key FROM companies ORDER BY id")).scalars().all()
    assert keys == ["acme", "globex", None, "siemens"]
