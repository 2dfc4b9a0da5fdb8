"""Fills a migrated PostgreSQL database with consistent rows, by `INSERT … SELECT` from `generate_series`.

Tables with encrypted columns are filled by `encrypted_rows`.

The rows satisfy every rule of the audit. Person `n` has the profile `https://www.linkedin.com/in/person-n`;
company `n` has the website `company-n.example`. The people of company 0 come first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Engine, text

from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.encrypted_columns import encrypted_columns
from benchmarks.growth import encrypted_rows

PEOPLE_PER_COMPANY = 10
WORKSPACES = 50
WORKSPACE = f"wks_{0:024x}"
"""A workspace with many jobs."""
TABLES = (
    "companies",
    "contacts",
    "emails",
    "phones",
    "suppressions",
    "jobs",
    "ledger",
    "reveals",
    "revealed_values",
)


@dataclass(frozen=True, slots=True)
class Size:
    """The number of contacts, of which `large` belong to company 0, and of finished jobs, at most as many."""

    contacts: int
    large: int
    jobs: int

    @property
    def companies(self) -> int:
        """Return the number of companies besides company 0."""
        return max(1, (self.contacts - self.large) // PEOPLE_PER_COMPANY)


GIVEN_NAMES, FAMILY_NAMES = 499, 7919
"""How many there are. Both are prime, so that the people of a small company have different names."""
_GIVEN, _FAMILY = f"n % {GIVEN_NAMES}", f"n % {FAMILY_NAMES}"
_ID = "'{0}_' || lpad(to_hex({1}), 24, '0')"
_WORKSPACE = "'wks_' || lpad(to_hex(n % :workspaces), 24, '0')"
_COMPANY = "CASE WHEN n < :large THEN 0 ELSE 1 + n % :companies END"
_PAST = "now() - interval '80 days' + (n % 1000000) * interval '6 seconds'"
_SOURCES = """'[{"provider": "file", "kind": "import", "first_seen_at": "2026-01-01T00:00:00.000Z",
    "last_seen_at": "2026-01-01T00:00:00.000Z"}]'"""
_SENIORITIES = """(ARRAY['founder', 'c_suite', 'vp', 'director', 'manager', 'manager', 'senior', 'senior',
    'entry', 'entry', 'entry', NULL])[1 + n % 12]"""
_DEPARTMENTS = """(ARRAY['engineering', 'engineering', 'sales', 'sales', 'marketing', 'finance', 'operations',
    'support', 'legal', NULL])[1 + n / 12 % 10]"""

