"""Create the tables of uploaded lists.

Revision: 0027, after 0026
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
DUE = sa.text("next_at IS NOT NULL")
PENDING = sa.text("is_pending")


def upgrade() -> None:
    op.create_table(
        "uploads",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("api_key_id", sa.String(), nullable=True),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("detail", sa.String(), nullable=True),
        sa.Column("header", JSON, nullable=False),
        sa.Column("delimiter", sa.String(), nullable=False),
        sa.Column("columns", JSON, nullable=False),
        sa.Column("fields", JSON, nullable=False),
        sa.Column("max_credits", sa.BigInteger(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("row_count", sa.Integer(), nullable=False),
        sa.Column("priced", sa.Integer(), nullable=False),
        sa.Column("counts", JSON, nullable=False),
        sa.Column("estimate", JSON, nullable=True),
        sa.Column("outcomes", JSON, nullable=False),
        sa.Column("charged", sa.BigInteger(), nullable=False),
        sa.Column("next_chunk", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("touched_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_uploads_workspace_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_uploads")),
    )
    op.create_index("ix_uploads_workspace_id", "uploads", ["workspace_id", "id"])
    op.create_index("ix_uploads_next_at", "uploads", ["next_at"], sqlite_where=DUE, postgresql_where=DUE)
    op.create_index("ix_uploads_touched_at", "uploads", ["touched_at"])
    op.create_table(
        "upload_files",
        sa.Column("upload_id", sa.String(length=28), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["uploads.id"], name=op.f("fk_upload_files_upload_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("upload_id", name=op.f("pk_upload_files")),
    )
    op.create_table(
        "upload_rows",
        sa.Column("upload_id", sa.String(length=28), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("cells", JSON, nullable=False),
        sa.Column("subject", JSON, nullable=True),
        sa.Column("person", sa.LargeBinary(), nullable=True),
        sa.Column("cost", sa.Integer(), nullable=False),
        sa.Column("is_readable", sa.Boolean(), nullable=False),
        sa.Column("fault", sa.String(), nullable=True),
        sa.Column("duplicate_of", sa.Integer(), nullable=True),
        sa.Column("is_pending", sa.Boolean(), nullable=False),
        sa.Column("chunk", sa.Integer(), nullable=True),
        sa.Column("item", sa.Integer(), nullable=True),
        sa.Column("charged", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["uploads.id"], name=op.f("fk_upload_rows_upload_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("upload_id", "number", name=op.f("pk_upload_rows")),
    )
    op.create_index("uq_upload_rows_item", "upload_rows", ["upload_id", "chunk", "item"], unique=True)
    op.create_index("ix_upload_rows_person", "upload_rows", ["upload_id", "person", "number"])
    op.create_index(
        "ix_upload_rows_pending",
        "upload_rows",
        ["upload_id", "number"],
        sqlite_where=PENDING,
        postgresql_where=PENDING,
    )
    op.create_table(
        "upload_chunks",
        sa.Column("upload_id", sa.String(length=28), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(length=28), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["uploads.id"], name=op.f("fk_upload_chunks_upload_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_upload_chunks_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("upload_id", "number", name=op.f("pk_upload_chunks")),
    )
    op.create_index("ix_upload_chunks_job_id", "upload_chunks", ["job_id"])


def downgrade() -> None:
    for table in ("upload_chunks", "upload_rows", "upload_files", "uploads"):
        op.drop_table(table)
