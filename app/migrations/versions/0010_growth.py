"""Index what retention, leads and e-mail patterns read, and store the counts of large companies' people.

Revision: 0010, after 0009
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.migrations import indexes

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

LEARNED = sa.text("type = 'work' AND status = 'valid' AND form IS NOT NULL")
RETAINED = sa.text("finished_at IS NOT NULL AND request <> '{}'")
HASH_LOOKUP = sa.text("kind IN ('company_by_hash', 'leads_by_website_hash')")
RANK = sa.text(
    "(CASE seniority WHEN 'founder' THEN 0 WHEN 'owner' THEN 1 WHEN 'c_suite' THEN 2 WHEN 'partner' THEN 3"
    " WHEN 'vp' THEN 4 WHEN 'head' THEN 5 WHEN 'director' THEN 6 WHEN 'manager' THEN 7 WHEN 'senior' THEN 8"
    " WHEN 'entry' THEN 9 WHEN 'intern' THEN 10 ELSE 11 END)"
)


def upgrade() -> None:
    indexes.create_concurrently(
        "ix_contacts_company_id_rank", "contacts", ["company_id", RANK, sa.text("coalesce(last_key, '')")]
    )
    indexes.create_concurrently(
        "ix_emails_domain",
        "emails",
        ["domain", "id", "form"],
        sqlite_where=LEARNED,
        postgresql_where=LEARNED,
    )
    indexes.create_concurrently(
        "ix_jobs_retained", "jobs", ["finished_at"], sqlite_where=RETAINED, postgresql_where=RETAINED
    )
    indexes.create_concurrently(
        "ix_jobs_hash_lookup", "jobs", ["finished_at"], sqlite_where=HASH_LOOKUP, postgresql_where=HASH_LOOKUP
    )
    op.create_table(
        "people_counts",
        sa.Column("company_id", sa.String(length=28), nullable=False),
        sa.Column("filter", sa.String(), nullable=False),
        sa.Column("departments", sa.JSON().with_variant(postgresql.JSONB(), "postgresql"), nullable=False),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["company_id"], ["companies.id"], name=op.f("fk_people_counts_company_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("company_id", "filter", name=op.f("pk_people_counts")),
    )
    if op.get_bind().dialect.name == "postgresql":
        # Companies differ too much in size for their average: with it the planner would expect few people,
        # and would read and sort everyone instead of the first page of the index.
        op.execute("ALTER TABLE contacts ALTER COLUMN company_id SET (n_distinct = 100)")
    op.drop_index("ix_emails_domain_form", table_name="emails")


def downgrade() -> None:
    op.drop_index("ix_jobs_hash_lookup", table_name="jobs")
    op.drop_index("ix_jobs_retained", table_name="jobs")
    op.drop_index("ix_emails_domain", table_name="emails")
    op.create_index("ix_emails_domain_form", "emails", ["domain", "form"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE contacts ALTER COLUMN company_id RESET (n_distinct)")
    op.drop_index("ix_contacts_company_id_rank", table_name="contacts")
    op.drop_table("people_counts")
