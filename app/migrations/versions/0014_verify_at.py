"""Store when the addresses of a revealed contact are next due for verification.

All reveals are due at once: the worker computes their times, some thousands in each run. On PostgreSQL the
column is added without rewriting the table.

Revision: 0014, after 0013
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

OF_EMAILS = sa.text("field = 'email'")


def upgrade() -> None:
    op.add_column(
        "reveals",
        sa.Column(
            "verify_at",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default="1970-01-01 00:00:00+00:00",
        ),
    )
    op.create_index(
        "ix_reveals_verify_at",
        "reveals",
        ["verify_at"],
        sqlite_where=OF_EMAILS,
        postgresql_where=OF_EMAILS,
    )


def downgrade() -> None:
    op.drop_index("ix_reveals_verify_at", table_name="reveals")
    op.drop_column("reveals", "verify_at")
