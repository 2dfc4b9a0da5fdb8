"""Create the table of the signed files that say which companies are known.

Revision: 0032, after 0031
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "company_filters",
        sa.Column("bits", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("entries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("source", sa.LargeBinary(), nullable=True),
        sa.Column("etag", sa.String(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("bits", name=op.f("pk_company_filters")),
    )


def downgrade() -> None:
    op.drop_table("company_filters")
