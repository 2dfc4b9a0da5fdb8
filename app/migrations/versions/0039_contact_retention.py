"""Index e-mails and phones by the start of their retention.

Revision: 0039, after 0038
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.migrations import indexes

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

SINCE = sa.text("(CASE WHEN verified_at > first_seen_at THEN verified_at ELSE first_seen_at END)")


def upgrade() -> None:
    for table in ("emails", "phones"):
        indexes.create_concurrently(f"ix_{table}_retained_since", table, [SINCE])


def downgrade() -> None:
    for table in ("phones", "emails"):
        op.drop_index(f"ix_{table}_retained_since", table)
