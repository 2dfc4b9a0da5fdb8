"""Create the table of audits.

Revision: 0005, after 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audits",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=True),
        sa.Column("workspaces", sa.Integer(), nullable=True),
        sa.Column("jobs", sa.Integer(), nullable=True),
        sa.Column("entries", sa.Integer(), nullable=True),
        sa.Column("faults", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audits")),
    )


def downgrade() -> None:
    op.drop_table("audits")
