"""Create the tables of version 0.1.0.

Revision: 0100, the first. Databases of development versions before 0.1.0 have lower numbers.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0100"
down_revision = None
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")

LIVE = "status IN ('queued', 'running')"
RETAINED_SINCE = sa.text("(CASE WHEN verified_at > first_seen_at THEN verified_at ELSE first_seen_at END)")
RANK = sa.text(
    "(CASE seniority WHEN 'founder' THEN 0 WHEN 'owner' THEN 1 WHEN 'c_suite' THEN 2 WHEN 'partner' THEN 3"
    " WHEN 'vp' THEN 4 WHEN 'head' THEN 5 WHEN 'director' THEN 6 WHEN 'manager' THEN 7 WHEN 'senior' THEN 8"
    " WHEN 'entry' THEN 9 WHEN 'intern' THEN 10 ELSE 11 END)"
)
NAME_WORDS = sa.text(
    "(array_to_tsvector(string_to_array(btrim(\"left\"(coalesce(name_key, ''), 500)), ' ')))"
)
SEARCH_TERMS = sa.text(
    """(
    array_to_tsvector(string_to_array(btrim(coalesce(title_terms, '')), ' ') || ARRAY[
        'k:' || coalesce(company_id, ''),
        'c:' || "left"(coalesce(country, ''), 40),
        's:' || "left"(coalesce(seniority, ''), 40),
        'd:' || "left"(coalesce(department, ''), 40),
        'cs:' || "left"(coalesce(country, ''), 40) || '/' || "left"(coalesce(seniority, ''), 40),
        'cd:' || "left"(coalesce(country, ''), 40) || '/' || "left"(coalesce(department, ''), 40),
        'sd:' || "left"(coalesce(seniority, ''), 40) || '/' || "left"(coalesce(department, ''), 40),
        'csd:' || "left"(coalesce(country, ''), 40) || '/' || "left"(coalesce(seniority, ''), 40)
            || '/' || "left"(coalesce(department, ''), 40)
    ]))"""
)

_REVEAL = """
    INSERT INTO audit_log_pending (occurred_at, actor_kind, actor_id, action, object_id, workspace_id,
                                   reason, request_id, outcome)
    SELECT {now},
           CASE WHEN job.key_id IS NOT NULL THEN 'api_key' WHEN job.account_id IS NOT NULL THEN 'account'
                ELSE 'system' END,
           coalesce(job.key_id, job.account_id), 'reveal.' || NEW.field, NEW.contact_id, NEW.workspace_id,
           NEW.purpose, NEW.job_id, 'succeeded'
    FROM (SELECT 1 AS one) AS one LEFT JOIN jobs AS job ON job.id = NEW.job_id;
"""
_IS_SEALED = "EXISTS (SELECT 1 FROM audit_log WHERE pending_id = OLD.id)"
_APPEND_ONLY = "audit_log_append_only"
_REFUSAL = "the audit log is append-only"

_POSTGRESQL = (
    f"""
CREATE FUNCTION audit_log_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '{_REFUSAL}';
END $$
""",
    f"""
CREATE FUNCTION audit_log_keep_pending() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT {_IS_SEALED} THEN
        RAISE EXCEPTION '{_REFUSAL}';
    END IF;
    RETURN OLD;
END $$
""",
    f"""
CREATE FUNCTION audit_log_record_reveal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {_REVEAL.format(now="statement_timestamp()")}
    RETURN NULL;
END $$
""",
    f"""
CREATE TRIGGER {_APPEND_ONLY} BEFORE UPDATE OR DELETE ON audit_log
FOR EACH ROW EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_pending_no_update BEFORE UPDATE ON audit_log_pending
FOR EACH ROW EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_pending_no_truncate BEFORE TRUNCATE ON audit_log_pending
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_refuse()
""",
    """
CREATE TRIGGER audit_log_pending_until_sealed BEFORE DELETE ON audit_log_pending
FOR EACH ROW EXECUTE FUNCTION audit_log_keep_pending()
""",
    """
CREATE TRIGGER audit_log_reveal_bought AFTER INSERT ON reveals
FOR EACH ROW EXECUTE FUNCTION audit_log_record_reveal()
""",
    """
CREATE TRIGGER audit_log_reveal_bought_again AFTER UPDATE OF job_id ON reveals
FOR EACH ROW WHEN (NEW.job_id IS DISTINCT FROM OLD.job_id) EXECUTE FUNCTION audit_log_record_reveal()
""",
)
_SQLITE_NOW = "strftime('%Y-%m-%d %H:%M:%f', 'now') || '000'"
_SQLITE = (
    f"""
CREATE TRIGGER {_APPEND_ONLY} BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END
""",
    f"""
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END
""",
    f"""
CREATE TRIGGER audit_log_pending_no_update BEFORE UPDATE ON audit_log_pending
BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END
""",
    f"""
CREATE TRIGGER audit_log_pending_until_sealed BEFORE DELETE ON audit_log_pending WHEN NOT {_IS_SEALED}
BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END
""",
    f"""
CREATE TRIGGER audit_log_reveal_bought AFTER INSERT ON reveals
BEGIN {_REVEAL.format(now=_SQLITE_NOW)} END
""",
    f"""
