"""Invariants of credits, jobs and reveals, each as a query that returns its violations.

They are plain SQL on purpose: an implementation independent of the rest of the code, which runs unchanged on
PostgreSQL and SQLite. Each query returns `id`, `workspace_id`, `expected` and `found`: ids, states and
numbers, no personal data. `{job:…}`, `{entry:…}` and `{key:…}` stand for the condition that the audit covers
the job, ledger entry or idempotency key of this column (coverage.py); a join has it for both tables, so that
neither is searched row by row. Related rows are written in one transaction, so every snapshot of a correct
database satisfies all rules, even under load. What a constraint of the database enforces has no rule here.
"""

from __future__ import annotations

from dataclasses import dataclass

BALANCE_RULE = "balance_is_the_sum"
STUCK_BEFORE = "stuck_before"
"""A parameter of a query: no open job may have had its deadline before this time."""
_REPAIR = (
    "Back up the database, grant no credits to the workspace, and find the cause by the times in the ledger. "
    "Then insert a correcting entry."
)
_SEE_JOB = "Compare what the job held with what it was charged: flask jobs show ID"
_REFUND = "If the workspace received nothing, return its credits: flask credits grant"


@dataclass(frozen=True, slots=True)
class Rule:
    """An invariant; `next_step` tells the operator what to do about a violation."""

    name: str
    description: str
    next_step: str
    query: str


