"""Index jobs that ended without success, to list them by status.

Revision: 0013, after 0012
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.migrations import indexes

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

UNSUCCESSFUL = sa.text("status IN ('failed', 'canceled', 'expired')")


def upgrade() -> None:
    indexes.create_concurrently(
        "ix_jobs_unsuccessful",
        "jobs",
        ["workspace_id", "created_at", "id"],
        sqlite_where=UNSUCCESSFUL,
        postgresql_where=UNSUCCESSFUL,
    )


def downgrade() -> None:
    op.drop_index("ix_jobs_unsuccessful", table_name="jobs")
