"""Fills a migrated PostgreSQL database with people of many titles, countries and companies.

Seniorities, departments, countries and industries are as unequal as real ones, and independent of one
another. Half of the titles end with one of 20,000 words, of which most are rare. The newest twentieth of the
people is one import: all are from Japan. One person in fifty has an e-mail address.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, text

from app.domain.normal.texts.title_words import title_terms
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.encrypted_columns import encrypted_columns
from benchmarks.growth import encrypted_rows

WORDS = 20_000
LARGE = 50_000
"""The people of company 0; the others have ten people on average."""
PEOPLE_PER_COMPANY = 10
PEOPLE_PER_EMAIL = 50
LAST_COUNTRY = "JP"
SENIORITIES: dict[str | None, int] = {
    "founder": 2, "owner": 1, "c_suite": 4, "partner": 1, "vp": 5, "head": 4, "director": 9, "manager": 20,
    "senior": 18, "entry": 30, "intern": 2, None: 4,
}  # fmt: skip
DEPARTMENTS: dict[str | None, int] = {
    "engineering": 22, "sales": 16, "operations": 12, "marketing": 9, "information_technology": 8,
    "finance": 8, "human_resources": 6, "support": 5, "product": 4, "design": 3, "data": 3, "legal": 2,
    "purchasing": 1, None: 1,
}  # fmt: skip
COUNTRIES = {
    "US": 300, "IN": 110, "GB": 80, "BR": 60, "DE": 55, "FR": 50, "CA": 40, "ES": 30, "IT": 30, "NL": 25,
    "AU": 25, "MX": 20, "PL": 15, "SE": 10, "CH": 10, "AT": 6, "DK": 5, "FI": 4, "NO": 4, "PT": 4, "JP": 4,
    "CZ": 3, "IE": 3, "SG": 3, "AE": 2, "NZ": 2, "LU": 1, "IS": 1,
}  # fmt: skip
INDUSTRIES = {f"Industry {number}": 1 + 1500 // number for number in range(1, 141)}
HEADCOUNTS = {
    "1-10": 30, "11-50": 25, "51-200": 18, "201-500": 10, "501-1000": 6, "1001-5000": 6, "5001-10000": 2,
    "10001+": 3,
}  # fmt: skip
_TITLES = {
    "founder": ("Founder", "Co-Founder {}"), "owner": ("Owner",), "partner": ("Partner",),
    "c_suite": ("Chief {} Officer", "CTO", "CFO"), "vp": ("VP {}", "Vice President of {}", "SVP {}"),
    "head": ("Head of {}", "Leiter {}"),
    "director": ("Director of {}", "{} Director", "Directeur {}"), "manager": ("{} Manager", "Gerente de {}"),
    "senior": ("Senior {} Specialist", "Senior {} Engineer"), "entry": ("{} Associate", "Account Executive"),
    "intern": ("{} Intern",), None: ("{} Consultant",),
}  # fmt: skip
_SLOTS = 20_000
"""People have the roles and countries of random slots, and companies the industries and headcounts."""
_BUILT = ("ix_contacts_company_id_rank", "ix_contacts_name_words", "ix_contacts_search")
_LEFT_OUT = ("ix_contacts_company_id_last_key", "ix_contacts_company_id_name_key")
_COLUMNS = ("title", "terms", "seniority", "department", "country", "industry", "headcount")
_RANDOM = "(hashint8extended(n, {}) & 2147483647)"
_WORD = f"floor({WORDS} * power({_RANDOM.format(5)} / 2147483648.0, 4))::int"
_ID = "'{0}_' || lpad(to_hex({1}), 24, '0')"


def _joined(name: str, seed: int) -> str:
    return f"JOIN slots {name} ON {name}.slot = {_RANDOM.format(seed)} % {_SLOTS}"


_STATEMENTS = {
    "companies": f"""
        INSERT INTO companies (id, name, name_key, domain, domain_hash, industry, headcount, country,
                               provenance, created_at, updated_at)
        SELECT {_ID.format("com", "n")}, 'Company ' || n, 'company ' || n, 'company-' || n || '.example',
               sha256(('company-' || n || '.example')::bytea), industries.industry, sizes.headcount,
               'US', '{{}}', now(), now()
        FROM generate_series(0, :companies) n {_joined("industries", 1)} {_joined("sizes", 2)}
        """,
    "contacts": f"""
        INSERT INTO contacts (id, full_name, first_name, last_name, name_key, last_key, title, title_terms,
                              seniority, department, linkedin_url, city, country, company_id, provenance,
                              created_at, updated_at, notified_at)
        SELECT {_ID.format("con", "n")}, 'First' || n % 499 || ' Last' || n % 7919, 'First' || n % 499,
               'Last' || n % 7919, 'first' || n % 499 || ' last' || n % 7919, 'last' || n % 7919,
               roles.title || CASE WHEN n % 2 = 0 THEN ' word' || {_WORD} ELSE '' END,
               roles.terms || CASE WHEN n % 2 = 0 THEN 'word' || {_WORD} || ' ' ELSE '' END,
               roles.seniority, roles.department, 'https://www.linkedin.com/in/person-' || n, 'London',
               CASE WHEN n >= :contacts * 0.95 THEN '{LAST_COUNTRY}' ELSE countries.country END,
               CASE WHEN n % 20 = 0 AND n < 20 * :large THEN {_ID.format("com", "0")}
                    ELSE 'com_' || lpad(to_hex(1 + {_RANDOM.format(6)} % :companies), 24, '0') END,
               '{{}}', now(), now(), now()
        FROM generate_series(0, :contacts - 1) n {_joined("roles", 3)} {_joined("countries", 4)}
        """,
    "emails": f"""
        INSERT INTO emails (id, contact_id, email_index, email, domain, type, status, status_reasons,
                            confidence, form, verified_at, first_seen_at, last_seen_at, sources)
        SELECT {_ID.format("eml", "n")}, {_ID.format("con", "n")}, '', 'last' || n || '@company-1.example',
               'company-1.example', 'work', 'valid', '[]', 0.9, '{{last}}', now(), now(), now(), '[]'
        FROM generate_series(0, :contacts - 1, {PEOPLE_PER_EMAIL}) n
        """,
    "suppressions": """
        INSERT INTO suppressions (digest, list_name, kind, reason, created_at)
        SELECT sha256(('suppressed ' || n)::bytea), '', 'email', 'benchmark', now() - interval '90 days'
        FROM generate_series(1, :contacts / 10) n
        """,
}


def fill(
    engine: Engine, keys: DigestKeys, contacts: int, *, report: Callable[[str], None] = lambda _step: None
) -> None:
    """Insert the rows, each table in one transaction, and update the statistics of the planner.

    The indexes that a search reads are built after the rows, which is faster; others of contacts are absent.
    """
    values = {
        "contacts": contacts,
        "large": min(LARGE, contacts // 20),
        "companies": contacts // PEOPLE_PER_COMPANY,
    }
    emails = next(column.table for column in encrypted_columns() if column.table.name == "emails")
    with engine.begin() as connection:
        _create_slots(connection)
        connection.execute(text("ALTER TABLE contacts DROP CONSTRAINT uq_contacts_linkedin_url"))
        definitions = [
            connection.scalar(text(f"SELECT pg_get_indexdef(to_regclass('{index}'))")) for index in _BUILT
        ]
        connection.execute(text(f"DROP INDEX {', '.join((*_BUILT, *_LEFT_OUT))}"))
    for table, sql in _STATEMENTS.items():
        report(table)
        statement = sql.replace("::", r"\:\:")
        used = {name: value for name, value in values.items() if f":{name}" in sql}
        with engine.begin() as connection:
            # The rows are consistent: checking the foreign keys would take half of the time.
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            connection.execute(text("SET LOCAL work_mem = '256MB'"))
            if table == "emails":
                encrypted_rows.insert(connection, keys.ring, emails, statement, used)
            else:
                connection.execute(text(statement), used)
    report("indexes")
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL maintenance_work_mem = '1GB'"))
        for definition in definitions:
            connection.exec_driver_sql(str(definition))
        connection.execute(text("DROP TABLE slots"))
    report("statistics")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))


def _create_slots(connection: Connection) -> None:
    """Create a table of random titles, countries, industries and headcounts."""
    choice = random.Random(1)  # noqa: S311 -- not secret
    connection.execute(text(f"CREATE TABLE slots (slot int PRIMARY KEY, {' text, '.join(_COLUMNS)} text)"))
    shares: tuple[dict[Any, int], ...] = (SENIORITIES, DEPARTMENTS, COUNTRIES, INDUSTRIES, HEADCOUNTS)
    drawn = zip(*(choice.choices([*one], [*one.values()], k=_SLOTS) for one in shares), strict=True)
    rows = []
    for slot, (seniority, department, *rest) in enumerate(drawn):
        title = choice.choice(_TITLES[seniority]).format((department or "general").replace("_", " ").title())
        rows.append((slot, title, title_terms(title), seniority, department, *rest))
    names = ("slot", *_COLUMNS)
    insert = text(f"INSERT INTO slots VALUES ({', '.join(f':{name}' for name in names)})")
    connection.execute(insert, [dict(zip(names, row, strict=True)) for row in rows])
    connection.execute(text("ANALYZE slots"))
