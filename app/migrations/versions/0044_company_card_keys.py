"""Store the ids and keys of company cards; the outputs for keyed company filters are part of them.

Revision: 0044, after 0043
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "company_card_keys",
        sa.Column("card_id", sa.LargeBinary(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("oprf_key", sa.LargeBinary(), nullable=False),
        sa.Column("wrapped_key", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("card_id", name=op.f("pk_company_card_keys")),
    )
    op.create_index(op.f("ix_company_card_keys_hash"), "company_card_keys", ["hash"])
    op.add_column("company_filters", sa.Column("oprf_key", sa.LargeBinary(), nullable=True))
    op.drop_column("company_filters", "outputs")


def downgrade() -> None:
    op.add_column("company_filters", sa.Column("outputs", sa.LargeBinary(), nullable=True))
    op.drop_column("company_filters", "oprf_key")
    op.drop_table("company_card_keys")
