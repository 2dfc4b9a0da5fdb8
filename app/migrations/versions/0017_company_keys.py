"""Store the keys of companies' names again, by the rules for legal forms before the name or spelt out.

It reads every company and writes those whose key changes. A run that is interrupted changes nothing, and the
next one starts again.

Revision: 0017, after 0016
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.domain.normal.company_names import company_key

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

BATCH_SIZE = 5_000
COMPANIES = sa.table("companies", sa.column("id"), sa.column("name"), sa.column("name_key"))


def upgrade() -> None:
    last = ""
    while rows := _rows_after(last):
        keys = [(row.id, company_key(row.name), row.name_key) for row in rows]
        changed = [{"company": row_id, "key": key} for row_id, key, stored in keys if key != stored]
        if changed:
            update = sa.update(COMPANIES).where(COMPANIES.c.id == sa.bindparam("company"))
            op.get_bind().execute(update.values(name_key=sa.bindparam("key")), changed)
        last = rows[-1].id


def downgrade() -> None:
    """Keep the keys: the earlier version stores each again when it writes the company."""


def _rows_after(last: str) -> list[sa.Row[tuple[str, str, str]]]:
    """Return the next companies with a name, in the order of their ids."""
    query = sa.select(COMPANIES).where(COMPANIES.c.id > last, COMPANIES.c.name.is_not(None))
    return list(op.get_bind().execute(query.order_by(COMPANIES.c.id).limit(BATCH_SIZE)))
