"""Store by which list an identifier is suppressed, and by which version of the digest.

An identifier may stand in several lists, so the list becomes part of the primary key. Entries from before are
of version 1, which stays in use for them: the values that their digests were made of are not stored.

Revision: 0038, after 0037
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

KEY = "pk_suppressions"


def upgrade() -> None:
    with op.batch_alter_table("suppressions") as table:
        table.add_column(sa.Column("list_name", sa.String(), nullable=False, server_default=""))
        table.add_column(sa.Column("version", sa.SmallInteger(), nullable=False, server_default="1"))
    _set_key("digest", "list_name")
    op.add_column(
        "provider_opt_outs", sa.Column("version", sa.SmallInteger(), nullable=False, server_default="1")
    )


def downgrade() -> None:
    op.drop_column("provider_opt_outs", "version")
    twice = "SELECT digest FROM suppressions GROUP BY digest HAVING count(*) > 1"
    op.execute(
        f"DELETE FROM suppressions WHERE digest IN ({twice}) AND list_name <> "  # noqa: S608 -- no input
        "(SELECT min(list_name) FROM suppressions AS same WHERE same.digest = suppressions.digest)"
    )
    _set_key("digest")
    with op.batch_alter_table("suppressions") as table:
        table.drop_column("version")
        table.drop_column("list_name")


def _set_key(*columns: str) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint(KEY, "suppressions", type_="primary")
        op.create_primary_key(KEY, "suppressions", list(columns))
        return
    with op.batch_alter_table("suppressions") as table:
        table.drop_constraint(KEY, type_="primary")
        table.create_primary_key(KEY, list(columns))
