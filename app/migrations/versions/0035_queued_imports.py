"""Create the table of queued imports.

Revision: 0035, after 0034
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_OPEN = sa.text("finished_at IS NULL")


def upgrade() -> None:
    json = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
    op.create_table(
        "queued_imports",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("file", sa.String(), nullable=False),
        sa.Column("entity", sa.String(), nullable=False),
        sa.Column("options", json, nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("size", "modified", "rows_done", "bytes_done", "rejects_bytes")
        ),
        sa.Column("result", json, nullable=False),
        sa.Column("detail", sa.String(), nullable=True),
        sa.Column("lease", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.DateTime(timezone=True), nullable=False) for name in ("created_at", "seen_at")),
        *(
            sa.Column(name, sa.DateTime(timezone=True), nullable=True)
            for name in ("started_at", "finished_at", "next_at", "published_at")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_queued_imports")),
    )
    op.create_index(
        "uq_queued_imports_file",
        "queued_imports",
        ["file"],
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )


def downgrade() -> None:
    op.drop_table("queued_imports")
