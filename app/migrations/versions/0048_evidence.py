"""Mark the contacts with a profile that others have, too, and count what uploads did not understand.

Revision: 0048, after 0047
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.add_column(
        "contacts", sa.Column("linkedin_shared", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("uploads", sa.Column("warnings", JSON, nullable=False, server_default=sa.text("'[]'")))
    op.add_column("provider_calls", sa.Column("reason", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("provider_calls", "reason")
    op.drop_column("uploads", "warnings")
    op.drop_column("contacts", "linkedin_shared")
