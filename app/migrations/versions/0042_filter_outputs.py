"""Store what was computed for keyed company filters.

Revision: 0042, after 0041
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("company_filters", sa.Column("outputs", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    op.drop_column("company_filters", "outputs")
