"""Create the tables of mailbox proofs, and of values that people had removed from their contacts.

Revision: 0036, after 0035
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
UNSENT = sa.text("sent_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "mailbox_proofs",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("email", sa.LargeBinary(), nullable=False),
        sa.Column("code", sa.LargeBinary(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("sent_at", TIME, nullable=True),
        sa.Column("opened_at", TIME, nullable=True),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mailbox_proofs")),
    )
    op.create_index(
        "ix_mailbox_proofs_next_at",
        "mailbox_proofs",
        ["next_at"],
        sqlite_where=UNSENT,
        postgresql_where=UNSENT,
    )
    op.create_index("ix_mailbox_proofs_expires_at", "mailbox_proofs", ["expires_at"])
    op.create_table(
        "rejected_values",
        sa.Column("contact_id", sa.String(length=28), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_rejected_values_contact_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("contact_id", "digest", name=op.f("pk_rejected_values")),
    )


def downgrade() -> None:
    op.drop_table("rejected_values")
    op.drop_table("mailbox_proofs")