_STATEMENTS = {
    "workspaces": f"""
        INSERT INTO workspaces (id, name, available, held, spent, created_at)
        SELECT {_WORKSPACE}, 'Workspace ' || n, :grant - count, 0, count, now()
        FROM generate_series(0, :workspaces - 1) n,
             LATERAL (SELECT :jobs / :workspaces
                      + CASE WHEN n < :jobs % :workspaces THEN 1 ELSE 0 END AS count) c
        """,
    "companies": f"""
        INSERT INTO companies (id, name, name_key, domain, domain_hash, linkedin_url, linkedin_hash, industry,
                               headcount, city, country, provenance, created_at, updated_at)
        SELECT {_ID.format("com", "n")}, 'Company ' || n, 'company ' || n, 'company-' || n || '.example',
               sha256(('company-' || n || '.example')::bytea),
               'https://www.linkedin.com/company/company-' || n,
               sha256(('https://www.linkedin.com/company/company-' || n)::bytea),
               'Machinery', '51-200', 'London', 'GB', '{{}}', now(), now()
        FROM generate_series(0, :companies) n
        """,
    "contacts": f"""
        INSERT INTO contacts (id, full_name, first_name, last_name, name_key, last_key, title, seniority,
                              department, linkedin_url, city, country, company_id, provenance, created_at,
                              updated_at)
        SELECT {_ID.format("con", "n")}, 'First' || {_GIVEN} || ' Last' || {_FAMILY},
               'First' || {_GIVEN}, 'Last' || {_FAMILY}, 'first' || {_GIVEN} || ' last' || {_FAMILY},
               'last' || {_FAMILY}, 'Engineer', {_SENIORITIES}, {_DEPARTMENTS},
               'https://www.linkedin.com/in/person-' || n, 'London', 'GB',
               {_ID.format("com", _COMPANY)}, '{{}}', now(), now()
        FROM generate_series(0, :contacts - 1) n
        """,
    "emails": f"""
        INSERT INTO emails (id, contact_id, email_index, email, domain, type, status, status_reasons,
                            confidence, form, verified_at, first_seen_at, last_seen_at, sources)
        SELECT {_ID.format("eml", "n")}, {_ID.format("con", "n")}, '',
               'first' || {_GIVEN} || '.last' || n || '@company-' || {_COMPANY} || '.example',
               'company-' || {_COMPANY} || '.example', 'work',
               CASE WHEN n % 10 = 0 THEN 'accept_all' ELSE 'valid' END, '[]', 0.9, '{{first}}.{{last}}',
               now() - interval '10 days', now() - interval '20 days', now() - interval '10 days', {_SOURCES}
        FROM generate_series(0, :contacts - 1) n
        """,
    "phones": f"""
        INSERT INTO phones (id, contact_id, e164_index, e164, "national", country, type, line_type, status,
                            confidence, do_not_call, verified_at, first_seen_at, last_seen_at, sources)
        SELECT {_ID.format("pho", "n")}, {_ID.format("con", "n")}, '', '+1' || 2000000000 + n,
               (2000000000 + n)::text, 'US', 'work', 'landline', 'valid', 0.9, false, NULL,
               now() - interval '20 days', now() - interval '10 days', {_SOURCES}
        FROM generate_series(0, :contacts - 1, 2) n
        """,
    "suppressions": """
        INSERT INTO suppressions (digest, list_name, kind, reason, created_at)
        SELECT sha256(('suppressed ' || n)::bytea), '', 'email', 'benchmark', now() - interval '90 days'
        FROM generate_series(1, :contacts / 10) n
        """,
    "jobs": f"""
        INSERT INTO jobs (id, workspace_id, kind, queue, request_digest, request, status, outcome, result,
                          trace, held, charged, already_owned, progress_done, progress_total, attempts,
                          crashes, run_after, deadline_at, publishes, created_at, finished_at)
        SELECT {_ID.format("job", "n")}, {_WORKSPACE}, 'reveal.email', 'interactive',
               sha256(('job ' || n)::bytea),
               jsonb_build_object('subject', jsonb_build_object('contact_id', {_ID.format("con", "n")})),
               'succeeded', 'found',
               jsonb_build_object('contact_id', {_ID.format("con", "n")}, 'emails', '[]'::jsonb),
               '[]', 1, 1, false, 1, 1, 1, 0, {_PAST}, {_PAST} + interval '2 minutes', 0, {_PAST}, {_PAST}
        FROM generate_series(0, :jobs - 1) n
        """,
    "ledger": f"""
        INSERT INTO ledger (id, workspace_id, job_id, kind, available, held, spent, created_at)
        SELECT {_ID.format("led", "3 * n + k")}, {_WORKSPACE}, {_ID.format("job", "n")},
               CASE k WHEN 1 THEN 'hold' ELSE 'settle' END, CASE k WHEN 1 THEN -1 ELSE 0 END,
               CASE k WHEN 1 THEN 1 ELSE -1 END, k - 1, {_PAST}
        FROM generate_series(0, :jobs - 1) n, generate_series(1, 2) k
        UNION ALL
        SELECT {_ID.format("led", "3 * n")}, {_WORKSPACE}, NULL, 'grant', :grant, 0, 0, now()
        FROM generate_series(0, :workspaces - 1) n
        """,
    "reveals": f"""
        INSERT INTO reveals (workspace_id, contact_id, field, job_id, credits, created_at, verify_at)
        SELECT {_WORKSPACE}, {_ID.format("con", "n")}, 'email', {_ID.format("job", "n")}, 1, {_PAST},
               now() + interval '20 days'
        FROM generate_series(0, :jobs - 1) n
        """,
    "revealed_values": f"""
        INSERT INTO revealed_values (workspace_id, field, value_index, contact_id, job_id, created_at)
        SELECT {_WORKSPACE}, 'email', emails.email_index, emails.contact_id, {_ID.format("job", "n")}, {_PAST}
        FROM generate_series(0, :jobs - 1) n JOIN emails ON emails.id = {_ID.format("eml", "n")}
        """,
}


def fill(
    engine: Engine, keys: DigestKeys, size: Size, *, report: Callable[[str], None] = lambda _table: None
) -> None:
    """Insert the rows, each table in one transaction, and update the statistics of the planner.

    `report` is called with the name of each table before it is filled.
    """
    values = {
        "contacts": size.contacts,
        "large": size.large,
        "companies": size.companies,
        "jobs": min(size.jobs, size.contacts),
        "workspaces": WORKSPACES,
        "grant": size.jobs + 1_000_000,
    }
    encrypted = {column.table.name: column.table for column in encrypted_columns()}
    for table, sql in _STATEMENTS.items():
        report(table)
        names = {name: value for name, value in values.items() if f":{name}" in sql}
        with engine.begin() as connection:
            # The rows are consistent: checking the foreign keys would take half of the time.
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            statement = sql.replace("::", r"\:\:")
            if table in encrypted:
                encrypted_rows.insert(connection, keys.ring, encrypted[table], statement, names)
            else:
                connection.execute(text(statement), names)
    report("statistics")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def contact_id(person: int) -> str:
    """Return the id of the contact."""
    return f"con_{person:024x}"


def bytes_per_row(engine: Engine) -> dict[str, tuple[float, float]]:
    """Return by table the bytes of heap and of indexes per row; tables without rows are omitted."""
    with engine.connect() as connection:
        sizes = {}
        for table in TABLES:
            heap, indexes, rows = connection.execute(
                text(f"SELECT pg_table_size('{table}'), pg_indexes_size('{table}'), count(*) FROM {table}")
            ).one()
            if rows:
                sizes[table] = (heap / rows, indexes / rows)
    return sizes
