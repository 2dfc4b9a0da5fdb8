from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import Connection, create_engine, text

from cli.database import _config

INSERT = """
INSERT INTO contacts (id, full_name, last_name, last_key, linkedin_shared, provenance, created_at, updated_at)
VALUES (:id, :full, :last, :key, false, '{}', '2026-01-01', '2026-01-01')
"""


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A database of the version before the migration."""
    engine = create_engine(f"sqlite:///{tmp_path}/old.sqlite3")
    with engine.connect() as connection:
        command.upgrade(_config(connection), "0050")
        yield connection
    engine.dispose()


def test_the_keys_of_stored_family_names_are_in_latin_letters(connection: Connection) -> None:
    stored = [
        {"id": "con_1", "full": "Сергей Лавров", "last": "Лавров", "key": "лавров"},
        {"id": "con_2", "full": "Ada Lovelace", "last": "Lovelace", "key": "lovelace"},
        {"id": "con_3", "full": None, "last": None, "key": None},
        {"id": "con_4", "full": "Платон", "last": None, "key": "платон"},
    ]
    connection.execute(text(INSERT), stored)

    command.upgrade(_config(connection), "0051")

    keys = connection.execute(text("SELECT last_key FROM contacts ORDER BY id")).scalars().all()
    assert keys == ["lavrov", "lovelace", None, "platon"]
