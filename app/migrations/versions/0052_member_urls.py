"""Add to contacts a second profile URL, with LinkedIn's id of the member, and index saved profiles by URL.

Revision: 0052, after 0051
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.migrations import indexes

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

_KNOWN = sa.text("member_url IS NOT NULL")


def upgrade() -> None:
    # The index needs the column, and its construction commits it: a second run finds the column there.
    if "member_url" not in {column["name"] for column in sa.inspect(op.get_bind()).get_columns("contacts")}:
        op.add_column("contacts", sa.Column("member_url", sa.String()))
    indexes.create_concurrently(
        "ix_contacts_member_url",
        "contacts",
        ["member_url"],
        unique=True,
        sqlite_where=_KNOWN,
        postgresql_where=_KNOWN,
    )
    indexes.create_concurrently("ix_saved_profiles_linkedin_url", "saved_profiles", ["linkedin_url"])


def downgrade() -> None:
    op.drop_index("ix_saved_profiles_linkedin_url", "saved_profiles")
    op.drop_index("ix_contacts_member_url", "contacts")
    op.drop_column("contacts", "member_url")
