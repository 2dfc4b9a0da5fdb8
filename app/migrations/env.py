"""Alembic environment: runs the migrations on the connection that `flask database` provides."""

from __future__ import annotations

from typing import Literal

from alembic import context as alembic
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import JSON

from app.engine import tables
from app.infra.database.db import Base, UtcDateTime

tables.register()


def _render(kind: str, item: object, context: AutogenContext) -> str | Literal[False]:
    """Render the project's column types as SQLAlchemy types, so that migrations do not import the app."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    if kind == "type" and isinstance(item, JSON):
        context.imports.add("from sqlalchemy.dialects import postgresql")
        return "sa.JSON().with_variant(postgresql.JSONB(), 'postgresql')"
    return False


connection = alembic.config.attributes["connection"]
alembic.configure(
    connection=connection,
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite cannot alter a table in place
    compare_server_default=True,
    render_item=_render,
    # On PostgreSQL the locks of a migration end with it; SQLite has one writer, so all are one transaction.
    transaction_per_migration=connection.dialect.name == "postgresql",
    transactional_ddl=True,  # SQLite's is, although Alembic assumes otherwise
)
with alembic.begin_transaction():
    alembic.run_migrations()
