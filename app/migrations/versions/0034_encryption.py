"""Add the columns of encrypted e-mails and phones.

The existing columns get the blind indexes. Nothing is rewritten here: rows are encrypted in the background,
and until then their plain values are read.

Revision: 0034, after 0033
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("emails", sa.Column("email_encrypted", sa.String(), nullable=True))
    op.add_column("phones", sa.Column("e164_encrypted", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("phones", "e164_encrypted")
    op.drop_column("emails", "email_encrypted")
