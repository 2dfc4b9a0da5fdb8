from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from apiflask import APIFlask
from sqlalchemy import inspect

from app.cli import database as commands
from app.factory import create_app
from app.infra.db import Base
from app.settings import Settings


@pytest.fixture
def new_app(settings: Settings, tmp_path: Path) -> Iterator[APIFlask]:
    """An application whose database is a file that does not exist yet."""
    app = create_app(dataclasses.replace(settings, database_url=f"sqlite:///{tmp_path}/new.sqlite3"))
    yield app
    app.extensions["database"].engine.dispose()


def test_an_upgrade_makes_every_table_and_can_be_run_again(new_app: APIFlask) -> None:
    run = new_app.test_cli_runner().invoke

    first, again = run(commands.group, ["upgrade"]), run(commands.group, ["upgrade", "--json"])

    assert first.stdout == "The database is up to date.\n"
    assert json.loads(again.stdout) == {"upgraded": True}
    tables = set(inspect(new_app.extensions["database"].engine).get_table_names())
    assert tables == {*Base.metadata.tables, "alembic_version"}


def test_the_migrations_make_what_the_code_expects(new_app: APIFlask) -> None:
    new_app.test_cli_runner().invoke(commands.group, ["upgrade"])

    with new_app.extensions["database"].engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), Base.metadata)

    assert differences == []
