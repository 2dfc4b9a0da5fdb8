"""Stores the keys of companies' names again after the rules for these keys have changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.domain.normal.companies.company_names import company_key

_BATCH = 5_000
_COMPANIES = sa.table("companies", sa.column("id"), sa.column("name"), sa.column("name_key"))


def store_again() -> None:
    """Read every company, and write those whose key changes."""
    last = ""
    while rows := _rows_after(last):
        keys = [(row.id, company_key(row.name), row.name_key) for row in rows]
        changed = [{"company": row_id, "key": key} for row_id, key, stored in keys if key != stored]
        if changed:
            update = sa.update(_COMPANIES).where(_COMPANIES.c.id == sa.bindparam("company"))
            op.get_bind().execute(update.values(name_key=sa.bindparam("key")), changed)
        last = rows[-1].id


def _rows_after(last: str) -> list[sa.Row[tuple[str, str, str]]]:
    """Return the next companies with a name, in the order of their ids."""
    query = sa.select(_COMPANIES).where(_COMPANIES.c.id > last, _COMPANIES.c.name.is_not(None))
    return list(op.get_bind().execute(query.order_by(_COMPANIES.c.id).limit(_BATCH)))
