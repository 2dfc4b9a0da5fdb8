"""Count the turns of workers at an uploaded list and at a CRM connection without progress.

Revision: 0056, after 0055
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

TABLES = ("uploads", "crm_connections")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "attempts")
