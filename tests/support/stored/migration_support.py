"""A migration after the newest one, as the next version of the service may bring it."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest

from app import migrations
from app.infra.database import table_versions

_MIGRATION = '''
"""Change what the test changes."""

import sqlalchemy as sa
from alembic import op

from app.migrations import indexes

revision = "{revision}"
down_revision = "{newest}"
branch_labels = None
depends_on = None


def upgrade() -> None:
{statements}
'''


def copy_migrations(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a copy of the migrations, to which the test may add; return the folder of the versions."""
    copy = folder / "migrations"
    shutil.copytree(migrations.__path__[0], copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(migrations, "__path__", [str(copy)])
    return copy / "versions"


def add_migration(folder: Path, monkeypatch: pytest.MonkeyPatch, statements: str) -> str:
    """Add a migration with these statements; return its revision."""
    versions = copy_migrations(folder, monkeypatch)
    newest = table_versions.revisions()[0]
    revision = f"{int(newest) + 1:04}"
    body = textwrap.indent(textwrap.dedent(statements).strip(), "    ")
    text = _MIGRATION.format(revision=revision, newest=newest, statements=body)
    (versions / f"{revision}_next.py").write_text(text.lstrip())
    return revision
