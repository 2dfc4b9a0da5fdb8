"""Count the turns of workers at an uploaded list and at a CRM connection without progress.

Revision: 0054, after 0053
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

TABLES = ("uploads", "crm_connections")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "attempts")
