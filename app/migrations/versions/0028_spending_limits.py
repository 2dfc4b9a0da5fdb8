"""Create the tables of spending limits, and store which API key submitted a job.

The ledger is indexed by time within a workspace, for the report on usage; the new index replaces the one of
workspaces alone.

Revision: 0028, after 0027
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.migrations import indexes

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

BY_KEY = sa.text("key_id IS NOT NULL")


def upgrade() -> None:
    indexes.create_concurrently("ix_ledger_workspace_id_created_at", "ledger", ["workspace_id", "created_at"])
    op.add_column(
        "workspaces", sa.Column("is_limited", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("jobs", sa.Column("key_id", sa.String(length=28), nullable=True))
    op.create_index(
        "ix_jobs_key_id", "jobs", ["key_id", "created_at"], sqlite_where=BY_KEY, postgresql_where=BY_KEY
    )
    op.drop_index("ix_ledger_workspace_id", table_name="ledger")
    op.create_table(
        "spending_limits",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(length=28), nullable=True),
        sa.Column("key_id", sa.String(length=28), nullable=True),
        sa.Column("period", sa.String(), nullable=False),
        sa.Column("credits", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "(account_id IS NULL) <> (key_id IS NULL)", name=op.f("ck_spending_limits_one_subject")
        ),
        _foreign_key("spending_limits", "workspace_id", "workspaces"),
        _foreign_key("spending_limits", "account_id", "accounts"),
        _foreign_key("spending_limits", "key_id", "api_keys"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_spending_limits")),
        sa.UniqueConstraint("account_id", "period", name="uq_spending_limits_account"),
        sa.UniqueConstraint("key_id", "period", name="uq_spending_limits_key"),
    )
    op.create_index(op.f("ix_spending_limits_workspace_id"), "spending_limits", ["workspace_id"])
    op.create_table(
        "spending_counters",
        sa.Column("limit_id", sa.String(length=28), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("alerted", sa.Integer(), nullable=False),
        _foreign_key("spending_counters", "limit_id", "spending_limits"),
        sa.PrimaryKeyConstraint("limit_id", "starts_at", name=op.f("pk_spending_counters")),
    )


def downgrade() -> None:
    op.drop_table("spending_counters")
    op.drop_table("spending_limits")
    op.create_index("ix_ledger_workspace_id", "ledger", ["workspace_id"])
    op.drop_index("ix_ledger_workspace_id_created_at", table_name="ledger")
    op.drop_index("ix_jobs_key_id", table_name="jobs")
    op.drop_column("jobs", "key_id")
    op.drop_column("workspaces", "is_limited")


def _foreign_key(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE"
    )
