"""Index jobs by creation time; add the clock offset and refused messages of workers.

Revision: 0007, after 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.migrations import indexes

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_COUNTS = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    indexes.create_concurrently(
        "ix_jobs_workspace_id_created_at", "jobs", ["workspace_id", "created_at", "id"]
    )
    op.drop_index("ix_jobs_workspace_id_id", table_name="jobs")
    op.add_column("workers", sa.Column("clock_offset", sa.Double(), nullable=False, server_default="0"))
    op.add_column("workers", sa.Column("refused", _COUNTS, nullable=False, server_default="{}"))


def downgrade() -> None:
    op.drop_column("workers", "refused")
    op.drop_column("workers", "clock_offset")
    op.create_index("ix_jobs_workspace_id_id", "jobs", ["workspace_id", "id"])
    op.drop_index("ix_jobs_workspace_id_created_at", table_name="jobs")
