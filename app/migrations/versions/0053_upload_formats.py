"""Store how an uploaded list is to be read, and how it was read.

Revision: 0053, after 0052
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
COLUMNS = ("table_options", "table_format")


def upgrade() -> None:
    for name in COLUMNS:
        op.add_column("uploads", sa.Column(name, JSON, nullable=True))


def downgrade() -> None:
    for name in COLUMNS:
        op.drop_column("uploads", name)
