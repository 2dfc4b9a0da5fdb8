"""Index the entries of the audit log about created backups, whose age is a metric.

Revision: 0047, after 0046
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.migrations import indexes

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

_CREATED = sa.text("action = 'command.backup.create' AND outcome = 'succeeded'")


def upgrade() -> None:
    indexes.create_concurrently(
        "ix_audit_log_backups",
        "audit_log",
        ["occurred_at"],
        sqlite_where=_CREATED,
        postgresql_where=_CREATED,
    )


def downgrade() -> None:
    op.drop_index("ix_audit_log_backups", "audit_log")
