"""Store the forms of the addresses that had none, by the rules for middle names and for addresses of no form.

It reads every work address without a form. A run that is interrupted changes nothing, and the next one starts
again.

Revision: 0019, after 0018
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from app.domain.email_patterns.recorded_forms import recorded_form
from app.domain.normal.names.names import PersonName

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

BATCH_SIZE = 5_000
EMAILS = sa.table(
    "emails",
    *(sa.column(name) for name in ("id", "contact_id", "email", "type", "form")),
    sa.column("sources", sa.JSON),
)
CONTACTS = sa.table("contacts", *(sa.column(name) for name in ("id", "first_name", "last_name", "full_name")))


def upgrade() -> None:
    last = ""
    while rows := _rows_after(last):
        forms = [{"email_id": row.id, "new": _form(row)} for row in rows]
        changed = [change for change in forms if change["new"] is not None]
        if changed:
            update = sa.update(EMAILS).where(EMAILS.c.id == sa.bindparam("email_id"))
            op.get_bind().execute(update.values(form=sa.bindparam("new")), changed)
        last = rows[-1].id


def downgrade() -> None:
    """Keep the forms: the earlier version counts those it does not know as addresses of no form."""


def _form(row: sa.Row[Any]) -> str | None:
    if all(source["kind"] == "pattern" for source in row.sources):
        return None
    name = PersonName(row.first_name or "", row.last_name or "", row.full_name)
    return recorded_form(row.email, name)


def _rows_after(last: str) -> list[sa.Row[Any]]:
    """Return the next work addresses without a form of people with a name, in the order of their ids."""
    query = (
        sa.select(EMAILS, CONTACTS.c.first_name, CONTACTS.c.last_name, CONTACTS.c.full_name)
        .join(CONTACTS, CONTACTS.c.id == EMAILS.c.contact_id)
        .where(EMAILS.c.id > last, EMAILS.c.type == "work", EMAILS.c.form.is_(None))
        .where(CONTACTS.c.full_name.is_not(None))
    )
    return list(op.get_bind().execute(query.order_by(EMAILS.c.id).limit(BATCH_SIZE)))
