"""Invariants of jobs and idempotency keys: states, times and leases agree."""

from __future__ import annotations

from app.engine.audit.rule import SEE_JOB, Rule

STUCK_BEFORE = "stuck_before"
"""A parameter of a query: no open job may have had its deadline before this time."""

RULES = (
    Rule(
        "only_final_jobs_are_finished",
        "a job has a finish time exactly if it is finished",
        SEE_JOB,
        """
        SELECT id, workspace_id,
               CASE WHEN finished_at IS NULL THEN 'a time' ELSE 'none' END || ' while ' || status AS expected,
               CASE WHEN finished_at IS NULL THEN 'none' ELSE 'a time' END AS found
        FROM jobs WHERE (status IN ('queued', 'running')) = (finished_at IS NOT NULL) AND {job:id}
        """,
    ),
    Rule(
        # A constraint requires the lease token.
        "running_job_has_a_lease",
        "the lease of a running job has an end, and no other job has a lease",
        "No worker will claim the job. Reset it in the database: status queued, no lease.",
        """
        SELECT id, workspace_id,
               CASE WHEN status = 'running' THEN 'an end' ELSE 'no end' END
               || ' of the lease while ' || status AS expected,
               CASE WHEN lease_until IS NULL THEN 'no end' ELSE 'an end' END AS found
        FROM jobs WHERE (status = 'running') <> (lease_until IS NOT NULL) AND {job:id}
        """,
    ),
    Rule(
        "open_job_is_not_stuck",
        "an overdue job without a live worker is ended by the next sweep",
        "No worker runs the sweep. Check that workers run and reach the database, and read their logs.",
        """
        SELECT id, workspace_id, 'over' AS expected, status || ' past its deadline' AS found
        FROM jobs
        WHERE status IN ('queued', 'running') AND deadline_at < :stuck_before
              AND (status = 'queued' OR lease_until < :stuck_before)
        """,
    ),
    Rule(
        # The record that a key refers to may have been erased with a person, or deleted by its workspace; a
        # job or an API key never is. Contacts belong to no workspace.
        "key_stands_for_something",
        "an Idempotency-Key refers to a job or record of its own workspace",
        "A replay would fail, or return another workspace's data. Delete the row from idempotency_keys.",
        """
        SELECT coalesce(k.reference, k.workspace_id) AS id, k.workspace_id AS workspace_id,
               'something of the workspace' AS expected,
               CASE WHEN k.reference IS NULL THEN 'nothing'
                    ELSE coalesce('that of ' || coalesce(j.workspace_id, a.workspace_id,
                                                         {referred_workspaces}), 'what is gone') END AS found
        FROM idempotency_keys k
        LEFT JOIN jobs j ON j.id = k.reference
        {referred_rows}
        LEFT JOIN (SELECT api_keys.id, accounts.workspace_id FROM api_keys
                   JOIN accounts ON accounts.id = api_keys.account_id) a ON a.id = k.reference
        WHERE (k.reference IS NULL
               OR coalesce(j.workspace_id, a.workspace_id, {referred_workspaces},
                           CASE WHEN substr(k.reference, 1, 4) IN ('con_', {deletable_prefixes})
                                THEN k.workspace_id
                                ELSE '' END) <> k.workspace_id)
              AND {key:k.created_at}
        """,
    ),
)
