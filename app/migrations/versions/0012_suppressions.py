"""Index suppressions by time: a repeated request asks for the latest.

Revision: 0012, after 0011
"""

from __future__ import annotations

from alembic import op

from app.migrations import indexes

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    indexes.create_concurrently("ix_suppressions_created_at", "suppressions", ["created_at"])


def downgrade() -> None:
    op.drop_index("ix_suppressions_created_at", table_name="suppressions")
