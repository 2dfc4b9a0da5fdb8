"""Create the tables of CRM connections, of pushes with their items, and of what they wrote.

Revision: 0029, after 0028
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(), "postgresql")
OPEN = sa.text("outcome IS NULL")


def upgrade() -> None:
    op.create_table(
        "crm_connections",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("vendor", sa.String(), nullable=False),
        sa.Column("base_url", sa.String(), nullable=True),
        sa.Column("credentials", sa.LargeBinary(), nullable=False),
        sa.Column("mapping", JSON, nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("created_by", sa.String(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("checked_at", TIME, nullable=True),
        sa.Column("due_at", TIME, nullable=True),
        sa.Column("resume_at", TIME, nullable=True),
        sa.Column("published_at", TIME, nullable=True),
        sa.Column("lease", sa.Integer(), nullable=False),
        sa.Column("leased_until", TIME, nullable=True),
        _references("crm_connections", "workspace_id", "workspaces"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crm_connections")),
    )
    op.create_index("ix_crm_connections_due_at", "crm_connections", ["due_at"])
    op.create_index(op.f("ix_crm_connections_workspace_id"), "crm_connections", ["workspace_id"])
    op.create_table(
        "crm_records",
        sa.Column("connection_id", sa.String(length=28), nullable=False),
        sa.Column("contact_id", sa.String(length=28), nullable=False),
        sa.Column("crm_id", sa.String(), nullable=True),
        sa.Column("written", JSON, nullable=False),
        _references("crm_records", "connection_id", "crm_connections"),
        _references("crm_records", "contact_id", "contacts"),
        sa.PrimaryKeyConstraint("connection_id", "contact_id", name=op.f("pk_crm_records")),
    )
    op.create_index(op.f("ix_crm_records_contact_id"), "crm_records", ["contact_id"])
    op.create_table(
        "crm_pushes",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("connection_id", sa.String(length=28), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("dry_run", sa.Boolean(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        _references("crm_pushes", "workspace_id", "workspaces"),
        _references("crm_pushes", "connection_id", "crm_connections"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crm_pushes")),
    )
    op.create_index("ix_crm_pushes_workspace_id_id", "crm_pushes", ["workspace_id", "id"])
    op.create_index(op.f("ix_crm_pushes_connection_id"), "crm_pushes", ["connection_id"])
    op.create_table(
        "crm_push_items",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("push_id", sa.String(length=28), nullable=False),
        sa.Column("connection_id", sa.String(length=28), nullable=False),
        sa.Column("contact_id", sa.String(length=28), nullable=False),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("actions", JSON, nullable=False),
        sa.Column("finished_at", TIME, nullable=True),
        sa.Column("latency_ms", sa.Integer(), nullable=True),
        _references("crm_push_items", "push_id", "crm_pushes"),
        _references("crm_push_items", "connection_id", "crm_connections"),
        _references("crm_push_items", "contact_id", "contacts"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crm_push_items")),
        sa.UniqueConstraint("push_id", "contact_id", name=op.f("uq_crm_push_items_push_id_contact_id")),
    )
    op.create_index(
        "ix_crm_push_items_connection_id_next_at",
        "crm_push_items",
        ["connection_id", "next_at"],
        sqlite_where=OPEN,
        postgresql_where=OPEN,
    )
    op.create_index(op.f("ix_crm_push_items_contact_id"), "crm_push_items", ["contact_id"])


def downgrade() -> None:
    for table in ("crm_push_items", "crm_pushes", "crm_records", "crm_connections"):
        op.drop_table(table)


def _references(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{other}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE"
    )
