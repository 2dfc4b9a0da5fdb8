"""The statements: each is one round trip and one transaction, and a reveal takes three of them."""

from __future__ import annotations

TOKEN = """
    SELECT id, workspace_id FROM tokens WHERE digest = $1 AND expires_at > now() AND revoked_at IS NULL
"""

# Without a valid token there is no row. An equal open job is joined; only a new one holds a credit. The
# statement fails and changes nothing if there is no credit (a check of the balance), or if the same
# idempotency key was stored meanwhile (a unique index).
SUBMIT = f"""
WITH token AS ({TOKEN}), replay AS (
    SELECT k.job_id, k.digest FROM token JOIN idempotency_keys k USING (workspace_id) WHERE k.key = $5
), quote AS (
    SELECT token.id, token.workspace_id, c.id AS contact_id, (NOT EXISTS (
        SELECT FROM revealed_values r WHERE r.workspace_id = token.workspace_id AND r.contact_id = c.id
    ))::integer AS price
    FROM token LEFT JOIN contacts c ON c.profile = $2 WHERE NOT EXISTS (SELECT FROM replay)
), job AS (
    INSERT INTO jobs (workspace_id, token_id, contact_id, digest, request, held, channels)
    SELECT workspace_id, id, contact_id, $3, $4, price, ARRAY[$6] FROM quote
    ON CONFLICT (workspace_id, digest) WHERE finished_at IS NULL
    DO UPDATE SET channels = jobs.channels || excluded.channels
    RETURNING id, workspace_id, held, cardinality(channels) = 1 AS created
), key AS (
    INSERT INTO idempotency_keys (workspace_id, key, digest, job_id)
    SELECT workspace_id, $5, $3, id FROM job WHERE $5::text IS NOT NULL
), hold AS (
    SELECT id, workspace_id, held FROM job WHERE created AND held > 0
), balance AS (
    UPDATE workspaces w SET available = available - hold.held, held = w.held + hold.held
    FROM hold WHERE w.id = hold.workspace_id
), entry AS (
    INSERT INTO ledger (workspace_id, job_id, kind, available, held, spent)
    SELECT workspace_id, id, 'hold', -held, held, 0 FROM hold
)
SELECT coalesce(job.id, replay.job_id) AS id, job.created, replay.digest AS replayed
FROM token LEFT JOIN job ON true LEFT JOIN replay ON true
"""

CLAIM = """
WITH job AS (
    UPDATE jobs SET status = 'running', attempts = attempts + 1, lease_until = now() + interval '1 minute'
    WHERE id = $1 AND (status = 'queued' OR status = 'running' AND lease_until < now())
    RETURNING attempts, contact_id, digest
)
SELECT job.attempts, job.contact_id, e.digest, e.address, e.status,
    EXISTS (SELECT FROM suppressions s WHERE s.digest IN (job.digest, e.digest)) AS suppressed
FROM job LEFT JOIN emails e ON e.contact_id = job.contact_id
"""

# `attempts` is the token of the lease: a worker that has lost it changes nothing.
SETTLE = """
WITH job AS (
    SELECT id, workspace_id, token_id, contact_id, held, channels FROM jobs
    WHERE id = $1 AND attempts = $2 AND status IN ('queued', 'running') FOR UPDATE
), revealed AS (
    INSERT INTO revealed_values (workspace_id, contact_id, digest, job_id)
    SELECT workspace_id, contact_id, unnest($5::bytea[]), id FROM job ON CONFLICT DO NOTHING RETURNING 1
), price AS (
    SELECT *, CASE WHEN EXISTS (SELECT FROM revealed) THEN held ELSE 0 END AS charged FROM job
), finished AS (
    UPDATE jobs SET status = $3, outcome = $4, charged = price.charged, result = $6::jsonb, trace = $7::jsonb,
        finished_at = now()
    FROM price WHERE jobs.id = price.id
), balance AS (
    UPDATE workspaces w SET available = available + price.held - charged, held = w.held - price.held,
        spent = spent + charged
    FROM price WHERE w.id = price.workspace_id RETURNING available
), entry AS (
    INSERT INTO ledger (workspace_id, job_id, kind, available, held, spent)
    SELECT workspace_id, id, CASE charged WHEN 0 THEN 'release' ELSE 'settle' END, held - charged, -held,
        charged
    FROM price WHERE held > 0
), disclosure AS (
    INSERT INTO audit_log (workspace_id, token_id, action, contact_id, job_id)
    SELECT workspace_id, token_id, 'reveal.email', contact_id, id FROM job WHERE $4 = 'found'
)
SELECT price.charged, price.channels, balance.available FROM price, balance
"""

FINISHED = """
SELECT j.id, j.status, j.outcome, j.charged, j.result::text AS result, j.trace::text AS trace, w.available
FROM jobs j JOIN workspaces w ON w.id = j.workspace_id WHERE j.id = $1 AND j.finished_at IS NOT NULL
"""

LOOKUP = f"""
SELECT c.id, c.full_name, c.title, o.name, o.domain, e.address, e.status, r.digest IS NOT NULL AS owned,
    EXISTS (SELECT FROM suppressions s WHERE s.digest IN ($3, e.digest)) AS suppressed
FROM ({TOKEN}) token
LEFT JOIN contacts c ON c.profile = $2
LEFT JOIN companies o ON o.id = c.company_id
LEFT JOIN emails e ON e.contact_id = c.id
LEFT JOIN revealed_values r ON r.workspace_id = token.workspace_id AND r.digest = e.digest
"""

SWEEP = """
UPDATE jobs SET status = 'queued', lease_until = now() + interval '5 seconds'
WHERE finished_at IS NULL AND lease_until < now() RETURNING id, attempts
"""

FORGET_KEYS = "DELETE FROM idempotency_keys WHERE created_at < now() - interval '7 days'"
