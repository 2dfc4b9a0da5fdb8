"""The tables and statements of the alternatives, and their answers: the same for all of them.

Each statement is one round trip, and its own transaction: six of them make a reveal. This is the least that
runs the workload, and less than most teams would write.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

CREDITS = 1_000_000

COMMON_TABLES = """
CREATE TABLE workspaces (
    id integer PRIMARY KEY, available bigint NOT NULL DEFAULT 0, held bigint NOT NULL DEFAULT 0,
    spent bigint NOT NULL DEFAULT 0
);
CREATE TABLE companies (id integer PRIMARY KEY, name text NOT NULL, domain text NOT NULL UNIQUE);
CREATE TABLE contacts (
    id integer PRIMARY KEY, profile text NOT NULL UNIQUE, full_name text NOT NULL, title text NOT NULL,
    company_id integer NOT NULL REFERENCES companies
);
CREATE TABLE ledger (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, workspace_id integer NOT NULL REFERENCES workspaces,
    job_id bigint, kind text NOT NULL, available bigint NOT NULL, held bigint NOT NULL,
    spent bigint NOT NULL, created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX ON ledger (job_id) WHERE kind = 'hold';
CREATE UNIQUE INDEX ON ledger (job_id) WHERE kind IN ('settle', 'release');
"""

TABLES = f"""
{COMMON_TABLES}
CREATE TABLE tokens (digest bytea PRIMARY KEY, workspace_id integer NOT NULL REFERENCES workspaces);
CREATE TABLE emails (
    contact_id integer NOT NULL REFERENCES contacts, address text NOT NULL, status text NOT NULL,
    PRIMARY KEY (contact_id, address)
);
CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, workspace_id integer NOT NULL REFERENCES workspaces,
    profile text NOT NULL, status text NOT NULL, held bigint NOT NULL, charged bigint NOT NULL DEFAULT 0,
    result jsonb, lease_until timestamptz, created_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
);
CREATE INDEX ON jobs (created_at) WHERE status IN ('queued', 'running');
CREATE TABLE reveals (
    workspace_id integer NOT NULL REFERENCES workspaces, contact_id integer NOT NULL REFERENCES contacts,
    job_id bigint NOT NULL, PRIMARY KEY (workspace_id, contact_id)
);
"""

AUTHENTICATE = "SELECT workspace_id FROM tokens WHERE digest = $1"

SUBMIT = """
WITH balance AS (
    UPDATE workspaces SET available = available - 1, held = held + 1
    WHERE id = $1 AND available >= 1 RETURNING id
), job AS (
    INSERT INTO jobs (workspace_id, profile, status, held)
    SELECT id, $2, 'queued', 1 FROM balance RETURNING id, workspace_id
), entry AS (
    INSERT INTO ledger (workspace_id, job_id, kind, available, held, spent)
    SELECT workspace_id, id, 'hold', -1, 1, 0 FROM job
)
SELECT id FROM job
"""

CLAIM = """
UPDATE jobs SET status = 'running', lease_until = now() + interval '1 minute'
WHERE id = $1 AND status = 'queued' RETURNING profile
"""

READ = """
SELECT c.id, e.address, e.status FROM contacts c JOIN emails e ON e.contact_id = c.id
WHERE c.profile = $1 ORDER BY e.address
"""

SETTLE = """
WITH job AS (
    SELECT id, workspace_id FROM jobs WHERE id = $1 AND status = 'running' FOR UPDATE
), owned AS (
    INSERT INTO reveals (workspace_id, contact_id, job_id) SELECT workspace_id, $2, id FROM job
    ON CONFLICT DO NOTHING RETURNING 1
), price AS (
    SELECT id, workspace_id, (SELECT count(*) FROM owned) AS charged FROM job
), finished AS (
    UPDATE jobs SET status = 'succeeded', charged = price.charged, result = $3::jsonb, finished_at = now()
    FROM price WHERE jobs.id = price.id
), balance AS (
    UPDATE workspaces SET available = available + 1 - charged, held = held - 1, spent = spent + charged
    FROM price WHERE workspaces.id = price.workspace_id
)
INSERT INTO ledger (workspace_id, job_id, kind, available, held, spent)
SELECT workspace_id, id, CASE charged WHEN 1 THEN 'settle' ELSE 'release' END, 1 - charged, -1, charged
FROM price
"""

ANSWER = """
SELECT j.id, j.status, j.result::text AS result, j.charged, w.available
FROM jobs j JOIN workspaces w ON w.id = j.workspace_id WHERE j.id = $1
"""

LOOKUP = """
SELECT c.id, c.full_name, c.title, o.name, o.domain,
    ARRAY(SELECT address FROM emails e WHERE e.contact_id = c.id) AS addresses
FROM contacts c JOIN companies o ON o.id = c.company_id WHERE c.profile = $1
"""


def digest(authorization: str | None) -> bytes:
    """Return the digest of the token in an Authorization header."""
    return hashlib.sha256((authorization or "").removeprefix("Bearer ").encode()).digest()


def result_json(emails: Sequence[Sequence[Any]]) -> str:
    """Return the result of a reveal, from the rows of READ."""
    values = [{"email": address, "status": status} for _contact, address, status in emails]
    return json.dumps({"contact_id": emails[0][0], "emails": values})


def reveal_body(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response to a reveal, from the row of ANSWER."""
    return {
        "job": {"id": row["id"], "status": row["status"]},
        "result": json.loads(row["result"]),
        "credits": {"charged": row["charged"], "balance": row["available"]},
    }


def lookup_body(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response to a lookup, from the row of LOOKUP, with masked addresses."""
    masked = [f"{address[0]}•••••@{address.partition('@')[2]}" for address in row["addresses"]]
    return {
        "outcome": "matched",
        "contact": {"id": row["id"], "full_name": row["full_name"], "title": row["title"]},
        "company": {"name": row["name"], "domain": row["domain"]},
        "available": [{"field": "email", "masked": address, "credits": 1} for address in masked],
    }
