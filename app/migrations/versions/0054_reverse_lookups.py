"""Add the addresses and numbers that workspaces have tried and do not own.

Revision: 0054, after 0053
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "reverse_lookups",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.Column("domain", sa.LargeBinary(), nullable=True),
        sa.Column("person", sa.LargeBinary(), nullable=True),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_reverse_lookups_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "value", name=op.f("pk_reverse_lookups")),
    )
    op.create_index("ix_reverse_lookups_tried_at", "reverse_lookups", ["tried_at"])


def downgrade() -> None:
    op.drop_table("reverse_lookups")