CREATE TRIGGER audit_log_reveal_bought_again AFTER UPDATE OF job_id ON reveals
WHEN NEW.job_id IS NOT OLD.job_id
BEGIN {_REVEAL.format(now=_SQLITE_NOW)} END
""",
)


def upgrade() -> None:
    _create_accounts()
    _create_contacts()
    _create_ledger()
    _create_matching()
    _create_lookups()
    _create_imports()
    _create_verifications()
    _create_providers()
    _create_workers()
    _create_work_items()
    _create_jobs_and_webhooks()
    _create_uploads()
    _create_verified_lists()
    _create_crm_connections()
    _create_crm_schedules()
    _create_mentions()
    _create_privacy()
    _create_audits()
    _create_audit_log()
    for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL:
        op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    raise NotImplementedError("These are the first tables: delete the database instead.")


def _where(condition: str) -> dict[str, Any]:
    """Return the options of an index of the rows that meet a condition."""
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def _expect_people_per_company() -> None:
    """Set PostgreSQL's estimate to 1,000 people per company, however many contacts there are.

    Companies differ too much in size for their average. With it the planner would read and sort everyone
    instead of the first page of an index, or read the whole table to count the people of 16 companies.
    """
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE contacts ALTER COLUMN company_id SET (n_distinct = -0.001)")


def _create_accounts() -> None:
    op.create_table(
        "failed_sign_ins",
        sa.Column("bucket", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("bucket", name=op.f("pk_failed_sign_ins")),
    )

    op.create_table(
        "workspaces",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("available", sa.BigInteger(), nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("is_limited", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("denied_to_members", JSON),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
        sa.CheckConstraint("available >= 0", name=op.f("ck_workspaces_available_not_negative")),
        sa.CheckConstraint("held >= 0", name=op.f("ck_workspaces_held_not_negative")),
    )

    op.create_table(
        "accounts",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("permissions", JSON),
        sa.Column("api_access", sa.Boolean(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=False),
        sa.Column("disabled_at", TIME),
        sa.Column("disabled_by_operator", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("totp_enabled_at", TIME),
        sa.Column("language", sa.String(8)),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.CheckConstraint("role IN ('member', 'admin')", name=op.f("ck_accounts_role_known")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_accounts_workspace_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("email", name=op.f("uq_accounts_email")),
    )
    op.create_index("ix_accounts_workspace_id", "accounts", ["workspace_id"])

    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("account_id", sa.String(28), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("scopes", JSON, nullable=False),
        sa.Column("permissions", JSON),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME),
        sa.Column("last_used_at", TIME),
        sa.Column("revoked_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_api_keys_account_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_keys_token_hash")),
    )
    op.create_index("ix_api_keys_account_id", "api_keys", ["account_id"])

    op.create_table(
        "scim_tokens",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created_by", sa.String(28)),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_scim_tokens")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_scim_tokens_workspace_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("digest", name=op.f("uq_scim_tokens_digest")),
    )

    op.create_table(
        "scim_users",
        sa.Column("account_id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("user_key", sa.String(), nullable=False),
        sa.Column("external_id", sa.String()),
        sa.Column("data", JSON, nullable=False),
        sa.Column("has_seat", sa.Boolean(), nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("removed_at", TIME),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_scim_users")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_scim_users_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_scim_users_workspace_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("workspace_id", "user_key", name=op.f("uq_scim_users_workspace_id_user_key")),
    )

    op.create_table(
        "scim_groups",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False),
        sa.Column("external_id", sa.String()),
        sa.Column("role", sa.String()),
        sa.Column("permissions", JSON),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scim_groups")),
        sa.CheckConstraint("role IN ('member', 'admin')", name=op.f("ck_scim_groups_role_known")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_scim_groups_workspace_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("workspace_id", "name_key", name=op.f("uq_scim_groups_workspace_id_name_key")),
    )

    op.create_table(
        "scim_members",
        sa.Column("group_id", sa.String(28), nullable=False),
        sa.Column("account_id", sa.String(28), nullable=False),
        sa.PrimaryKeyConstraint("group_id", "account_id", name=op.f("pk_scim_members")),
        sa.ForeignKeyConstraint(
            ["group_id"], ["scim_groups.id"], name=op.f("fk_scim_members_group_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_scim_members_account_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_scim_members_account_id", "scim_members", ["account_id"])

    op.create_table(
        "password_resets",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("account_id", sa.String(28)),
        sa.Column("address_digest", sa.LargeBinary()),
        sa.Column("token_digest", sa.LargeBinary()),
        sa.Column("issued_for", sa.LargeBinary()),
        sa.Column("admin_id", sa.String(28)),
        sa.Column("language", sa.String(8)),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_password_resets")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_password_resets_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["admin_id"], ["accounts.id"], name=op.f("fk_password_resets_admin_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("address_digest", name=op.f("uq_password_resets_address_digest")),
        sa.UniqueConstraint("token_digest", name=op.f("uq_password_resets_token_digest")),
    )
    op.create_index("ix_password_resets_account_id", "password_resets", ["account_id"])
    op.create_index("ix_password_resets_expires_at", "password_resets", ["expires_at"])

    op.create_table(
        "company_identities",
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("account_id", sa.String(28), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("issuer", "subject", name=op.f("pk_company_identities")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_company_identities_account_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_company_identities_account_id", "company_identities", ["account_id"])

    op.create_table(
        "recovery_codes",
        sa.Column("account_id", sa.String(28), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "digest", name=op.f("pk_recovery_codes")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_recovery_codes_account_id"), ondelete="CASCADE"
        ),
    )

    op.create_table(
        "sessions",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("account_id", sa.String(28), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("network_digest", sa.LargeBinary(), nullable=False),
        sa.Column("client_name", sa.String()),
        sa.Column("client_version", sa.String()),
        sa.Column("method", sa.String(), nullable=False, server_default="password"),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.Column("last_used_at", TIME, nullable=False),
        sa.Column("revoked_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_sessions_account_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sessions_token_hash")),
    )
    op.create_index("ix_sessions_account_id", "sessions", ["account_id"])

    op.create_table(
        "sign_in_codes",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("account_id", sa.String(28), nullable=False),
        sa.Column("challenge", sa.String(), nullable=False),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_sign_in_codes")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_sign_in_codes_account_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_sign_in_codes_account_id", "sign_in_codes", ["account_id"])
    op.create_index("ix_sign_in_codes_expires_at", "sign_in_codes", ["expires_at"])

    op.create_table(
        "totp_secrets",
        sa.Column("account_id", sa.String(28), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("last_step", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_totp_secrets")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_totp_secrets_account_id"), ondelete="CASCADE"
        ),
    )


def _create_contacts() -> None:
    op.create_table(
        "companies",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("name", sa.String()),
        sa.Column("name_key", sa.String()),
        sa.Column("domain", sa.String()),
        sa.Column("domain_hash", sa.LargeBinary()),
        sa.Column("linkedin_url", sa.String()),
        sa.Column("linkedin_hash", sa.LargeBinary()),
        sa.Column("industry", sa.String()),
        sa.Column("headcount", sa.String()),
        sa.Column("city", sa.String()),
        sa.Column("country", sa.String()),
        sa.Column("provenance", JSON, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_companies")),
        sa.UniqueConstraint("domain", name=op.f("uq_companies_domain")),
        sa.UniqueConstraint("domain_hash", name=op.f("uq_companies_domain_hash")),
        sa.UniqueConstraint("linkedin_hash", name=op.f("uq_companies_linkedin_hash")),
        sa.UniqueConstraint("linkedin_url", name=op.f("uq_companies_linkedin_url")),
    )
    op.create_index("ix_companies_name_key", "companies", ["name_key"])
    op.create_index("ix_companies_industry", "companies", [sa.text("lower(industry)"), "headcount"])

    op.create_table(
        "suppressions",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("list_name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("digest", "list_name", name=op.f("pk_suppressions")),
    )
    op.create_index("ix_suppressions_created_at", "suppressions", ["created_at"])

    op.create_table(
        "exclusions",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("note", sa.String()),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exclusions")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_exclusions_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("digest", name=op.f("uq_exclusions_digest")),
    )
    op.create_index("ix_exclusions_workspace_id", "exclusions", ["workspace_id", "created_at", "id"])

    op.create_table(
        "call_registers",
        sa.Column("id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("country", sa.String(2), nullable=False),
        sa.Column("edition", sa.String(28), nullable=False),
        sa.Column("prefixes", JSON, nullable=False),
        sa.Column("is_complete", sa.Boolean(), nullable=False),
        sa.Column("date", TIME, nullable=False),
        sa.Column("loaded_at", TIME, nullable=False),
        sa.Column("changed_at", TIME, nullable=False),
        sa.Column("numbers", sa.BigInteger(), nullable=False),
        sa.Column("max_age_days", sa.Integer(), nullable=False),
        sa.Column("effect", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_call_registers")),
    )

    op.create_table(
        "call_register_blocks",
        sa.Column("edition", sa.String(28), nullable=False),
        sa.Column("block", sa.Integer(), nullable=False),
        sa.Column("digests", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("edition", "block", name=op.f("pk_call_register_blocks")),
    )

    op.create_table(
        "credit_schedules",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("credits", sa.BigInteger(), nullable=False),
        sa.Column("per_seat", sa.Boolean(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("carried", sa.BigInteger()),
        sa.Column("left", sa.BigInteger(), nullable=False),
        sa.Column("spent_before", sa.BigInteger(), nullable=False),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("last_at", TIME),
        sa.Column("paused_at", TIME),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_credit_schedules")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_credit_schedules_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_credit_schedules_next_at", "credit_schedules", ["next_at"])

    op.create_table(
        "call_register_effects",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("register_id", sa.String(40), nullable=False),
        sa.Column("effect", sa.String(), nullable=False),
        sa.Column("changed_by", sa.String()),
        sa.Column("changed_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "register_id", name=op.f("pk_call_register_effects")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_call_register_effects_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["register_id"],
            ["call_registers.id"],
            name=op.f("fk_call_register_effects_register_id"),
            ondelete="CASCADE",
        ),
    )

    op.create_table(
        "contact_lists",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contact_lists")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_contact_lists_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("workspace_id", "name", name=op.f("uq_contact_lists_workspace_id_name")),
    )

    op.create_table(
        "contacts",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("full_name", sa.String()),
        sa.Column("first_name", sa.String()),
        sa.Column("last_name", sa.String()),
        sa.Column("name_key", sa.String()),
        sa.Column("last_key", sa.String()),
        sa.Column("title", sa.String()),
        sa.Column("title_terms", sa.String()),
        sa.Column("seniority", sa.String()),
        sa.Column("department", sa.String()),
        sa.Column("linkedin_url", sa.String()),
        sa.Column("member_url", sa.String()),
        sa.Column("linkedin_shared", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("city", sa.String()),
        sa.Column("country", sa.String()),
        sa.Column("company_id", sa.String(28)),
        sa.Column("provenance", JSON, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("notified_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contacts")),
        sa.ForeignKeyConstraint(
            ["company_id"], ["companies.id"], name=op.f("fk_contacts_company_id"), ondelete="SET NULL"
        ),
        sa.UniqueConstraint("linkedin_url", name=op.f("uq_contacts_linkedin_url")),
    )
    op.create_index("ix_contacts_company_id_last_key", "contacts", ["company_id", "last_key"])
    op.create_index("ix_contacts_company_id_name_key", "contacts", ["company_id", "name_key"])
    op.create_index(
        "ix_contacts_company_id_rank", "contacts", ["company_id", RANK, sa.text("coalesce(last_key, '')")]
    )
    op.create_index("ix_contacts_last_key", "contacts", ["last_key", "name_key"])
    op.create_index(
        "ix_contacts_member_url", "contacts", ["member_url"], unique=True, **_where("member_url IS NOT NULL")
    )
    op.create_index("ix_contacts_name_key", "contacts", ["name_key"])
    if op.get_bind().dialect.name == "postgresql":
        op.create_index("ix_contacts_name_words", "contacts", [NAME_WORDS], postgresql_using="gin")
        op.create_index("ix_contacts_search", "contacts", [SEARCH_TERMS], postgresql_using="gin")
    op.create_index(
        "ix_contacts_unnotified", "contacts", ["created_at", "id"], **_where("notified_at IS NULL")
    )
    _expect_people_per_company()

    op.create_table(
        "emails",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("contact_id", sa.String(28), nullable=False),
        sa.Column("email_index", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("status_reasons", JSON, nullable=False),
        sa.Column("confidence", sa.Double()),
        sa.Column("form", sa.String()),
        sa.Column("verified_at", TIME),
        sa.Column("first_seen_at", TIME, nullable=False),
        sa.Column("last_seen_at", TIME, nullable=False),
        sa.Column("sources", JSON, nullable=False),
        sa.Column("reported_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_emails")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_emails_contact_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("contact_id", "email_index", name=op.f("uq_emails_contact_id_email_index")),
    )
    op.create_index(
        "ix_emails_domain",
        "emails",
        ["domain", "id", "form"],
        **_where("type = 'work' AND status = 'valid' AND form IS NOT NULL"),
    )
    op.create_index("ix_emails_email_index", "emails", ["email_index"])
    op.create_index("ix_emails_retained_since", "emails", [RETAINED_SINCE])

    op.create_table(
        "phones",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("contact_id", sa.String(28), nullable=False),
        sa.Column("e164_index", sa.String(), nullable=False),
        sa.Column("e164", sa.String(), nullable=False),
        sa.Column("national", sa.String(), nullable=False),
        sa.Column("extension", sa.String()),
        sa.Column("country", sa.String()),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("line_type", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("confidence", sa.Double()),
        sa.Column("do_not_call", sa.Boolean()),
        sa.Column("do_not_call_at", TIME),
        sa.Column("verified_at", TIME),
        sa.Column("first_seen_at", TIME, nullable=False),
        sa.Column("last_seen_at", TIME, nullable=False),
        sa.Column("sources", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_phones")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_phones_contact_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("contact_id", "e164_index", name=op.f("uq_phones_contact_id_e164_index")),
    )
    op.create_index("ix_phones_e164_index", "phones", ["e164_index"])
    op.create_index("ix_phones_retained_since", "phones", [RETAINED_SINCE])

    op.create_table(
        "rejected_values",
        sa.Column("contact_id", sa.String(28), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("contact_id", "digest", name=op.f("pk_rejected_values")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_rejected_values_contact_id"), ondelete="CASCADE"
        ),
    )

    op.create_table(
        "saved_profiles",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("linkedin_url", sa.String()),
        sa.Column("contact_id", sa.String(28)),
        sa.Column("full_name", sa.String()),
        sa.Column("name_key", sa.String()),
        sa.Column("headline", sa.String()),
        sa.Column("title", sa.String()),
        sa.Column("location", sa.String()),
        sa.Column("company_name", sa.String()),
        sa.Column("company_domain", sa.String()),
        sa.Column("company_linkedin_url", sa.String()),
        sa.Column("list_name", sa.String()),
        sa.Column("tags", JSON, nullable=False),
        sa.Column("note", sa.String()),
        sa.Column("saved_by", sa.String()),
        sa.Column("captured", JSON, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_profiles")),
        sa.CheckConstraint(
            "(linkedin_url IS NULL) <> (contact_id IS NULL)",
            name=op.f("ck_saved_profiles_profile_or_contact"),
        ),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_saved_profiles_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_saved_profiles_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint(
            "workspace_id", "contact_id", name=op.f("uq_saved_profiles_workspace_id_contact_id")
        ),
        sa.UniqueConstraint(
            "workspace_id", "linkedin_url", name=op.f("uq_saved_profiles_workspace_id_linkedin_url")
        ),
    )
    op.create_index("ix_saved_profiles_contact_id", "saved_profiles", ["contact_id"])
    op.create_index("ix_saved_profiles_linkedin_url", "saved_profiles", ["linkedin_url"])
    if op.get_bind().dialect.name == "postgresql":
        op.create_index(
            "ix_saved_profiles_name_words", "saved_profiles", [NAME_WORDS], postgresql_using="gin"
        )
    op.create_index("ix_saved_profiles_updated_at", "saved_profiles", ["updated_at"])
    op.create_index(
        "ix_saved_profiles_workspace_id_created_at", "saved_profiles", ["workspace_id", "created_at", "id"]
    )

    op.create_table(
        "feedback",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String()),
        sa.Column("contact_id", sa.String(28), nullable=False),
        sa.Column("email_id", sa.String(28)),
        sa.Column("phone_id", sa.String(28)),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("providers", JSON, nullable=False),
        sa.Column("country", sa.String()),
        sa.Column("refunded", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("confirmed_at", TIME),
        sa.Column("refuted_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_feedback_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["email_id"], ["emails.id"], name=op.f("fk_feedback_email_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["phone_id"], ["phones.id"], name=op.f("fk_feedback_phone_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_feedback_workspace_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint(
            "email_id", "workspace_id", "kind", name=op.f("uq_feedback_email_id_workspace_id_kind")
        ),
        sa.UniqueConstraint(
            "phone_id", "workspace_id", "kind", name=op.f("uq_feedback_phone_id_workspace_id_kind")
        ),
        sa.CheckConstraint("(email_id IS NULL) <> (phone_id IS NULL)", name=op.f("ck_feedback_of_one_value")),
    )
    op.create_index("ix_feedback_contact_id", "feedback", ["contact_id"])
    op.create_index("ix_feedback_kind_created_at", "feedback", ["kind", "created_at"])
    op.create_index("ix_feedback_workspace_id_created_at", "feedback", ["workspace_id", "created_at"])

    op.create_table(
        "list_members",
        sa.Column("list_id", sa.String(28), nullable=False),
        sa.Column("profile_id", sa.String(28), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("list_id", "profile_id", name=op.f("pk_list_members")),
        sa.ForeignKeyConstraint(
            ["list_id"], ["contact_lists.id"], name=op.f("fk_list_members_list_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["profile_id"], ["saved_profiles.id"], name=op.f("fk_list_members_profile_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_list_members_profile_id", "list_members", ["profile_id"])


def _create_verified_lists() -> None:
    op.create_table(
        "dial_links",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_dial_links")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_dial_links_workspace_id"), ondelete="CASCADE"
        ),
    )
    op.create_table(
        "verification_lists",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String()),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("duplicates", sa.Integer(), nullable=False),
        sa.Column("unreadable", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verification_lists")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_verification_lists_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_verification_lists_workspace_id", "verification_lists", ["workspace_id", "id"])
    op.create_index("ix_verification_lists_created_at", "verification_lists", ["created_at"])
    op.create_table(
        "verification_jobs",
        sa.Column("list_id", sa.String(28), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(28), nullable=False),
        sa.PrimaryKeyConstraint("list_id", "number", name=op.f("pk_verification_jobs")),
        sa.ForeignKeyConstraint(
            ["list_id"],
            ["verification_lists.id"],
            name=op.f("fk_verification_jobs_list_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_verification_jobs_job_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_verification_jobs_job_id", "verification_jobs", ["job_id"])
    op.create_table(
        "verification_values",
        sa.Column("list_id", sa.String(28), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(28), nullable=False),
        sa.Column("item", sa.Integer(), nullable=False),
        sa.Column("domain", sa.LargeBinary()),
        sa.Column("status", sa.String()),
        sa.PrimaryKeyConstraint("list_id", "position", name=op.f("pk_verification_values")),
        sa.ForeignKeyConstraint(
            ["list_id"],
            ["verification_lists.id"],
            name=op.f("fk_verification_values_list_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_verification_values_job_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_verification_values_job_id", "verification_values", ["job_id", "item"])


def _create_ledger() -> None:
    op.create_table(
        "ledger",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String()),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("available", sa.BigInteger(), nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.String()),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_ledger_workspace_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_ledger_refund", "ledger", ["job_id"], **_where("kind = 'refund'"))
    op.create_index("ix_ledger_workspace_id_created_at", "ledger", ["workspace_id", "created_at"])
    op.create_index(
        "uq_ledger_close", "ledger", ["job_id"], unique=True, **_where("kind IN ('settle', 'release')")
    )
    op.create_index("uq_ledger_hold", "ledger", ["job_id"], unique=True, **_where("kind = 'hold'"))

    op.create_table(
        "revealed_values",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("value_index", sa.String(), nullable=False),
        sa.Column("contact_id", sa.String(28), nullable=False),
        sa.Column("job_id", sa.String()),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "field", "value_index", name=op.f("pk_revealed_values")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_revealed_values_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_revealed_values_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_revealed_values_contact_id", "revealed_values", ["contact_id"])

    op.create_table(
        "reveals",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("contact_id", sa.String(28), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("credits", sa.Integer(), nullable=False),
        sa.Column("purpose", sa.String()),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("refunded_at", TIME),
        sa.Column("verify_at", TIME, nullable=False, server_default="1970-01-01 00:00:00+00:00"),
        sa.PrimaryKeyConstraint("workspace_id", "contact_id", "field", name=op.f("pk_reveals")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_reveals_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_reveals_workspace_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_reveals_contact_id", "reveals", ["contact_id"])
    op.create_index("ix_reveals_job_id", "reveals", ["job_id"])
    op.create_index(
        "ix_reveals_owned",
        "reveals",
        ["workspace_id", "created_at", "contact_id"],
        **_where("refunded_at IS NULL"),
    )
    op.create_index("ix_reveals_verify_at", "reveals", ["verify_at"], **_where("field = 'email'"))

    op.create_table(
        "spending_limits",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(28)),
        sa.Column("key_id", sa.String(28)),
        sa.Column("period", sa.String(), nullable=False),
        sa.Column("credits", sa.BigInteger(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_spending_limits")),
        sa.CheckConstraint(
            "(account_id IS NULL) <> (key_id IS NULL)", name=op.f("ck_spending_limits_one_subject")
        ),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_spending_limits_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["key_id"], ["api_keys.id"], name=op.f("fk_spending_limits_key_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_spending_limits_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("account_id", "period", name=op.f("uq_spending_limits_account")),
        sa.UniqueConstraint("key_id", "period", name=op.f("uq_spending_limits_key")),
    )
    op.create_index("ix_spending_limits_workspace_id", "spending_limits", ["workspace_id"])

    op.create_table(
        "spending_counters",
        sa.Column("limit_id", sa.String(28), nullable=False),
        sa.Column("starts_at", TIME, nullable=False),
        sa.Column("ends_at", TIME, nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("alerted", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("limit_id", "starts_at", name=op.f("pk_spending_counters")),
        sa.ForeignKeyConstraint(
            ["limit_id"],
            ["spending_limits.id"],
            name=op.f("fk_spending_counters_limit_id"),
            ondelete="CASCADE",
        ),
    )


def _create_matching() -> None:
    op.create_table(
        "reverse_lookups",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("value_digest", sa.LargeBinary(), nullable=False),
        sa.Column("domain_digest", sa.LargeBinary()),
        sa.Column("person_digest", sa.LargeBinary()),
        sa.Column("tried_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "value_digest", name=op.f("pk_reverse_lookups")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_reverse_lookups_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_reverse_lookups_tried_at", "reverse_lookups", ["tried_at"])

    op.create_table(
        "own_verifications",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("verified_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "digest", name=op.f("pk_own_verifications")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_own_verifications_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_own_verifications_verified_at", "own_verifications", ["verified_at"])

    op.create_table(
        "caller_identifiers",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("contact_id", sa.String(28), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "digest", "contact_id", name=op.f("pk_caller_identifiers")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_caller_identifiers_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_caller_identifiers_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_caller_identifiers_contact_id", "caller_identifiers", ["contact_id"])
    op.create_index("ix_caller_identifiers_digest", "caller_identifiers", ["digest"])


def _create_lookups() -> None:
    op.create_table(
        "company_card_keys",
        sa.Column("card_id", sa.LargeBinary(), nullable=False),
        sa.Column("company_hash", sa.LargeBinary(), nullable=False),
        sa.Column("oprf_key_id", sa.LargeBinary(), nullable=False),
        sa.Column("wrapped_key", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("card_id", name=op.f("pk_company_card_keys")),
    )
    op.create_index("ix_company_card_keys_company_hash", "company_card_keys", ["company_hash"])

    op.create_table(
        "company_filters",
        sa.Column("bits", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("checked_at", TIME, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("source_digest", sa.LargeBinary()),
        sa.Column("etag", sa.String()),
        sa.Column("content", sa.LargeBinary()),
        sa.Column("oprf_public_key", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("bits", name=op.f("pk_company_filters")),
    )

    op.create_table(
        "people_counts",
        sa.Column("company_id", sa.String(28), nullable=False),
        sa.Column("filter_key", sa.String(), nullable=False),
        sa.Column("departments", JSON, nullable=False),
        sa.Column("counted_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("company_id", "filter_key", name=op.f("pk_people_counts")),
        sa.ForeignKeyConstraint(
            ["company_id"], ["companies.id"], name=op.f("fk_people_counts_company_id"), ondelete="CASCADE"
        ),
    )


def _create_imports() -> None:
    op.create_table(
        "import_runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("entity", sa.String(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("touched_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import_runs")),
    )
    op.create_index("ix_import_runs_touched_at", "import_runs", ["touched_at"])

    op.create_table(
        "queued_imports",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("file", sa.String(), nullable=False),
        sa.Column("entity", sa.String(), nullable=False),
        sa.Column("options", JSON, nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("modified", sa.BigInteger(), nullable=False),
        sa.Column("rows_done", sa.BigInteger(), nullable=False),
        sa.Column("bytes_done", sa.BigInteger(), nullable=False),
        sa.Column("rejects_bytes", sa.BigInteger(), nullable=False),
        sa.Column("result", JSON, nullable=False),
        sa.Column("detail", sa.String()),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("started_at", TIME),
        sa.Column("finished_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_queued_imports")),
    )
    op.create_index(
        "uq_queued_imports_file", "queued_imports", ["file"], unique=True, **_where("finished_at IS NULL")
    )

    op.create_table(
        "imported_rows",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("contact_id", sa.String(28), nullable=False),
        sa.Column("checked_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_imported_rows")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_imported_rows_contact_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_imported_rows_checked_at", "imported_rows", ["checked_at"], postgresql_using="brin")
    op.create_index("ix_imported_rows_contact_id", "imported_rows", ["contact_id"])


def _create_verifications() -> None:
    op.create_table(
        "verifications",
        sa.Column("email_id", sa.String(28), nullable=False),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("planned_at", TIME, nullable=False),
        sa.Column("provider", sa.String()),
        sa.Column("ticket", sa.String()),
        sa.PrimaryKeyConstraint("email_id", name=op.f("pk_verifications")),
        sa.ForeignKeyConstraint(
            ["email_id"], ["emails.id"], name=op.f("fk_verifications_email_id"), ondelete="CASCADE"
        ),
    )


def _create_providers() -> None:
    op.create_table(
        "provider_gates",
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("tokens", JSON, nullable=False),
        sa.Column("refilled_at", TIME, nullable=False),
        sa.Column("window_at", TIME, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("open_until", TIME),
        sa.Column("paused_until", TIME),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("window_calls", sa.Integer(), nullable=False),
        sa.Column("window_failures", sa.Integer(), nullable=False),
        sa.Column("last_outcome", sa.String()),
        sa.PrimaryKeyConstraint("provider", name=op.f("pk_provider_gates")),
    )

    op.create_table(
        "website_readings",
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("read_at", TIME),
        sa.Column("reading_until", TIME),
        sa.Column("reason", sa.String()),
        sa.Column("pages", JSON, nullable=False),
        sa.PrimaryKeyConstraint("domain", name=op.f("pk_website_readings")),
    )

    op.create_table(
        "website_forms",
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
        sa.Column("people", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("domain", "form", name=op.f("pk_website_forms")),
        sa.ForeignKeyConstraint(
            ["domain"],
            ["website_readings.domain"],
            name=op.f("fk_website_forms_domain"),
            ondelete="CASCADE",
        ),
    )

    op.create_table(
        "website_addresses",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("email_index", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_website_addresses")),
        sa.ForeignKeyConstraint(
            ["domain"],
            ["website_readings.domain"],
            name=op.f("fk_website_addresses_domain"),
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint(
            "domain", "email_index", "url", name=op.f("uq_website_addresses_domain_email_index_url")
        ),
    )
    op.create_index("ix_website_addresses_email_index", "website_addresses", ["email_index"])

    op.create_table(
        "provider_opt_outs",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("subject_digest", sa.LargeBinary(), nullable=False),
        sa.Column("asked_by", JSON, nullable=False),
        sa.Column("kind", sa.String()),
        sa.Column("digest", sa.LargeBinary()),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("reviewed_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider_opt_outs")),
        sa.UniqueConstraint(
            "provider", "subject_digest", name=op.f("uq_provider_opt_outs_provider_subject_digest")
        ),
    )


def _create_workers() -> None:
    op.create_table(
        "workers",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("queues", JSON, nullable=False),
        sa.Column("threads", sa.Integer(), nullable=False),
        sa.Column("busy", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("taken_at", TIME),
        sa.Column("ended_at", TIME),
        sa.Column("clock_offset", sa.Double(), nullable=False),
        sa.Column("refused", JSON, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )


def _create_work_items() -> None:
    op.create_table(
        "work_items",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String()),
        sa.Column("fairness_key", sa.String(), nullable=False),
        sa.Column("due_at", TIME),
        sa.Column("republish_at", TIME),
        sa.Column("lease_token", sa.String()),
        sa.Column("lease_until", TIME),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failed_at", TIME),
        sa.Column("error", sa.String()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_work_items")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_work_items_workspace_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_work_items_due_at", "work_items", ["due_at"], **_where("due_at IS NOT NULL"))
    op.create_index("ix_work_items_fairness_key", "work_items", ["task", "fairness_key"])
    op.create_index("ix_work_items_workspace_id", "work_items", ["workspace_id"])


def _create_jobs_and_webhooks() -> None:
    op.create_table(
        "provider_calls",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("job_id", sa.String(28), nullable=False),
        sa.Column("item", sa.Integer()),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("subject_digest", sa.LargeBinary(), nullable=False),
        sa.Column("country", sa.String()),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("status", sa.String()),
        sa.Column("reason", sa.String()),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("latency_ms", sa.Integer()),
        sa.Column("ticket", sa.String()),
        sa.Column("reply", JSON),
        sa.Column("asked_at", TIME, nullable=False),
        sa.Column("answered_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_provider_calls")),
    )
    op.create_index("ix_provider_calls_asked_at", "provider_calls", ["asked_at"])
    op.create_index("ix_provider_calls_field_asked_at", "provider_calls", ["field", "asked_at"])
    op.create_index("ix_provider_calls_job_id", "provider_calls", ["job_id"])
    op.create_index("ix_provider_calls_provider_asked_at", "provider_calls", ["provider", "asked_at"])
    op.create_index(
        "ix_provider_calls_subject_digest", "provider_calls", ["subject_digest", "provider", "asked_at"]
    )

    op.create_table(
        "idempotency_keys",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request_hash", sa.LargeBinary(), nullable=False),
        sa.Column("reference", sa.String()),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "key", name=op.f("pk_idempotency_keys")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_idempotency_keys_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"])
    op.create_index("ix_idempotency_keys_reference", "idempotency_keys", ["reference"])

    op.create_table(
        "jobs",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String()),
        sa.Column("key_id", sa.String(28)),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("queue", sa.String(), nullable=False, server_default="interactive"),
        sa.Column("request_digest", sa.LargeBinary(), nullable=False),
        sa.Column("request", JSON, nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("outcome", sa.String()),
        sa.Column("result", JSON),
        sa.Column("trace", JSON, nullable=False),
        sa.Column("error", JSON),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("charged", sa.BigInteger(), nullable=False),
        sa.Column("already_owned", sa.Boolean(), nullable=False),
        sa.Column("progress_done", sa.Integer(), nullable=False),
        sa.Column("progress_total", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("crashes", sa.Integer(), nullable=False),
        sa.Column("lease_token", sa.String()),
        sa.Column("lease_until", TIME),
        sa.Column("run_after", TIME, nullable=False),
        sa.Column("deadline_at", TIME, nullable=False),
        sa.Column("published_at", TIME),
        sa.Column("publishes", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("finished_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.CheckConstraint("charged <= held", name=op.f("ck_jobs_charged_within_held")),
        sa.CheckConstraint(
            "(status = 'running') = (lease_token IS NOT NULL)", name=op.f("ck_jobs_running_has_a_lease")
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_jobs_workspace_id"), ondelete="CASCADE"
        ),
    )
    op.create_index(
        "ix_jobs_hash_lookup",
        "jobs",
        ["finished_at"],
        **_where("kind IN ('company_by_hash', 'leads_by_website_hash')"),
    )
    op.create_index("ix_jobs_key_id", "jobs", ["key_id", "created_at"], **_where("key_id IS NOT NULL"))
    op.create_index("ix_jobs_live", "jobs", ["run_after"], **_where(LIVE))
    op.create_index("ix_jobs_queue", "jobs", ["queue", "workspace_id"], **_where(LIVE))
    op.create_index(
        "ix_jobs_retained", "jobs", ["finished_at"], **_where("finished_at IS NOT NULL AND request <> '{}'")
    )
    op.create_index(
        "ix_jobs_unsuccessful",
        "jobs",
        ["workspace_id", "created_at", "id"],
        **_where("status IN ('failed', 'canceled', 'expired')"),
    )
    op.create_index("ix_jobs_workspace_id_created_at", "jobs", ["workspace_id", "created_at", "id"])
    op.create_index(
        "ix_jobs_workspace_id_request_digest", "jobs", ["workspace_id", "request_digest", "created_at"]
    )
    op.create_index(
        "uq_jobs_open_request", "jobs", ["workspace_id", "request_digest"], unique=True, **_where(LIVE)
    )

    op.create_table(
        "webhook_endpoints",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("types", JSON, nullable=False),
        sa.Column("format", sa.String(10), nullable=False, server_default="standard"),
        sa.Column("failing_since", TIME),
        sa.Column("disabled_at", TIME),
        sa.Column("disabled_reason", sa.String()),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_endpoints")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_webhook_endpoints_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_webhook_endpoints_workspace_id", "webhook_endpoints", ["workspace_id"])

    op.create_table(
        "events",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("data", JSON, nullable=False),
        sa.Column("dedup_key", sa.String(), nullable=False),
        sa.Column("contact_id", sa.String(28)),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_events_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_events_workspace_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("workspace_id", "dedup_key", name=op.f("uq_events_workspace_id_dedup_key")),
    )
    op.create_index("ix_events_contact_id", "events", ["contact_id"])
    op.create_index("ix_events_created_at", "events", ["created_at"])
    op.create_index("ix_events_workspace_id_created_at", "events", ["workspace_id", "created_at", "id"])

    op.create_table(
        "job_items",
        sa.Column("job_id", sa.String(28), nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("request", JSON, nullable=False),
        sa.Column("outcome", sa.String()),
        sa.Column("result", JSON),
        sa.Column("error", JSON),
        sa.Column("charged", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "index", name=op.f("pk_job_items")),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_job_items_job_id"), ondelete="CASCADE"
        ),
    )

    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(28)),
        sa.Column("event_id", sa.String(28)),
        sa.Column("endpoint_id", sa.String(28)),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("delivered_at", TIME),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
        sa.CheckConstraint(
            "(job_id IS NULL) <> (event_id IS NULL)", name=op.f("ck_webhooks_of_a_job_or_an_event")
        ),
        sa.ForeignKeyConstraint(
            ["endpoint_id"],
            ["webhook_endpoints.id"],
            name=op.f("fk_webhooks_endpoint_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["event_id"], ["events.id"], name=op.f("fk_webhooks_event_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_webhooks_job_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_webhooks_workspace_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("event_id", "endpoint_id", name=op.f("uq_webhooks_event_id_endpoint_id")),
        sa.UniqueConstraint("job_id", "endpoint_id", name=op.f("uq_webhooks_job_id_endpoint_id")),
    )
    op.create_index("ix_webhooks_endpoint_id", "webhooks", ["endpoint_id"])
    op.create_index("ix_webhooks_workspace_id_created_at", "webhooks", ["workspace_id", "created_at", "id"])
    op.create_index(
        "uq_webhooks_job_id_url", "webhooks", ["job_id", "url"], unique=True, **_where("endpoint_id IS NULL")
    )

    op.create_table(
        "webhook_attempts",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("webhook_id", sa.String(28), nullable=False),
        sa.Column("attempted_at", TIME, nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("error", sa.String()),
        sa.Column("latency_ms", sa.Integer()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_attempts")),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name=op.f("fk_webhook_attempts_webhook_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_webhook_attempts_attempted_at", "webhook_attempts", ["attempted_at"])
    op.create_index("ix_webhook_attempts_webhook_id", "webhook_attempts", ["webhook_id"])


def _create_uploads() -> None:
    op.create_table(
        "uploads",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("api_key_id", sa.String()),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("operation", sa.String(), nullable=False, server_default="enrich"),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String()),
        sa.Column("detail", sa.String()),
        sa.Column("header", JSON, nullable=False),
        sa.Column("delimiter", sa.String(), nullable=False),
        sa.Column("table_options", JSON),
        sa.Column("table_format", JSON),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("columns", JSON, nullable=False),
        sa.Column("fields", JSON, nullable=False),
        sa.Column("max_credits", sa.BigInteger()),
        sa.Column("purpose", sa.String()),
        sa.Column("skip", JSON),
        sa.Column("is_fresh", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("row_count", sa.Integer(), nullable=False),
        sa.Column("priced", sa.Integer(), nullable=False),
        sa.Column("counts", JSON, nullable=False),
        sa.Column("warnings", JSON, nullable=False, server_default=sa.text("'[]'")),
        sa.Column("estimate", JSON),
        sa.Column("outcomes", JSON, nullable=False),
        sa.Column("charged", sa.BigInteger(), nullable=False),
        sa.Column("next_chunk", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("touched_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_uploads")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_uploads_workspace_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_uploads_touched_at", "uploads", ["touched_at"])
    op.create_index("ix_uploads_workspace_id", "uploads", ["workspace_id", "id"])

    op.create_table(
        "upload_chunks",
        sa.Column("upload_id", sa.String(28), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(28), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("upload_id", "number", name=op.f("pk_upload_chunks")),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_upload_chunks_job_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["uploads.id"], name=op.f("fk_upload_chunks_upload_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_upload_chunks_job_id", "upload_chunks", ["job_id"])

    op.create_table(
        "upload_files",
        sa.Column("upload_id", sa.String(28), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("upload_id", name=op.f("pk_upload_files")),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["uploads.id"], name=op.f("fk_upload_files_upload_id"), ondelete="CASCADE"
        ),
    )

    op.create_table(
        "upload_rows",
        sa.Column("upload_id", sa.String(28), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("cells", JSON, nullable=False),
        sa.Column("subject", JSON),
        sa.Column("person_digest", sa.LargeBinary()),
        sa.Column("cost", sa.Integer(), nullable=False),
        sa.Column("is_readable", sa.Boolean(), nullable=False),
        sa.Column("fault", sa.String()),
        sa.Column("duplicate_of", sa.Integer()),
        sa.Column("is_pending", sa.Boolean(), nullable=False),
        sa.Column("chunk", sa.Integer()),
        sa.Column("item", sa.Integer()),
        sa.Column("charged", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("upload_id", "number", name=op.f("pk_upload_rows")),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["uploads.id"], name=op.f("fk_upload_rows_upload_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_upload_rows_pending", "upload_rows", ["upload_id", "number"], **_where("is_pending"))
    op.create_index("ix_upload_rows_person_digest", "upload_rows", ["upload_id", "person_digest", "number"])
    op.create_index("uq_upload_rows_item", "upload_rows", ["upload_id", "chunk", "item"], unique=True)


def _create_crm_connections() -> None:
    op.create_table(
        "crm_connections",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("vendor", sa.String(), nullable=False),
        sa.Column("base_url", sa.String()),
        sa.Column("credentials", sa.LargeBinary(), nullable=False),
        sa.Column("mapping", JSON, nullable=False),
        sa.Column("constants", JSON, nullable=False),
        sa.Column("new_people", sa.String(), nullable=False),
        sa.Column("excluded_stages", JSON),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("error", sa.String()),
        sa.Column("created_by", sa.String()),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("checked_at", TIME),
        sa.Column("account", sa.String()),
        sa.Column("resume_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crm_connections")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_crm_connections_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_crm_connections_workspace_id", "crm_connections", ["workspace_id"])

    op.create_table(
        "crm_properties",
        sa.Column("connection_id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("properties", JSON, nullable=False),
        sa.Column("read_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("connection_id", name=op.f("pk_crm_properties")),
        sa.ForeignKeyConstraint(
            ["connection_id"],
            ["crm_connections.id"],
            name=op.f("fk_crm_properties_connection_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_crm_properties_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_crm_properties_workspace_id", "crm_properties", ["workspace_id"])

    op.create_table(
        "crm_pushes",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("connection_id", sa.String(28), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("dry_run", sa.Boolean(), nullable=False),
        sa.Column("company_id", sa.String()),
        sa.Column("updates_only", sa.Boolean(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crm_pushes")),
        sa.ForeignKeyConstraint(
            ["connection_id"],
            ["crm_connections.id"],
            name=op.f("fk_crm_pushes_connection_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_crm_pushes_workspace_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_crm_pushes_connection_id", "crm_pushes", ["connection_id"])
    op.create_index("ix_crm_pushes_workspace_id_id", "crm_pushes", ["workspace_id", "id"])

    op.create_table(
        "crm_records",
        sa.Column("connection_id", sa.String(28), nullable=False),
        sa.Column("contact_id", sa.String(28), nullable=False),
        sa.Column("crm_id", sa.String()),
        sa.Column("written_digests", JSON, nullable=False),
        sa.PrimaryKeyConstraint("connection_id", "contact_id", name=op.f("pk_crm_records")),
        sa.ForeignKeyConstraint(
            ["connection_id"],
            ["crm_connections.id"],
            name=op.f("fk_crm_records_connection_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_crm_records_contact_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_crm_records_contact_id", "crm_records", ["contact_id"])
    op.create_index("ix_crm_records_connection_id_crm_id", "crm_records", ["connection_id", "crm_id"])

    op.create_table(
        "crm_index",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("connection_id", sa.String(28), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("crm_id", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("changed_at", TIME),
        sa.Column("read_at", TIME, nullable=False),
        sa.Column("person", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crm_index")),
        sa.UniqueConstraint(
            "connection_id", "kind", "crm_id", name=op.f("uq_crm_index_connection_id_kind_crm_id")
        ),
        sa.ForeignKeyConstraint(
            ["connection_id"],
            ["crm_connections.id"],
            name=op.f("fk_crm_index_connection_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_crm_index_workspace_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_crm_index_workspace_id", "crm_index", ["workspace_id"])

    op.create_table(
        "crm_index_keys",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("record_id", sa.String(28), nullable=False),
        sa.Column("matched_on", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "digest", "record_id", name=op.f("pk_crm_index_keys")),
        sa.ForeignKeyConstraint(
            ["record_id"], ["crm_index.id"], name=op.f("fk_crm_index_keys_record_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_crm_index_keys_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_crm_index_keys_record_id", "crm_index_keys", ["record_id"])

    op.create_table(
        "address_books",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("country", sa.String()),
        sa.Column("file_digest", sa.LargeBinary()),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("detail", sa.String()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("people", sa.Integer(), nullable=False),
        sa.Column("left_out", sa.Integer(), nullable=False),
        sa.Column("rows_read", sa.Integer(), nullable=False),
        sa.Column("people_read", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("read_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_address_books")),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_address_books_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_address_books_workspace_id", "address_books", ["workspace_id"])

    op.create_table(
        "address_book_files",
        sa.Column("book_id", sa.String(28), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("book_id", name=op.f("pk_address_book_files")),
        sa.ForeignKeyConstraint(
            ["book_id"], ["address_books.id"], name=op.f("fk_address_book_files_book_id"), ondelete="CASCADE"
        ),
    )

    op.create_table(
        "address_book_people",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("book_id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("changed_at", TIME),
        sa.Column("person", JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_address_book_people")),
        sa.ForeignKeyConstraint(
            ["book_id"], ["address_books.id"], name=op.f("fk_address_book_people_book_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_address_book_people_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_address_book_people_book_id", "address_book_people", ["book_id", "revision"])
    op.create_index("ix_address_book_people_workspace_id", "address_book_people", ["workspace_id"])

    op.create_table(
        "address_book_keys",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("record_id", sa.String(28), nullable=False),
        sa.Column("matched_on", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "digest", "record_id", name=op.f("pk_address_book_keys")),
        sa.ForeignKeyConstraint(
            ["record_id"],
            ["address_book_people.id"],
            name=op.f("fk_address_book_keys_record_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_address_book_keys_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_address_book_keys_record_id", "address_book_keys", ["record_id"])

    op.create_table(
        "crm_readings",
        sa.Column("connection_id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("is_full", sa.Boolean(), nullable=False),
        sa.Column("full_started_at", TIME),
        sa.Column("started_at", TIME),
        sa.Column("position", sa.String()),
        sa.Column("since", TIME),
        sa.Column("latest_at", TIME),
        sa.Column("read", sa.Integer(), nullable=False),
        sa.Column("records", sa.Integer(), nullable=False),
        sa.Column("finished_at", TIME),
        sa.Column("error", sa.String()),
        sa.Column("notes", JSON, nullable=False),
        sa.Column("stages", JSON, nullable=False),
        sa.PrimaryKeyConstraint("connection_id", name=op.f("pk_crm_readings")),
        sa.ForeignKeyConstraint(
            ["connection_id"],
            ["crm_connections.id"],
            name=op.f("fk_crm_readings_connection_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_crm_readings_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_crm_readings_workspace_id", "crm_readings", ["workspace_id"])

    op.create_table(
        "crm_push_items",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("push_id", sa.String(28), nullable=False),
        sa.Column("connection_id", sa.String(28), nullable=False),
        sa.Column("contact_id", sa.String(28), nullable=False),
        sa.Column("next_at", TIME, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String()),
        sa.Column("error", sa.String()),
        sa.Column("actions", JSON, nullable=False),
        sa.Column("notes", JSON),
        sa.Column("companies", JSON),
        sa.Column("marks", JSON),
        sa.Column("marks_only", sa.Boolean(), nullable=False),
        sa.Column("finished_at", TIME),
        sa.Column("latency_ms", sa.Integer()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crm_push_items")),
        sa.ForeignKeyConstraint(
            ["connection_id"],
            ["crm_connections.id"],
            name=op.f("fk_crm_push_items_connection_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["contact_id"], ["contacts.id"], name=op.f("fk_crm_push_items_contact_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["push_id"], ["crm_pushes.id"], name=op.f("fk_crm_push_items_push_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("push_id", "contact_id", name=op.f("uq_crm_push_items_push_id_contact_id")),
    )
    op.create_index(
        "ix_crm_push_items_connection_id_next_at",
        "crm_push_items",
        ["connection_id", "next_at"],
        **_where("outcome IS NULL"),
    )
    op.create_index("ix_crm_push_items_contact_id", "crm_push_items", ["contact_id"])


def _create_crm_schedules() -> None:
    op.create_table(
        "crm_schedules",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("connection_id", sa.String(28), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("list_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("fields", JSON, nullable=False),
        sa.Column("hour", sa.Integer(), nullable=False),
        sa.Column("weekday", sa.Integer()),
        sa.Column("max_people", sa.Integer(), nullable=False),
        sa.Column("monthly_credits", sa.BigInteger(), nullable=False),
        sa.Column("refresh_days", sa.Integer()),
        sa.Column("purpose", sa.String()),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.String()),
        sa.Column("waiting", sa.String()),
        sa.Column("next_at", TIME),
        sa.Column("run_id", sa.String()),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crm_schedules")),
        sa.ForeignKeyConstraint(
            ["connection_id"],
            ["crm_connections.id"],
            name=op.f("fk_crm_schedules_connection_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_crm_schedules_workspace_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_crm_schedules_connection_id", "crm_schedules", ["connection_id"])
    op.create_index("ix_crm_schedules_workspace_id", "crm_schedules", ["workspace_id"])

    op.create_table(
        "crm_schedule_runs",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("schedule_id", sa.String(28), nullable=False),
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("due_at", TIME, nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("position", sa.String()),
        sa.Column("members", sa.Integer(), nullable=False),
        sa.Column("unindexed", sa.Integer(), nullable=False),
        sa.Column("is_partial", sa.Boolean(), nullable=False),
        sa.Column("people", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String()),
        sa.Column("jobs", sa.Integer(), nullable=False),
        sa.Column("charged", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.String()),
        sa.Column("push_id", sa.String()),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("finished_at", TIME),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crm_schedule_runs")),
        sa.ForeignKeyConstraint(
            ["schedule_id"],
            ["crm_schedules.id"],
            name=op.f("fk_crm_schedule_runs_schedule_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"],
            ["workspaces.id"],
            name=op.f("fk_crm_schedule_runs_workspace_id"),
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint("schedule_id", "due_at", name=op.f("uq_crm_schedule_runs_schedule_id_due_at")),
    )
    op.create_index("ix_crm_schedule_runs_workspace_id", "crm_schedule_runs", ["workspace_id"])

    op.create_table(
        "crm_schedule_records",
        sa.Column("run_id", sa.String(28), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("schedule_id", sa.String(28), nullable=False),
        sa.Column("crm_id", sa.String(), nullable=False),
        sa.Column("asked", sa.String(), nullable=False),
        sa.Column("job_id", sa.String()),
        sa.Column("item", sa.Integer()),
        sa.Column("outcome", sa.String()),
        sa.Column("error", sa.String()),
        sa.Column("charged", sa.Integer(), nullable=False),
        sa.Column("contact_id", sa.String(28)),
        sa.Column("marks", JSON, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_crm_schedule_records")),
        sa.ForeignKeyConstraint(
            ["contact_id"],
            ["contacts.id"],
            name=op.f("fk_crm_schedule_records_contact_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["crm_schedule_runs.id"],
            name=op.f("fk_crm_schedule_records_run_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["schedule_id"],
            ["crm_schedules.id"],
            name=op.f("fk_crm_schedule_records_schedule_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_crm_schedule_records_contact_id", "crm_schedule_records", ["contact_id"])
    op.create_index("ix_crm_schedule_records_crm_id", "crm_schedule_records", ["schedule_id", "crm_id"])


def _create_mentions() -> None:
    op.create_table(
        "mention_positions",
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("last_id", sa.String(), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.Column("key_check", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("source", name=op.f("pk_mention_positions")),
    )

    op.create_table(
        "job_mentions",
        sa.Column("job_id", sa.String(28), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "digest", name=op.f("pk_job_mentions")),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_job_mentions_job_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_job_mentions_digest", "job_mentions", ["digest"])

    op.create_table(
        "profile_mentions",
        sa.Column("profile_id", sa.String(28), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("profile_id", "digest", name=op.f("pk_profile_mentions")),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["saved_profiles.id"],
            name=op.f("fk_profile_mentions_profile_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_profile_mentions_digest", "profile_mentions", ["digest"])

    op.create_table(
        "upload_mentions",
        sa.Column("upload_id", sa.String(28), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("upload_id", "number", "digest", name=op.f("pk_upload_mentions")),
        sa.ForeignKeyConstraint(
            ["upload_id", "number"],
            ["upload_rows.upload_id", "upload_rows.number"],
            name=op.f("fk_upload_mentions_upload_id_number"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_upload_mentions_digest", "upload_mentions", ["digest"])


def _create_privacy() -> None:
    op.create_table(
        "encryption_progress",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("key_id", sa.Integer(), nullable=False),
        sa.Column("position", JSON, nullable=False),
        sa.Column("pending", sa.BigInteger(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("finished_at", TIME),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_encryption_progress")),
    )

    op.create_table(
        "mailbox_codes",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("address_digest", sa.LargeBinary(), nullable=False),
        sa.Column("email", sa.LargeBinary(), nullable=False),
        sa.Column("code_digest", sa.LargeBinary()),
        sa.Column("sent_at", TIME),
        sa.Column("language", sa.String(8)),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mailbox_codes")),
    )
    op.create_index("ix_mailbox_codes_address_digest", "mailbox_codes", ["address_digest"], unique=True)
    op.create_index("ix_mailbox_codes_expires_at", "mailbox_codes", ["expires_at"])

    op.create_table(
        "mailbox_proofs",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("address_digest", sa.LargeBinary(), nullable=False),
        sa.Column("email", sa.LargeBinary(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("opened_at", TIME),
        sa.Column("expires_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mailbox_proofs")),
    )
    op.create_index("ix_mailbox_proofs_expires_at", "mailbox_proofs", ["expires_at"])


def _create_audits() -> None:
    op.create_table(
        "audit_positions",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("position", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_audit_positions")),
    )

    op.create_table(
        "audits",
        sa.Column("id", sa.String(28), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("milliseconds", sa.Integer()),
        sa.Column("workspaces", sa.Integer()),
        sa.Column("jobs", sa.Integer()),
        sa.Column("entries", sa.Integer()),
        sa.Column("faults", JSON),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audits")),
    )

    op.create_table(
        "ledger_sums",
        sa.Column("workspace_id", sa.String(), nullable=False),
        sa.Column("available", sa.BigInteger(), nullable=False),
        sa.Column("held", sa.BigInteger(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("counted_available", sa.BigInteger(), nullable=False),
        sa.Column("counted_held", sa.BigInteger(), nullable=False),
        sa.Column("counted_spent", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_ledger_sums")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_ledger_sums_workspace_id"), ondelete="CASCADE"
        ),
    )


def _create_audit_log() -> None:
    op.create_table(
        "audit_log",
        sa.Column(
            "position",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            autoincrement=False,
        ),
        sa.Column("pending_id", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("occurred_at", TIME, nullable=False),
        sa.Column("actor_kind", sa.String(), nullable=False),
        sa.Column("actor_id", sa.String()),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("object_id", sa.String()),
        sa.Column("workspace_id", sa.String(28)),
        sa.Column("reason", sa.String()),
        sa.Column("request_id", sa.String()),
        sa.Column("network", sa.String()),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("position", name=op.f("pk_audit_log")),
        sa.UniqueConstraint("pending_id", name=op.f("uq_audit_log_pending_id")),
    )
    op.create_index(
        "ix_audit_log_backups",
        "audit_log",
        ["occurred_at"],
        **_where("action = 'command.backup.create' AND outcome = 'succeeded'"),
    )
    op.create_index("ix_audit_log_occurred_at", "audit_log", ["occurred_at"])
    op.create_index("ix_audit_log_workspace_id", "audit_log", ["workspace_id", "position"])

    op.create_table(
        "audit_log_pending",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("occurred_at", TIME, nullable=False),
        sa.Column("actor_kind", sa.String(), nullable=False),
        sa.Column("actor_id", sa.String()),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("object_id", sa.String()),
        sa.Column("workspace_id", sa.String(28)),
        sa.Column("reason", sa.String()),
        sa.Column("request_id", sa.String()),
        sa.Column("network", sa.String()),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log_pending")),
        sqlite_autoincrement=True,
    )

    op.create_table(
        "audit_log_pruned",
        sa.Column(
            "position",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            autoincrement=False,
        ),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("pruned_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("position", name=op.f("pk_audit_log_pruned")),
    )
