"""Index the contacts' names by company, so that a lookup finds people by their given names.

The new index replaces the one of names alone, which only served lookups within companies.

Revision: 0018, after 0017
"""

from __future__ import annotations

from alembic import op

from app.migrations import indexes

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    indexes.create_concurrently("ix_contacts_company_id_name_key", "contacts", ["company_id", "name_key"])
    op.drop_index("ix_contacts_name_key", table_name="contacts")


def downgrade() -> None:
    op.create_index("ix_contacts_name_key", "contacts", ["name_key"])
    op.drop_index("ix_contacts_company_id_name_key", table_name="contacts")
