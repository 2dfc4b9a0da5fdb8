"""Create the tables of events and webhook endpoints; webhooks report events as well as jobs.

Revision: 0025, after 0019
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0025"
down_revision = "0019"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
WAITING = sa.text("delivered_at IS NULL")
OF_CALLER = sa.text("endpoint_id IS NULL")


def upgrade() -> None:
    _create_endpoints()
    _create_events()
    with op.batch_alter_table("webhooks") as batch_op:
        batch_op.add_column(sa.Column("workspace_id", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("event_id", sa.String(length=28), nullable=True))
        batch_op.add_column(sa.Column("endpoint_id", sa.String(length=28), nullable=True))
    op.execute(
        "UPDATE webhooks SET workspace_id ="
        " (SELECT jobs.workspace_id FROM jobs WHERE jobs.id = webhooks.job_id)"
    )
    op.drop_index("ix_webhooks_next_at", "webhooks")
    _keep_attempts()
    with op.batch_alter_table("webhooks") as batch_op:
        batch_op.alter_column("workspace_id", existing_type=sa.String(), nullable=False)
        batch_op.alter_column("job_id", existing_type=sa.String(length=28), nullable=True)
        batch_op.drop_constraint("uq_webhooks_job_id_url", type_="unique")
        batch_op.create_unique_constraint("uq_webhooks_job_id_endpoint_id", ["job_id", "endpoint_id"])
        batch_op.create_unique_constraint("uq_webhooks_event_id_endpoint_id", ["event_id", "endpoint_id"])
        batch_op.create_check_constraint(
            op.f("ck_webhooks_of_a_job_or_an_event"), "(job_id IS NULL) <> (event_id IS NULL)"
        )
        for name, table in (
            ("workspace_id", "workspaces"),
            ("event_id", "events"),
            ("endpoint_id", "webhook_endpoints"),
        ):
            batch_op.create_foreign_key(
                op.f(f"fk_webhooks_{name}"), table, [name], ["id"], ondelete="CASCADE"
            )
    _restore_attempts()
    op.create_index(
        "uq_webhooks_job_id_url",
        "webhooks",
        ["job_id", "url"],
        unique=True,
        sqlite_where=OF_CALLER,
        postgresql_where=OF_CALLER,
    )
    op.create_index(
        "ix_webhooks_next_at", "webhooks", ["next_at"], sqlite_where=WAITING, postgresql_where=WAITING
    )
    op.create_index("ix_webhooks_endpoint_id", "webhooks", ["endpoint_id"])
    op.create_index("ix_webhooks_workspace_id_created_at", "webhooks", ["workspace_id", "created_at", "id"])


def downgrade() -> None:
    op.execute("DELETE FROM webhooks WHERE endpoint_id IS NOT NULL")
    for name in (
        "ix_webhooks_workspace_id_created_at",
        "ix_webhooks_endpoint_id",
        "ix_webhooks_next_at",
        "uq_webhooks_job_id_url",
    ):
        op.drop_index(name, "webhooks")
    _keep_attempts()
    with op.batch_alter_table("webhooks") as batch_op:
        for name in ("endpoint_id", "event_id", "workspace_id"):
            batch_op.drop_constraint(f"fk_webhooks_{name}", type_="foreignkey")
        batch_op.drop_constraint(op.f("ck_webhooks_of_a_job_or_an_event"), type_="check")
        batch_op.drop_constraint("uq_webhooks_event_id_endpoint_id", type_="unique")
        batch_op.drop_constraint("uq_webhooks_job_id_endpoint_id", type_="unique")
        batch_op.create_unique_constraint("uq_webhooks_job_id_url", ["job_id", "url"])
        batch_op.alter_column("job_id", existing_type=sa.String(length=28), nullable=False)
        for name in ("endpoint_id", "event_id", "workspace_id"):
            batch_op.drop_column(name)
    _restore_attempts()
    op.create_index(
        "ix_webhooks_next_at", "webhooks", ["next_at"], sqlite_where=WAITING, postgresql_where=WAITING
    )
    op.drop_table("events")
    op.drop_table("webhook_endpoints")


def _keep_attempts() -> None:
    """Copy the attempts on SQLite, which rebuilds the table of webhooks and so deletes what refers to it."""
    if _is_sqlite():
        op.execute("CREATE TEMPORARY TABLE kept_attempts AS SELECT * FROM webhook_attempts")


def _restore_attempts() -> None:
    if _is_sqlite():
        op.execute("INSERT INTO webhook_attempts SELECT * FROM kept_attempts")
        op.execute("DROP TABLE kept_attempts")


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _create_endpoints() -> None:
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("types", JSON, nullable=False),
        sa.Column("failing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("disabled_reason", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_webhook_endpoints_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_endpoints")),
    )
    op.create_index("ix_webhook_endpoints_workspace_id", "webhook_endpoints", ["workspace_id"])


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("data", JSON, nullable=False),
        sa.Column("dedup_key", sa.String(), nullable=False),
        sa.Column("contact_id", sa.String(length=28), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_events_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_events_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sa.UniqueConstraint("workspace_id", "dedup_key", name=op.f("uq_events_workspace_id_dedup_key")),
    )
    op.create_index("ix_events_contact_id", "events", ["contact_id"])
    op.create_index("ix_events_created_at", "events", ["created_at"])
    op.create_index("ix_events_workspace_id_created_at", "events", ["workspace_id", "created_at", "id"])
