"""Create the table of the digests of imported rows.

Revision: 0011, after 0010
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "imported_rows",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("contact_id", sa.String(length=28), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_imported_rows_contact_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_imported_rows")),
    )
    op.create_index("ix_imported_rows_contact_id", "imported_rows", ["contact_id"])
    op.create_index("ix_imported_rows_checked_at", "imported_rows", ["checked_at"], postgresql_using="brin")


def downgrade() -> None:
    op.drop_table("imported_rows")
