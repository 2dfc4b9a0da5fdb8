"""Builds the indexes of large tables while the service uses them."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

_IS_VALID = sa.text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")


def create_concurrently(name: str, table: str, columns: list[Any], **options: Any) -> None:
    """Create an index; on PostgreSQL without locking the table for writers (CREATE INDEX CONCURRENTLY).

    It commits what the migration did before, so call it first in a migration. If the migration runs again, a
    complete index is kept, and one whose construction was interrupted is rebuilt.
    """
    context = op.get_context()
    if context.dialect.name != "postgresql":
        op.create_index(name, table, columns, **options)
        return
    with context.autocommit_block():
        connection = op.get_bind()
        is_valid = connection.scalar(_IS_VALID, {"name": name})
        if is_valid:
            return
        limit = connection.scalar(sa.text("SHOW lock_timeout"))
        op.execute("SET lock_timeout = 0")  # it waits for older transactions, and nobody waits behind it
        if is_valid is not None:
            op.drop_index(name, table_name=table, postgresql_concurrently=True)
        op.create_index(name, table, columns, postgresql_concurrently=True, **options)
        op.execute(f"SET lock_timeout = '{limit}'")
