"""The tables and their rows: some are those of `sql`, the others have more columns."""

from __future__ import annotations

import psycopg

from benchmarks.comparison.people import person
from benchmarks.comparison.systems import sql
from benchmarks.comparison.systems.alternative import KEY, create, rows
from benchmarks.comparison.systems.fastapi_saq_duties.sealing import Cipher
from benchmarks.comparison.systems.system import Scale

# The last four tables have no foreign keys: the statement that inserts a row has just read what it refers to.
# The index of open jobs does not depend on a column that a claim changes, so that a claim writes to no index.
# `lease_until` of a queued job is when its message counts as lost.
TABLES = f"""
{sql.COMMON_TABLES}
ALTER TABLE workspaces ADD CHECK (available >= 0);
CREATE TABLE tokens (
    digest bytea PRIMARY KEY, id bigint GENERATED ALWAYS AS IDENTITY,
    workspace_id integer NOT NULL REFERENCES workspaces, revoked_at timestamptz,
    expires_at timestamptz NOT NULL DEFAULT now() + interval '30 days'
);
CREATE TABLE emails (
    contact_id integer NOT NULL REFERENCES contacts, digest bytea NOT NULL UNIQUE, address bytea NOT NULL,
    status text NOT NULL, PRIMARY KEY (contact_id, digest)
);
CREATE TABLE suppressions (digest bytea PRIMARY KEY);
CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, workspace_id integer NOT NULL,
    token_id bigint NOT NULL, contact_id integer, digest bytea NOT NULL, request bytea NOT NULL,
    channels text[] NOT NULL, status text NOT NULL DEFAULT 'queued', attempts integer NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL DEFAULT now() + interval '5 seconds', held bigint NOT NULL,
    charged bigint NOT NULL DEFAULT 0, outcome text, result jsonb, trace jsonb,
    created_at timestamptz NOT NULL DEFAULT now(), finished_at timestamptz
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX ON jobs (workspace_id, digest) WHERE finished_at IS NULL;
CREATE TABLE idempotency_keys (
    workspace_id integer NOT NULL, key text NOT NULL, digest bytea NOT NULL, job_id bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (workspace_id, key)
);
CREATE TABLE revealed_values (
    workspace_id integer NOT NULL, contact_id integer NOT NULL, digest bytea NOT NULL, job_id bigint NOT NULL,
    PRIMARY KEY (workspace_id, contact_id, digest), UNIQUE (workspace_id, digest)
);
CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, workspace_id integer NOT NULL,
    token_id bigint NOT NULL, action text NOT NULL, contact_id integer NOT NULL, job_id bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
"""


def fill(connection: psycopg.Connection[tuple[object, ...]], scale: Scale, tokens: list[str]) -> None:
    """Create the tables and their data, with encrypted addresses."""
    cipher = Cipher(bytes.fromhex(KEY))
    emails = (
        (one.number, cipher.digest(one.address), cipher.seal(one.address, f"emails {one.number}"), "valid")
        for one in map(person, range(scale.people))
    )
    create(connection, TABLES, rows(scale, tokens) | {"emails": emails})
