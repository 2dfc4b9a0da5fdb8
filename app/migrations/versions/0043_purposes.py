"""Store the purpose of reveals and uploads, and record that of reveals in the audit log.

Revision: 0043, after 0042
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

_REVEAL = """
    INSERT INTO audit_log_pending (occurred_at, actor_kind, actor_id, action, object_id, workspace_id,
                                   {reason}request_id, outcome)
    SELECT {now},
           CASE WHEN job.key_id IS NOT NULL THEN 'api_key' WHEN job.account_id IS NOT NULL THEN 'account'
                ELSE 'system' END,
           coalesce(job.key_id, job.account_id), 'reveal.' || NEW.field, NEW.contact_id, NEW.workspace_id,
           {purpose}NEW.job_id, 'succeeded'
    FROM (SELECT 1 AS one) AS one LEFT JOIN jobs AS job ON job.id = NEW.job_id;
"""
_POSTGRESQL = """
CREATE OR REPLACE FUNCTION audit_log_record_reveal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {entry}
    RETURN NULL;
END $$
"""
_SQLITE_NOW = "strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'"
_SQLITE = {
    "audit_log_reveal_bought": """
CREATE TRIGGER audit_log_reveal_bought AFTER INSERT ON reveals
BEGIN {entry} END
""",
    "audit_log_reveal_bought_again": """
CREATE TRIGGER audit_log_reveal_bought_again AFTER UPDATE OF job_id ON reveals
WHEN NEW.job_id IS NOT OLD.job_id
BEGIN {entry} END
""",
}


def upgrade() -> None:
    for table in ("reveals", "uploads"):
        op.add_column(table, sa.Column("purpose", sa.String(), nullable=True))
    _record_reveals(with_purpose=True)


def downgrade() -> None:
    _record_reveals(with_purpose=False)
    for table in ("reveals", "uploads"):
        op.drop_column(table, "purpose")


def _record_reveals(*, with_purpose: bool) -> None:
    """Replace what a reveal inserts into the audit log; the reason is its purpose."""
    reason, purpose = ("reason, ", "NEW.purpose, ") if with_purpose else ("", "")
    run = op.get_bind().exec_driver_sql
    if op.get_bind().dialect.name == "postgresql":
        entry = _REVEAL.format(now="statement_timestamp()", reason=reason, purpose=purpose)
        run(_POSTGRESQL.format(entry=entry))
        return
    entry = _REVEAL.format(now=_SQLITE_NOW, reason=reason, purpose=purpose)
    for name, trigger in _SQLITE.items():
        run(f"DROP TRIGGER {name}")
        run(trigger.format(entry=entry))
