"""Index what idempotency keys refer to, by which the keys of deleted records are deleted.

Revision: 0046, after 0045
"""

from __future__ import annotations

from alembic import op

from app.migrations import indexes

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    indexes.create_concurrently("ix_idempotency_keys_reference", "idempotency_keys", ["reference"])


def downgrade() -> None:
    op.drop_index("ix_idempotency_keys_reference", "idempotency_keys")
