"""Invariants of spending limits: their counters are sums over jobs.

That what a job holds and spent is in the ledger, `ledger_rules` checks; reading both here would take four
times as long.
"""

from __future__ import annotations

from app.engine.audit.rule import Rule

RULES = (
    Rule(
        "limit_counter_is_the_sum",
        "the counter of a spending limit is what the jobs of its account or key hold and spent, less refunds",
        "Remove the limit and set it again, which recounts it: flask limits remove, then flask limits set",
        """
        WITH counters AS (
            SELECT s.id, s.workspace_id, s.account_id, s.key_id, c.starts_at, c.ends_at, c.held, c.spent
            FROM spending_limits s JOIN spending_counters c ON c.limit_id = s.id
            WHERE {limit:s.id}),
        counted AS MATERIALIZED (
            SELECT c.id, c.starts_at, j.id AS job_id, j.status, j.held, j.charged
            FROM counters c JOIN jobs j ON j.key_id = c.key_id AND j.created_at >= c.starts_at
                                           AND j.created_at < c.ends_at
            UNION ALL
            SELECT c.id, c.starts_at, j.id, j.status, j.held, j.charged
            FROM counters c JOIN jobs j ON j.workspace_id = c.workspace_id AND j.account_id = c.account_id
                                           AND j.created_at >= c.starts_at AND j.created_at < c.ends_at),
        amounts AS (
            SELECT id, starts_at, held, 0 AS spent FROM counted WHERE status IN ('queued', 'running')
            UNION ALL
            SELECT id, starts_at, 0, charged FROM counted WHERE status NOT IN ('queued', 'running')
            UNION ALL
            SELECT t.id, t.starts_at, l.held, l.spent
            FROM counted t JOIN ledger l ON l.job_id = t.job_id AND l.kind = 'refund')
        SELECT c.id AS id, c.workspace_id AS workspace_id,
               'held ' || coalesce(e.held, 0) || ', spent ' || coalesce(e.spent, 0) AS expected,
               'held ' || c.held || ', spent ' || c.spent AS found
        FROM counters c
        LEFT JOIN (SELECT id, starts_at, sum(held) AS held, sum(spent) AS spent FROM amounts
                   GROUP BY id, starts_at) e ON e.id = c.id AND e.starts_at = c.starts_at
        WHERE c.held <> coalesce(e.held, 0) OR c.spent <> coalesce(e.spent, 0)
        """,
    ),
    Rule(
        "limited_workspace_is_marked",
        "a workspace is marked as limited if and only if it has a spending limit",
        "Set any of its limits again: flask limits set. An unmarked workspace does not enforce its limits.",
        """
        SELECT w.id AS id, w.id AS workspace_id,
               CASE WHEN w.is_limited THEN 'a limit' ELSE 'no limit' END AS expected,
               CASE WHEN w.is_limited THEN 'no limit' ELSE 'a limit' END AS found
        FROM workspaces w
        WHERE w.is_limited <> EXISTS (SELECT 1 FROM spending_limits s WHERE s.workspace_id = w.id)
        """,
    ),
)
