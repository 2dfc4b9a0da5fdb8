"""Store how far the ledger was audited, and index the refunds and reveals of a job.

The first audit after the upgrade covers everything.

Revision: 0015, after 0014
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.migrations import indexes

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

REFUND = sa.text("kind = 'refund'")
AMOUNTS = ("available", "held", "spent", "counted_available", "counted_held", "counted_spent")


def upgrade() -> None:
    indexes.create_concurrently(
        "ix_ledger_refund", "ledger", ["job_id"], sqlite_where=REFUND, postgresql_where=REFUND
    )
    indexes.create_concurrently("ix_reveals_job_id", "reveals", ["job_id"])
    op.create_table(
        "audit_positions",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("position", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_audit_positions")),
    )
    op.create_table(
        "ledger_sums",
        sa.Column("workspace_id", sa.String(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in AMOUNTS),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_ledger_sums_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_ledger_sums")),
    )


def downgrade() -> None:
    op.drop_index("ix_reveals_job_id", table_name="reveals")
    op.drop_index("ix_ledger_refund", table_name="ledger")
    op.drop_table("ledger_sums")
    op.drop_table("audit_positions")
