"""Store the keys of companies' names again, by the rules for legal forms before the name or spelt out.

It reads every company and writes those whose key changes. A run that is interrupted changes nothing, and the
next one starts again.

Revision: 0017, after 0016
"""

from __future__ import annotations

from app.migrations import company_keys

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    company_keys.store_again()


def downgrade() -> None:
    """Keep the keys: the earlier version stores each again when it writes the company."""
