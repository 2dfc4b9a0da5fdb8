"""Add the account of a CRM connection, and the notes of a push's receipts.

Revision: 0050, after 0049
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.add_column("crm_connections", sa.Column("account", sa.String(), nullable=True))
    op.add_column("crm_push_items", sa.Column("notes", JSON, nullable=True))


def downgrade() -> None:
    op.drop_column("crm_push_items", "notes")
    op.drop_column("crm_connections", "account")
