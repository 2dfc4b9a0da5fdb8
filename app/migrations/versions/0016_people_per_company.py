"""Set PostgreSQL's estimate to 1,000 people per company, however many contacts there are.

The estimate used to grow with the number of contacts. With ten million, PostgreSQL read the whole table to
count the people of 16 companies.

Revision: 0016, after 0015
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _expect("-0.001")  # a thousandth of the contacts: 1,000 people in each company


def downgrade() -> None:
    _expect("100")


def _expect(companies: str) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE contacts ALTER COLUMN company_id SET (n_distinct = {companies})")
        op.execute("ANALYZE contacts (company_id)")