RULES = (
    Rule(
        BALANCE_RULE,
        "a workspace's available, held and spent credits are the sums of its ledger entries",
        _REPAIR,
        """
        SELECT w.id AS id, w.id AS workspace_id,
               'available ' || coalesce(l.available, 0) || ', held ' || coalesce(l.held, 0)
               || ', spent ' || coalesce(l.spent, 0) AS expected,
               'available ' || w.available || ', held ' || w.held || ', spent ' || w.spent AS found
        FROM workspaces w
        LEFT JOIN (SELECT workspace_id, sum(available) AS available, sum(held) AS held, sum(spent) AS spent
                   FROM ledger GROUP BY workspace_id) l ON l.workspace_id = w.id
        WHERE w.available <> coalesce(l.available, 0) OR w.held <> coalesce(l.held, 0)
              OR w.spent <> coalesce(l.spent, 0)
        """,
    ),
    Rule(
        "held_by_open_jobs",
        "a workspace's held credits are the sum of what its open jobs hold",
        "List its open jobs: flask jobs list --workspace ID --status queued (then running)",
        """
        SELECT w.id AS id, w.id AS workspace_id, 'held ' || coalesce(j.held, 0) AS expected,
               'held ' || w.held AS found
        FROM workspaces w
        LEFT JOIN (SELECT workspace_id, sum(held) AS held FROM jobs WHERE status IN ('queued', 'running')
                   GROUP BY workspace_id) j ON j.workspace_id = w.id
        WHERE w.held <> coalesce(j.held, 0)
        """,
    ),
    Rule(
        # Constraints forbid negative available and held credits of a workspace. Its spent credits cannot be
        # negative if the refunds of each job are at most its charge, see refund_is_due.
        "nothing_is_negative",
        "no amount of credits is negative",
        _REPAIR,
        """
        SELECT id, workspace_id, '0 or more' AS expected,
               'held ' || held || ', charged ' || charged AS found
        FROM jobs WHERE (held < 0 OR charged < 0) AND {job:id}
        UNION ALL
        SELECT i.job_id, j.workspace_id, '0 or more', 'item ' || i."index" || ' charged ' || i.charged
        FROM job_items i JOIN jobs j ON j.id = i.job_id
        WHERE i.charged < 0 AND {job:i.job_id}
        UNION ALL
        SELECT contact_id, workspace_id, '0 or more', 'reveal of ' || credits FROM reveals
        WHERE credits < 0 AND {job:job_id}
        """,
    ),
    Rule(
        "entry_adds_up",
        "each ledger entry moves credits between available, held and spent; only a grant adds credits",
        _REPAIR,
        """
        SELECT id, workspace_id, 'a sound ' || kind AS expected,
               'available ' || available || ', held ' || held || ', spent ' || spent
               || CASE WHEN job_id IS NULL THEN ', no job' ELSE '' END AS found
        FROM ledger
        WHERE CASE kind
              WHEN 'grant' THEN available <= 0 OR held <> 0 OR spent <> 0 OR job_id IS NOT NULL
              WHEN 'hold' THEN held <= 0 OR available <> -held OR spent <> 0 OR job_id IS NULL
              WHEN 'settle' THEN held >= 0 OR spent <= 0 OR available <> -held - spent OR job_id IS NULL
              WHEN 'release' THEN held >= 0 OR spent <> 0 OR available <> -held OR job_id IS NULL
              WHEN 'refund' THEN available <= 0 OR held <> 0 OR spent <> -available OR job_id IS NULL
              ELSE 1 = 1 END AND {entry:id}
        """,
    ),
    Rule(
        "entry_has_its_job",
        "the job of a ledger entry exists and has the same workspace",
        "Find out what deleted or moved the job. A job that cost credits must never be deleted.",
        """
        SELECT l.id AS id, l.workspace_id AS workspace_id, 'a job of the workspace' AS expected,
               l.job_id || coalesce(' of ' || j.workspace_id, ', which is gone') AS found
        FROM ledger l LEFT JOIN jobs j ON j.id = l.job_id
        WHERE l.job_id IS NOT NULL AND (j.id IS NULL OR j.workspace_id <> l.workspace_id) AND {entry:l.id}
        """,
    ),
    Rule(
        "final_job_is_closed",
        "a finished job that held credits has a hold and a close in the ledger",
        _SEE_JOB,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'a hold and a close of ' || j.held AS expected,
               CASE WHEN h.id IS NULL THEN 'no hold' ELSE 'a hold' END || ', '
               || CASE WHEN c.id IS NULL THEN 'no close' ELSE 'a close' END AS found
        FROM jobs j
        LEFT JOIN ledger h ON h.job_id = j.id AND h.kind = 'hold' AND {job:h.job_id}
        LEFT JOIN ledger c ON c.job_id = j.id AND c.kind IN ('settle', 'release') AND {job:c.job_id}
        WHERE j.status NOT IN ('queued', 'running') AND j.held > 0 AND (h.id IS NULL OR c.id IS NULL)
              AND {job:j.id}
        """,
    ),
    Rule(
        "close_is_what_the_job_says",
        "the hold and the close of a finished job match what it held and was charged",
        _SEE_JOB,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id,
               'held ' || j.held || ', charged ' || j.charged AS expected,
               l.kind || ' of ' || abs(l.held) || ', spent ' || l.spent AS found
        FROM jobs j JOIN ledger l ON l.job_id = j.id AND l.kind = 'hold' AND {job:l.job_id}
        WHERE j.status NOT IN ('queued', 'running') AND l.held <> j.held AND {job:j.id}
        UNION ALL
        SELECT j.id, j.workspace_id, 'held ' || j.held || ', charged ' || j.charged,
               l.kind || ' of ' || abs(l.held) || ', spent ' || l.spent
        FROM jobs j JOIN ledger l ON l.job_id = j.id AND l.kind IN ('settle', 'release') AND {job:l.job_id}
        WHERE j.status NOT IN ('queued', 'running') AND (l.held <> -j.held OR l.spent <> j.charged)
              AND {job:j.id}
        """,
    ),
    Rule(
        "open_job_is_not_closed",
        "an open job has no close in the ledger",
        _SEE_JOB,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'no close while ' || j.status AS expected,
               l.kind || ' ' || l.id AS found
        FROM jobs j JOIN ledger l ON l.job_id = j.id AND l.kind IN ('settle', 'release')
        WHERE j.status IN ('queued', 'running')
        """,
    ),
    Rule(
        "only_final_jobs_are_finished",
        "a job has a finish time exactly if it is finished",
        _SEE_JOB,
        """
        SELECT id, workspace_id,
               CASE WHEN finished_at IS NULL THEN 'a time' ELSE 'none' END || ' while ' || status AS expected,
               CASE WHEN finished_at IS NULL THEN 'none' ELSE 'a time' END AS found
        FROM jobs WHERE (status IN ('queued', 'running')) = (finished_at IS NOT NULL) AND {job:id}
        """,
    ),
    Rule(
        "charged_for_an_answer",
        "only found values are charged: a successful reveal, or an item of an enrichment",
        _REFUND,
        """
        SELECT id, workspace_id, 'charged 0' AS expected,
               'charged ' || charged || ', ' || kind || ' ' || status || coalesce(' ' || outcome, '') AS found
        FROM jobs
        WHERE charged > 0 AND kind <> 'enrichment_request'
              AND (kind NOT IN ('reveal.email', 'reveal.phone') OR status <> 'succeeded'
                   OR coalesce(outcome, '') <> 'found')
              AND {job:id}
        UNION ALL
        SELECT i.job_id, j.workspace_id, 'charged 0',
               'charged ' || i.charged || ', item ' || i."index" || coalesce(' ' || i.outcome, '')
        FROM job_items i JOIN jobs j ON j.id = i.job_id
        WHERE i.charged > 0 AND coalesce(i.outcome, '') NOT IN ('found', 'partial') AND {job:i.job_id}
        """,
    ),
    Rule(
        "items_add_up",
        "the charge of an enrichment is the sum of its items' charges",
        _SEE_JOB,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'charged ' || coalesce(i.charged, 0) AS expected,
               'charged ' || j.charged AS found
        FROM jobs j
        LEFT JOIN (SELECT job_id, sum(charged) AS charged FROM job_items WHERE {job:job_id}
                   GROUP BY job_id) i ON i.job_id = j.id
        WHERE j.kind = 'enrichment_request' AND j.charged <> coalesce(i.charged, 0) AND {job:j.id}
        """,
    ),
    Rule(
        # An erased person is no longer a contact, and the reveals of that contact were deleted with it.
        "paid_reveal_is_owned",
        "a charged reveal is owned or was refunded, unless the person was erased",
        _REFUND,
        """
        WITH suspects AS MATERIALIZED (
            SELECT j.id, j.workspace_id, j.charged, j.result ->> 'contact_id' AS contact_id
            FROM jobs j
            WHERE j.kind IN ('reveal.email', 'reveal.phone') AND j.charged > 0 AND {job:j.id}
                  AND NOT EXISTS (SELECT 1 FROM reveals r
                                  WHERE r.workspace_id = j.workspace_id
                                        AND r.contact_id = j.result ->> 'contact_id'
                                        AND r.field = substr(j.kind, 8) AND r.job_id = j.id
                                        AND r.credits >= j.charged AND {job:r.job_id}))
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'a reveal of ' || j.charged AS expected,
               'none for this job' AS found
        FROM suspects j JOIN contacts c ON c.id = j.contact_id
        LEFT JOIN (SELECT job_id, sum(available) AS refunded FROM ledger
                   WHERE kind = 'refund' AND {job:job_id} GROUP BY job_id) l ON l.job_id = j.id
        WHERE j.charged > coalesce(l.refunded, 0)
        """,
    ),
    Rule(
        "owned_reveal_is_paid",
        "the price of each reveal was charged to its job",
        _SEE_JOB,
        """
        SELECT r.job_id AS id, r.workspace_id AS workspace_id,
               'charged ' || r.credits || ' or more' AS expected,
               coalesce('charged ' || j.charged, 'no such job') AS found
        FROM (SELECT workspace_id, job_id, sum(credits) AS credits FROM reveals
              WHERE credits > 0 AND {job:job_id} GROUP BY workspace_id, job_id) r
        LEFT JOIN jobs j ON j.id = r.job_id AND j.workspace_id = r.workspace_id AND {job:j.id}
        WHERE j.id IS NULL OR j.charged < r.credits
        """,
    ),
    Rule(
        # Values revealed before revealed_values existed have no job; their reveals are not checked. The time
        # of the first is read only if there are suspects: no index has it.
        "charged_value_is_new",
        "a charged reveal returned a value that the workspace did not own under any contact",
        _REFUND,
        """
        WITH suspects AS MATERIALIZED (
            SELECT r.contact_id, r.workspace_id, r.job_id, r.created_at
            FROM reveals r
            WHERE r.credits > 0 AND r.refunded_at IS NULL AND {job:r.job_id}
                  AND NOT EXISTS (SELECT 1 FROM revealed_values v
                                  WHERE v.workspace_id = r.workspace_id AND v.field = r.field
                                        AND v.contact_id = r.contact_id AND v.job_id = r.job_id)
                  AND NOT EXISTS (SELECT 1 FROM ledger l WHERE l.job_id = r.job_id AND l.kind = 'refund'))
        SELECT contact_id AS id, workspace_id, 'a value of its own' AS expected,
               'none for job ' || job_id AS found
        FROM suspects
        WHERE created_at >= (SELECT min(v.created_at) FROM revealed_values v WHERE v.job_id IS NOT NULL)
        """,
    ),
    Rule(
        # A reveal deleted with its contact may have been refunded: up to the rest of the charge is accepted.
        "refund_is_due",
        "the refunds of a job are the prices of its refunded reveals",
        _REPAIR,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'refunded ' || coalesce(r.refunded, 0) AS expected,
               'refunded ' || coalesce(l.amount, 0) AS found
        FROM jobs j
        LEFT JOIN (SELECT job_id, sum(available) AS amount FROM ledger WHERE kind = 'refund' AND {job:job_id}
                   GROUP BY job_id) l ON l.job_id = j.id
        LEFT JOIN (SELECT job_id, sum(credits) AS credits,
                          sum(CASE WHEN refunded_at IS NULL THEN 0 ELSE credits END) AS refunded
                   FROM reveals WHERE credits > 0 AND {job:job_id} GROUP BY job_id) r ON r.job_id = j.id
        WHERE (coalesce(l.amount, 0) < coalesce(r.refunded, 0)
               OR coalesce(l.amount, 0) > coalesce(r.refunded, 0)
                  + CASE WHEN j.charged > coalesce(r.credits, 0) THEN j.charged - coalesce(r.credits, 0)
                         ELSE 0 END)
              AND {job:j.id}
        """,
    ),
    Rule(
        # Feedback is deleted with its contact; its refund stays in the ledger.
        "feedback_refund_is_entered",
        "the refunds recorded with feedback are in the ledger",
        _REPAIR,
        """
        SELECT f.workspace_id AS id, f.workspace_id AS workspace_id,
               'at most ' || coalesce(l.amount, 0) AS expected, 'refunded ' || f.refunded AS found
        FROM (SELECT workspace_id, sum(refunded) AS refunded FROM feedback GROUP BY workspace_id) f
        LEFT JOIN (SELECT workspace_id, sum(available) AS amount FROM ledger WHERE kind = 'refund'
                   GROUP BY workspace_id) l ON l.workspace_id = f.workspace_id
        WHERE f.refunded > coalesce(l.amount, 0)
        """,
    ),
    Rule(
        "bounce_is_decided_once",
        "a reported bounce is not both confirmed and refuted, and only a bounce is refunded",
        "Check when the address was verified, and set the wrong time to null.",
        """
        SELECT id, workspace_id, 'one decision' AS expected,
               kind || ', refunded ' || refunded
               || CASE WHEN confirmed_at IS NULL THEN '' ELSE ', confirmed' END
               || CASE WHEN refuted_at IS NULL THEN '' ELSE ', refuted' END AS found
        FROM feedback
        WHERE (confirmed_at IS NOT NULL AND refuted_at IS NOT NULL)
              OR (kind <> 'bounce' AND (refunded <> 0 OR confirmed_at IS NOT NULL OR refuted_at IS NOT NULL))
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
        # The record that a key refers to may have been erased with a person; a job or an API key never is.
        "key_stands_for_something",
        "an Idempotency-Key refers to a job or record of its own workspace",
        "A replay would fail, or return another workspace's data. Delete the row from idempotency_keys.",
        """
        SELECT coalesce(k.reference, k.workspace_id) AS id, k.workspace_id AS workspace_id,
               'something of the workspace' AS expected,
               CASE WHEN k.reference IS NULL THEN 'nothing'
                    ELSE coalesce('that of ' || coalesce(j.workspace_id, p.workspace_id, f.workspace_id,
                                                         a.workspace_id), 'what is gone') END AS found
        FROM idempotency_keys k
        LEFT JOIN jobs j ON j.id = k.reference
        LEFT JOIN saved_profiles p ON p.id = k.reference
        LEFT JOIN feedback f ON f.id = k.reference
        LEFT JOIN (SELECT api_keys.id, accounts.workspace_id FROM api_keys
                   JOIN accounts ON accounts.id = api_keys.account_id) a ON a.id = k.reference
        WHERE (k.reference IS NULL
               OR coalesce(j.workspace_id, p.workspace_id, f.workspace_id, a.workspace_id,
                           CASE WHEN substr(k.reference, 1, 4) IN ('prf_', 'fdb_') THEN k.workspace_id
                                ELSE '' END) <> k.workspace_id)
              AND {key:k.created_at}
        """,
    ),
)
