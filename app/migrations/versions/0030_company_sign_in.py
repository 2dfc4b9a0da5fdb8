"""Create the tables of two-factor sign-in and of the sign-in with a company account.

Revision: 0030, after 0029
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("accounts", sa.Column("totp_enabled_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("sessions", sa.Column("method", sa.String(), server_default="password", nullable=False))
    op.create_table(
        "totp_secrets",
        _account_id(),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("last_step", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        *_keys("totp_secrets", "account_id"),
    )
    op.create_table(
        "recovery_codes",
        _account_id(),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        *_keys("recovery_codes", "account_id", "digest"),
    )
    op.create_table(
        "company_identities",
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        _account_id(),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        *_keys("company_identities", "issuer", "subject"),
    )
    op.create_index("ix_company_identities_account_id", "company_identities", ["account_id"])
    op.create_table(
        "sign_in_codes",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        _account_id(),
        sa.Column("challenge", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        *_keys("sign_in_codes", "digest"),
    )
    op.create_index("ix_sign_in_codes_account_id", "sign_in_codes", ["account_id"])
    op.create_index("ix_sign_in_codes_expires_at", "sign_in_codes", ["expires_at"])


def downgrade() -> None:
    for table in ("sign_in_codes", "company_identities", "recovery_codes", "totp_secrets"):
        op.drop_table(table)
    op.drop_column("sessions", "method")
    op.drop_column("accounts", "totp_enabled_at")


def _account_id() -> sa.Column[str]:
    return sa.Column("account_id", sa.String(length=28), nullable=False)


def _keys(table: str, *primary: str) -> tuple[sa.Constraint, ...]:
    """Return the primary key of a table, and the foreign key to its account."""
    return (
        sa.PrimaryKeyConstraint(*primary, name=op.f(f"pk_{table}")),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name=op.f(f"fk_{table}_account_id_accounts"),
            ondelete="CASCADE",
        ),
    )
