"""Remember that an operator disabled an account, which admins then cannot enable.

Revision: 0055, after 0054

An account that is already disabled counts as disabled by an operator, unless the audit log says otherwise.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

_BY_AN_ACCOUNT = """
NOT EXISTS (SELECT 1 FROM {} AS entries WHERE entries.action = 'account.disable'
            AND entries.workspace_id = accounts.workspace_id AND entries.object_id = accounts.id
            AND entries.actor_kind = 'account')
"""


def upgrade() -> None:
    column = sa.Column("disabled_by_operator", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("accounts", column)
    unknown = " AND ".join(_BY_AN_ACCOUNT.format(table) for table in ("audit_log", "audit_log_pending"))
    op.execute(
        f"UPDATE accounts SET disabled_by_operator = TRUE WHERE disabled_at IS NOT NULL AND {unknown}"  # noqa: S608 -- texts of this file
    )


def downgrade() -> None:
    op.drop_column("accounts", "disabled_by_operator")
