"""Create the tables of provider calls, provider gates, feedback, verifications and webhook attempts.

Revision: 0003, after 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "provider_calls",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("job_id", sa.String(length=28), nullable=False),
        sa.Column("item", sa.Integer(), nullable=True),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("subject", sa.LargeBinary(), nullable=False),
        sa.Column("country", sa.String(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=True),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("latency_ms", sa.Integer(), nullable=True),
        sa.Column("ticket", sa.String(), nullable=True),
        sa.Column("reply", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider_calls")),
    )
    with op.batch_alter_table("provider_calls", schema=None) as batch_op:
        batch_op.create_index("ix_provider_calls_asked_at", ["asked_at"], unique=False)
        batch_op.create_index("ix_provider_calls_field_asked_at", ["field", "asked_at"], unique=False)
        batch_op.create_index("ix_provider_calls_job_id", ["job_id"], unique=False)
        batch_op.create_index("ix_provider_calls_provider_asked_at", ["provider", "asked_at"], unique=False)
        batch_op.create_index("ix_provider_calls_subject", ["subject", "provider", "asked_at"], unique=False)

    op.create_table(
        "provider_gates",
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("tokens", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("refilled_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("window_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("open_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("window_calls", sa.Integer(), nullable=False),
        sa.Column("window_failures", sa.Integer(), nullable=False),
        sa.Column("last_outcome", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("provider", name=op.f("pk_provider_gates")),
    )
    op.create_table(
        "feedback",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=True),
        sa.Column("contact_id", sa.String(length=28), nullable=False),
        sa.Column("email_id", sa.String(length=28), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("providers", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("country", sa.String(), nullable=True),
        sa.Column("refunded", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_feedback_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["email_id"], ["emails.id"], name=op.f("fk_feedback_email_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_feedback_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback")),
        sa.UniqueConstraint(
            "email_id", "workspace_id", "kind", name=op.f("uq_feedback_email_id_workspace_id_kind")
        ),
    )
    with op.batch_alter_table("feedback", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_feedback_contact_id"), ["contact_id"], unique=False)
        batch_op.create_index("ix_feedback_kind_created_at", ["kind", "created_at"], unique=False)

    op.create_table(
        "verifications",
        sa.Column("email_id", sa.String(length=28), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("planned_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("provider", sa.String(), nullable=True),
        sa.Column("ticket", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["email_id"], ["emails.id"], name=op.f("fk_verifications_email_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("email_id", name=op.f("pk_verifications")),
    )
    op.create_table(
        "webhook_attempts",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("webhook_id", sa.String(length=28), nullable=False),
        sa.Column("attempted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.Column("latency_ms", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name=op.f("fk_webhook_attempts_webhook_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_attempts")),
    )
    with op.batch_alter_table("webhook_attempts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_webhook_attempts_attempted_at"), ["attempted_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_webhook_attempts_webhook_id"), ["webhook_id"], unique=False)

    with op.batch_alter_table("emails", schema=None) as batch_op:
        batch_op.add_column(sa.Column("reported_at", sa.DateTime(timezone=True), nullable=True))

    with op.batch_alter_table("phones", schema=None) as batch_op:
        batch_op.add_column(sa.Column("do_not_call_at", sa.DateTime(timezone=True), nullable=True))
    # a flag without a date takes that of its last sighting: an older record must not replace it
    op.execute("UPDATE phones SET do_not_call_at = last_seen_at WHERE do_not_call IS NOT NULL")

    with op.batch_alter_table("reveals", schema=None) as batch_op:
        batch_op.add_column(sa.Column("refunded_at", sa.DateTime(timezone=True), nullable=True))

    with op.batch_alter_table("webhooks", schema=None) as batch_op:
        batch_op.add_column(sa.Column("published_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("webhooks", schema=None) as batch_op:
        batch_op.drop_column("published_at")

    with op.batch_alter_table("reveals", schema=None) as batch_op:
        batch_op.drop_column("refunded_at")

    with op.batch_alter_table("phones", schema=None) as batch_op:
        batch_op.drop_column("do_not_call_at")

    with op.batch_alter_table("emails", schema=None) as batch_op:
        batch_op.drop_column("reported_at")

    with op.batch_alter_table("webhook_attempts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_webhook_attempts_webhook_id"))
        batch_op.drop_index(batch_op.f("ix_webhook_attempts_attempted_at"))

    op.drop_table("webhook_attempts")
    op.drop_table("verifications")
    with op.batch_alter_table("feedback", schema=None) as batch_op:
        batch_op.drop_index("ix_feedback_kind_created_at")
        batch_op.drop_index(batch_op.f("ix_feedback_contact_id"))

    op.drop_table("feedback")
    op.drop_table("provider_gates")
    with op.batch_alter_table("provider_calls", schema=None) as batch_op:
        batch_op.drop_index("ix_provider_calls_subject")
        batch_op.drop_index("ix_provider_calls_provider_asked_at")
        batch_op.drop_index("ix_provider_calls_job_id")
        batch_op.drop_index("ix_provider_calls_field_asked_at")
        batch_op.drop_index("ix_provider_calls_asked_at")

    op.drop_table("provider_calls")
