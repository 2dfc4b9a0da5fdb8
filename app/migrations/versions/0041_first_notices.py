"""Add to contacts when the person was notified, and index those who were not by when they were obtained.

Revision: 0041, after 0040
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.migrations import indexes

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The index needs the column, and its construction commits it: a second run finds the column there.
    columns = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("contacts")}
    if "notified_at" not in columns:
        op.add_column("contacts", sa.Column("notified_at", sa.DateTime(timezone=True), nullable=True))
    where = sa.text("notified_at IS NULL")
    indexes.create_concurrently(
        "ix_contacts_unnotified",
        "contacts",
        ["created_at", "id"],
        sqlite_where=where,
        postgresql_where=where,
    )


def downgrade() -> None:
    op.drop_index("ix_contacts_unnotified", "contacts")
    op.drop_column("contacts", "notified_at")
