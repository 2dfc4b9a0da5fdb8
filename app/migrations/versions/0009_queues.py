"""Store the queue of each job, since a reveal may change it.

Revision: 0009, after 0008
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

LIVE = sa.text("status IN ('queued', 'running')")


def upgrade() -> None:
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.add_column(sa.Column("queue", sa.String(), server_default="interactive", nullable=False))
        batch_op.create_index(
            "ix_jobs_queue",
            ["queue", "workspace_id"],
            unique=False,
            sqlite_where=LIVE,
            postgresql_where=LIVE,
        )
    op.execute("UPDATE jobs SET queue = 'enrichment' WHERE kind = 'enrichment_request'")


def downgrade() -> None:
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.drop_index("ix_jobs_queue")
    op.drop_column("jobs", "queue")
