"""Record when a reported bounce was confirmed or refuted.

Revision: 0006, after 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("feedback", schema=None) as batch_op:
        batch_op.add_column(sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("refuted_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.create_index("ix_feedback_workspace_id_created_at", ["workspace_id", "created_at"])
    # Earlier reports were shown to every workspace and refunded: they count as confirmed.
    op.execute("UPDATE feedback SET confirmed_at = created_at WHERE kind = 'bounce'")


def downgrade() -> None:
    with op.batch_alter_table("feedback", schema=None) as batch_op:
        batch_op.drop_index("ix_feedback_workspace_id_created_at")
        batch_op.drop_column("refuted_at")
        batch_op.drop_column("confirmed_at")
