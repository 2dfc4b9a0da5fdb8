"""Store the keys of contacts' family names again: in Latin letters, and without Jr., Sr. and their like.

It reads every contact and writes those whose key changes. A run that is interrupted changes nothing, and the
next one starts again.

Revision: 0051, after 0050
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.domain.normal.names.latin_names import family_key

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

BATCH_SIZE = 5_000
CONTACTS = sa.table(
    "contacts", sa.column("id"), sa.column("full_name"), sa.column("last_name"), sa.column("last_key")
)


def upgrade() -> None:
    last = ""
    while rows := _rows_after(last):
        keys = [(row.id, family_key(row.last_name, row.full_name), row.last_key) for row in rows]
        changed = [{"contact": row_id, "key": key} for row_id, key, stored in keys if key != stored]
        if changed:
            update = sa.update(CONTACTS).where(CONTACTS.c.id == sa.bindparam("contact"))
            op.get_bind().execute(update.values(last_key=sa.bindparam("key")), changed)
        last = rows[-1].id


def downgrade() -> None:
    """Keep the keys: the earlier version stores each again when it writes the contact."""


def _rows_after(last: str) -> list[sa.Row[tuple[str, str, str | None, str | None]]]:
    """Return the next contacts with a name, in the order of their ids."""
    query = sa.select(CONTACTS).where(CONTACTS.c.id > last, CONTACTS.c.full_name.is_not(None))
    return list(op.get_bind().execute(query.order_by(CONTACTS.c.id).limit(BATCH_SIZE)))
