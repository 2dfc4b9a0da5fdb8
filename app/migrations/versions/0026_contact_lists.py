"""Create the lists of a workspace, and let it save a contact without a profile.

The list that each saved profile names becomes a list with that profile on it. Two indexes serve the contacts
of a workspace in the order in which it revealed or saved them.

Revision: 0026, after 0025
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.domain.ids import new_id
from app.migrations import indexes

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

OWNED = sa.text("refunded_at IS NULL")
PROFILES = sa.table(
    "saved_profiles",
    *(sa.column(name) for name in ("id", "workspace_id", "list_name", "linkedin_url")),
    sa.column("updated_at", sa.DateTime(timezone=True)),
)
LISTS = sa.table(
    "contact_lists",
    *(sa.column(name) for name in ("id", "workspace_id", "name")),
    *(sa.column(name, sa.DateTime(timezone=True)) for name in ("created_at", "updated_at")),
)


def upgrade() -> None:
    indexes.create_concurrently(
        "ix_reveals_owned",
        "reveals",
        ["workspace_id", "created_at", "contact_id"],
        sqlite_where=OWNED,
        postgresql_where=OWNED,
    )
    with op.batch_alter_table("saved_profiles") as batch_op:
        batch_op.alter_column("linkedin_url", existing_type=sa.String(), nullable=True)
        batch_op.add_column(sa.Column("contact_id", sa.String(length=28), nullable=True))
        batch_op.create_foreign_key(
            op.f("fk_saved_profiles_contact_id"), "contacts", ["contact_id"], ["id"], ondelete="CASCADE"
        )
        batch_op.create_unique_constraint(
            op.f("uq_saved_profiles_workspace_id_contact_id"), ["workspace_id", "contact_id"]
        )
        batch_op.create_check_constraint(
            op.f("ck_saved_profiles_profile_or_contact"), "(linkedin_url IS NULL) <> (contact_id IS NULL)"
        )
    op.create_index("ix_saved_profiles_contact_id", "saved_profiles", ["contact_id"])
    op.create_index(
        "ix_saved_profiles_workspace_id_created_at", "saved_profiles", ["workspace_id", "created_at", "id"]
    )
    op.create_table(
        "contact_lists",
        sa.Column("id", sa.String(length=28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_contact_lists_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contact_lists")),
        sa.UniqueConstraint("workspace_id", "name", name=op.f("uq_contact_lists_workspace_id_name")),
    )
    op.create_table(
        "list_members",
        sa.Column("list_id", sa.String(length=28), nullable=False),
        sa.Column("profile_id", sa.String(length=28), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["list_id"], ["contact_lists.id"], name=op.f("fk_list_members_list_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["saved_profiles.id"],
            name=op.f("fk_list_members_profile_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("list_id", "profile_id", name=op.f("pk_list_members")),
    )
    op.create_index("ix_list_members_profile_id", "list_members", ["profile_id"])
    _store_named_lists()


def downgrade() -> None:
    """Drop the lists; a saved profile keeps the list that its last save named."""
    op.drop_table("list_members")
    op.drop_table("contact_lists")
    op.execute(sa.delete(PROFILES).where(PROFILES.c.linkedin_url.is_(None)))
    op.drop_index("ix_reveals_owned", table_name="reveals")
    op.drop_index("ix_saved_profiles_workspace_id_created_at", table_name="saved_profiles")
    op.drop_index("ix_saved_profiles_contact_id", table_name="saved_profiles")
    with op.batch_alter_table("saved_profiles") as batch_op:
        batch_op.drop_constraint(op.f("ck_saved_profiles_profile_or_contact"), type_="check")
        batch_op.drop_constraint(op.f("uq_saved_profiles_workspace_id_contact_id"), type_="unique")
        batch_op.drop_constraint(op.f("fk_saved_profiles_contact_id"), type_="foreignkey")
        batch_op.drop_column("contact_id")
        batch_op.alter_column("linkedin_url", existing_type=sa.String(), nullable=False)


def _store_named_lists() -> None:
    """Insert each list that saved profiles name, and its members."""
    connection = op.get_bind()
    named = (
        sa.select(
            PROFILES.c.workspace_id,
            PROFILES.c.list_name.label("name"),
            sa.func.min(PROFILES.c.updated_at).label("created_at"),
            sa.func.max(PROFILES.c.updated_at).label("updated_at"),
        )
        .where(PROFILES.c.list_name.is_not(None))
        .group_by(PROFILES.c.workspace_id, PROFILES.c.list_name)
    )
    lists = [{"id": new_id("lst"), **row._mapping} for row in connection.execute(named)]  # noqa: SLF001 -- a row as a dict
    if lists:
        connection.execute(sa.insert(LISTS), lists)
    op.execute(
        """
        INSERT INTO list_members (list_id, profile_id, created_at)
        SELECT l.id, p.id, p.updated_at
        FROM saved_profiles p
        JOIN contact_lists l ON l.workspace_id = p.workspace_id AND l.name = p.list_name
        """
    )
