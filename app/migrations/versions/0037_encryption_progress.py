"""Create the table with the progress of encrypting stored values in the background.

Revision: 0037, after 0036
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "encryption_progress",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("key_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("pending", sa.BigInteger(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_encryption_progress")),
    )


def downgrade() -> None:
    op.drop_table("encryption_progress")
