"""Create the index of the people whom jobs, saved profiles and uploaded rows mention.

It is filled in the background. Until then, an erasure reads what is not indexed.

Revision: 0031, after 0030
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.migrations import indexes

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

UPDATED = "ix_saved_profiles_updated_at"


def upgrade() -> None:
    indexes.create_concurrently(UPDATED, "saved_profiles", ["updated_at"])
    op.create_table(
        "mention_positions",
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_id", sa.String(), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.Column("key_check", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("source", name=op.f("pk_mention_positions")),
    )
    _create("job_mentions", "jobs", {"job_id": "id"})
    _create("profile_mentions", "saved_profiles", {"profile_id": "id"})
    _create("upload_mentions", "upload_rows", {"upload_id": "upload_id", "number": "number"})


def downgrade() -> None:
    op.drop_index(UPDATED, "saved_profiles")
    for table in ("upload_mentions", "profile_mentions", "job_mentions", "mention_positions"):
        op.drop_table(table)


def _create(table: str, mentioned_in: str, key: dict[str, str]) -> None:
    op.create_table(
        table,
        *(
            sa.Column(name, sa.Integer() if name == "number" else sa.String(length=28), nullable=False)
            for name in key
        ),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            list(key),
            [f"{mentioned_in}.{column}" for column in key.values()],
            name=op.f(f"fk_{table}_{'_'.join(key)}"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(*key, "digest", name=op.f(f"pk_{table}")),
    )
    op.create_index(f"ix_{table}_digest", table, ["digest"])
