"""Create the audit log, and the triggers that keep it append-only and record reveals.

Revision: 0033, after 0032
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_REVEAL = """
    INSERT INTO audit_log_pending (occurred_at, actor_kind, actor_id, action, object_id, workspace_id,
                                   request_id, outcome)
    SELECT {now},
           CASE WHEN job.key_id IS NOT NULL THEN 'api_key' WHEN job.account_id IS NOT NULL THEN 'account'
                ELSE 'system' END,
           coalesce(job.key_id, job.account_id), 'reveal.' || NEW.field, NEW.contact_id, NEW.workspace_id,
           NEW.job_id, 'succeeded'
    FROM (SELECT 1 AS one) AS one LEFT JOIN jobs AS job ON job.id = NEW.job_id;
"""
_IS_SEALED = "EXISTS (SELECT 1 FROM audit_log WHERE pending_id = OLD.id)"
_APPEND_ONLY = "audit_log_append_only"
_REFUSAL = "the audit log is append-only"

_POSTGRESQL = (
    f"""
CREATE FUNCTION audit_log_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '{_REFUSAL}';
END $$
""",
    f"""
CREATE FUNCTION audit_log_keep_pending() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT {_IS_SEALED} THEN
        RAISE EXCEPTION '{_REFUSAL}';
    END IF;
    RETURN OLD;
END $$
""",
    f"""
CREATE FUNCTION audit_log_record_reveal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {_REVEAL.format(now="statement_timestamp()")}
    RETURN NULL;
END $$
""",
    f"""
CREATE TRIGGER {_APPEND_ONLY} BEFORE UPDATE OR DELETE ON audit_log
FOR EACH ROW EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_pending_no_update BEFORE UPDATE ON audit_log_pending
FOR EACH ROW EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_pending_no_truncate BEFORE TRUNCATE ON audit_log_pending
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_pending_until_sealed BEFORE DELETE ON audit_log_pending
FOR EACH ROW EXECUTE FUNCTION audit_log_keep_pending()
""",
    """
CREATE TRIGGER audit_log_reveal_bought AFTER INSERT ON reveals
FOR EACH ROW EXECUTE FUNCTION audit_log_record_reveal()
""",
    """
CREATE TRIGGER audit_log_reveal_bought_again AFTER UPDATE OF job_id ON reveals
FOR EACH ROW WHEN (NEW.job_id IS DISTINCT FROM OLD.job_id) EXECUTE FUNCTION audit_log_record_reveal()
""",
)
_SQLITE_NOW = "strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'"
_SQLITE_NO_DELETE = f"""
CREATE TRIGGER {_APPEND_ONLY} BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END
"""
_SQLITE = (
    _SQLITE_NO_DELETE,
    f"""
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END
""",
    f"""
CREATE TRIGGER audit_log_pending_no_update BEFORE UPDATE ON audit_log_pending
BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END
""",
    f"""
CREATE TRIGGER audit_log_pending_until_sealed BEFORE DELETE ON audit_log_pending WHEN NOT {_IS_SEALED}
BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END
""",
    f"""
CREATE TRIGGER audit_log_reveal_bought AFTER INSERT ON reveals
BEGIN {_REVEAL.format(now=_SQLITE_NOW)} END
""",
    f"""
CREATE TRIGGER audit_log_reveal_bought_again AFTER UPDATE OF job_id ON reveals
WHEN NEW.job_id IS NOT OLD.job_id
BEGIN {_REVEAL.format(now=_SQLITE_NOW)} END
""",
)
_COUNTER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_FUNCTIONS = ("audit_log_record_reveal", "audit_log_keep_pending", "audit_log_refuse")


def upgrade() -> None:
    op.create_table(
        "audit_log_pending",
        sa.Column("id", _COUNTER, nullable=False),
        *_fields(),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log_pending")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "audit_log",
        sa.Column("position", _COUNTER, autoincrement=False, nullable=False),
        sa.Column("pending_id", sa.BigInteger(), nullable=False),
        *_fields(),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("position", name=op.f("pk_audit_log")),
        sa.UniqueConstraint("pending_id", name=op.f("uq_audit_log_pending_id")),
    )
    op.create_index("ix_audit_log_workspace_id", "audit_log", ["workspace_id", "position"])
    op.create_index("ix_audit_log_occurred_at", "audit_log", ["occurred_at"])
    op.create_table(
        "audit_log_pruned",
        sa.Column("position", _COUNTER, autoincrement=False, nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("pruned_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("position", name=op.f("pk_audit_log_pruned")),
    )
    for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL:
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    for trigger in ("audit_log_reveal_bought", "audit_log_reveal_bought_again"):
        on_table = "" if op.get_bind().dialect.name == "sqlite" else " ON reveals"
        op.execute(f"DROP TRIGGER {trigger}{on_table}")
    for table in ("audit_log_pruned", "audit_log", "audit_log_pending"):
        op.drop_table(table)
    if op.get_bind().dialect.name != "sqlite":
        for function in _FUNCTIONS:
            op.execute(f"DROP FUNCTION {function}")


def _fields() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_kind", sa.String(), nullable=False),
        sa.Column("actor_id", sa.String(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("object_id", sa.String(), nullable=True),
        sa.Column("workspace_id", sa.String(length=28), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("request_id", sa.String(), nullable=True),
        sa.Column("network", sa.String(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=False),
    )
