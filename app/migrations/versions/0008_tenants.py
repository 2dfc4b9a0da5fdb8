"""Create the tables of provider opt-outs, callers' identifiers and revealed values.

Revision: 0008, after 0007
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.migrations import indexes

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_VALUES = (("email", "emails", "email"), ("phone", "phones", "e164"))


def upgrade() -> None:
    indexes.create_concurrently("ix_reveals_contact_id", "reveals", ["contact_id"])
    op.create_table(
        "provider_opt_outs",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("question", sa.LargeBinary(), nullable=False),
        sa.Column("asked_by", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("kind", sa.String(), nullable=True),
        sa.Column("digest", sa.LargeBinary(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reviewed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider_opt_outs")),
        sa.UniqueConstraint("provider", "question", name=op.f("uq_provider_opt_outs_provider_question")),
    )
    op.create_table(
        "caller_identifiers",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("contact_id", sa.String(length=28), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contact_id"],
            ["contacts.id"],
            name=op.f("fk_caller_identifiers_contact_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_caller_identifiers_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "digest", "contact_id", name=op.f("pk_caller_identifiers")),
    )
    op.create_index("ix_caller_identifiers_contact_id", "caller_identifiers", ["contact_id"])
    op.create_index("ix_caller_identifiers_digest", "caller_identifiers", ["digest"])
    op.create_table(
        "revealed_values",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("contact_id", sa.String(length=28), nullable=False),
        sa.Column("job_id", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_revealed_values_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_revealed_values_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workspace_id", "field", "value", name=op.f("pk_revealed_values")),
    )
    op.create_index("ix_revealed_values_contact_id", "revealed_values", ["contact_id"])
    for field, table, value in _VALUES:  # a workspace that owns a contact's field owns its values
        op.execute(
            f"""
            INSERT INTO revealed_values (workspace_id, field, value, contact_id, created_at)
            SELECT r.workspace_id, r.field, v.{value}, min(r.contact_id), min(r.created_at)
            FROM reveals r JOIN {table} v ON v.contact_id = r.contact_id
            WHERE r.field = '{field}' AND r.refunded_at IS NULL
            GROUP BY r.workspace_id, r.field, v.{value}
            """  # noqa: S608 -- names of this file
        )


def downgrade() -> None:
    op.drop_index("ix_reveals_contact_id", "reveals")
    op.drop_table("revealed_values")
    op.drop_table("caller_identifiers")
    op.drop_table("provider_opt_outs")
