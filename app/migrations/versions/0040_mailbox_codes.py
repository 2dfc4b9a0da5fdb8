"""Create the table of codes, one for an address; they were columns of the proofs, which last for minutes.

Revision: 0040, after 0039
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.drop_table("mailbox_proofs")
    op.create_table(
        "mailbox_proofs",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("address", sa.LargeBinary(), nullable=False),
        sa.Column("email", sa.LargeBinary(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("opened_at", TIME, nullable=True),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mailbox_proofs")),
    )
    op.create_index("ix_mailbox_proofs_expires_at", "mailbox_proofs", ["expires_at"])
    op.create_table(
        "mailbox_codes",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("address", sa.LargeBinary(), nullable=False),
        sa.Column("email", sa.LargeBinary(), nullable=False),
        sa.Column("code", sa.LargeBinary(), nullable=True),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("sent_at", TIME, nullable=True),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mailbox_codes")),
    )
    op.create_index("ix_mailbox_codes_address", "mailbox_codes", ["address"], unique=True)
    op.create_index("ix_mailbox_codes_expires_at", "mailbox_codes", ["expires_at"])
    _index_unsent("mailbox_codes")


def downgrade() -> None:
    op.drop_table("mailbox_codes")
    op.drop_table("mailbox_proofs")
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
    op.create_index("ix_mailbox_proofs_expires_at", "mailbox_proofs", ["expires_at"])
    _index_unsent("mailbox_proofs")


def _index_unsent(table: str) -> None:
    where = sa.text("sent_at IS NULL")
    op.create_index(f"ix_{table}_next_at", table, ["next_at"], sqlite_where=where, postgresql_where=where)
