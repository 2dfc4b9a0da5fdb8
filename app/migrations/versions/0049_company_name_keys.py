"""Store the keys of companies again, by the rules for more legal forms, and for "and" in other languages.

It reads every company and writes those whose key changes. A run that is interrupted changes nothing, and the
next one starts again.

Revision: 0049, after 0048
"""

from __future__ import annotations

from app.migrations import company_keys

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    company_keys.store_again()


def downgrade() -> None:
    """Keep the keys: the earlier version stores each again when it writes the company."""
