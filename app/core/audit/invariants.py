"""Invariants of credits, jobs and reveals, each as a query that returns its violations.

They are plain SQL on purpose: an implementation independent of the rest of the code, which runs unchanged on
PostgreSQL and SQLite. Each query returns `id`, `workspace_id`, `expected` and `found`: ids, states and
numbers, no personal data. Related rows are written in one transaction, so every snapshot of a correct
database satisfies all rules, even under load.
"""

from __future__ import annotations

from dataclasses import dataclass

STUCK_BEFORE = "stuck_before"
"""The only parameter of a query: no open job may have had its deadline before this time."""
_REPAIR = (
    "Stop granting to it, keep a backup, find the writer by the ledger's times; mend by a counter-entry."
)
_BY_HAND = (
    "Somebody wrote to the table by hand, or an index is gone: flask database upgrade, then see the job."
)
_SEE_JOB = "See what it held and was charged: flask jobs show ID"
_REFUND = "If the workspace paid for nothing, grant it the credits back: flask credits grant"


@dataclass(frozen=True, slots=True)
class Rule:
    """An invariant; `next_step` tells the operator what to do about a violation."""

    name: str
    says: str
    next_step: str
    query: str


RULES = (
    Rule(
        "balance_is_the_sum",
        "a workspace's figures are the sums of its ledger",
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
        "what a workspace has held is what its open jobs hold",
        "See its open jobs: flask jobs list --workspace ID --status queued (and running)",
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
        # An item may be refunded while its enrichment is open; the charge is spent when the job ends.
        "nothing_is_negative",
        "no figure of credits is below zero",
        _REPAIR,
        """
        SELECT w.id AS id, w.id AS workspace_id, '0 or more' AS expected,
               'available ' || w.available || ', held ' || w.held || ', spent ' || w.spent AS found
        FROM workspaces w
        WHERE w.available < 0 OR w.held < 0
              OR w.spent < 0 AND w.spent + coalesce((SELECT sum(j.charged) FROM jobs j
                                                     WHERE j.workspace_id = w.id
                                                           AND j.status IN ('queued', 'running')), 0) < 0
        UNION ALL
        SELECT id, workspace_id, '0 or more', 'held ' || held || ', charged ' || charged
        FROM jobs WHERE held < 0 OR charged < 0
        UNION ALL
        SELECT i.job_id, j.workspace_id, '0 or more', 'item ' || i."index" || ' charged ' || i.charged
        FROM job_items i JOIN jobs j ON j.id = i.job_id WHERE i.charged < 0
        UNION ALL
        SELECT contact_id, workspace_id, '0 or more', 'reveal of ' || credits FROM reveals WHERE credits < 0
        """,
    ),
    Rule(
        "entry_adds_up",
        "each row of the ledger moves credits from one figure to another, only a grant adds any",
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
              ELSE 1 = 1 END
        """,
    ),
    Rule(
        "entry_has_its_job",
        "each row of the ledger that names a job names one of the same workspace",
        "Find who deleted or moved the job; a job that cost something must never be deleted.",
        """
        SELECT l.id AS id, l.workspace_id AS workspace_id, 'a job of the workspace' AS expected,
               l.job_id || coalesce(' of ' || j.workspace_id, ', which is gone') AS found
        FROM ledger l LEFT JOIN jobs j ON j.id = l.job_id
        WHERE l.job_id IS NOT NULL AND (j.id IS NULL OR j.workspace_id <> l.workspace_id)
        """,
    ),
    Rule(
        "held_and_closed_once",
        "a job has at most one hold and at most one close",
        _BY_HAND,
        """
        SELECT job_id AS id, min(workspace_id) AS workspace_id, 'one hold' AS expected,
               count(*) || ' holds' AS found
        FROM ledger WHERE kind = 'hold' GROUP BY job_id HAVING count(*) > 1
        UNION ALL
        SELECT job_id, min(workspace_id), 'one close', count(*) || ' closes'
        FROM ledger WHERE kind IN ('settle', 'release') GROUP BY job_id HAVING count(*) > 1
        """,
    ),
    Rule(
        "final_job_is_closed",
        "a job that is over and held something has a hold and a close",
        _SEE_JOB,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'a hold and a close of ' || j.held AS expected,
               CASE WHEN h.id IS NULL THEN 'no hold' ELSE 'a hold' END || ', '
               || CASE WHEN c.id IS NULL THEN 'no close' ELSE 'a close' END AS found
        FROM jobs j
        LEFT JOIN ledger h ON h.job_id = j.id AND h.kind = 'hold'
        LEFT JOIN ledger c ON c.job_id = j.id AND c.kind IN ('settle', 'release')
        WHERE j.status NOT IN ('queued', 'running') AND j.held > 0 AND (h.id IS NULL OR c.id IS NULL)
        """,
    ),
    Rule(
        "close_is_what_the_job_says",
        "the hold and the close of a job that is over are what it held and was charged",
        _SEE_JOB,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id,
               'held ' || j.held || ', charged ' || j.charged AS expected,
               l.kind || ' of ' || abs(l.held) || ', spent ' || l.spent AS found
        FROM ledger l JOIN jobs j ON j.id = l.job_id
        WHERE j.status NOT IN ('queued', 'running')
              AND ((l.kind = 'hold' AND l.held <> j.held)
                   OR (l.kind IN ('settle', 'release') AND (l.held <> -j.held OR l.spent <> j.charged)))
        """,
    ),
    Rule(
        "open_job_is_not_closed",
        "a job that is open has no close",
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
        "a job has a time at which it finished when it is over, and not before",
        _SEE_JOB,
        """
        SELECT id, workspace_id,
               CASE WHEN finished_at IS NULL THEN 'a time' ELSE 'none' END || ' while ' || status AS expected,
               CASE WHEN finished_at IS NULL THEN 'none' ELSE 'a time' END AS found
        FROM jobs WHERE (status IN ('queued', 'running')) = (finished_at IS NOT NULL)
        """,
    ),
    Rule(
        "charged_within_held",
        "no job is charged more than it held",
        _REFUND,
        """
        SELECT id, workspace_id, 'at most ' || held AS expected, 'charged ' || charged AS found
        FROM jobs WHERE charged > held
        """,
    ),
    Rule(
        "charged_for_an_answer",
        "only what was found is charged: a reveal that succeeded, an item of an enrichment",
        _REFUND,
        """
        SELECT id, workspace_id, 'charged 0' AS expected,
               'charged ' || charged || ', ' || kind || ' ' || status || coalesce(' ' || outcome, '') AS found
        FROM jobs
        WHERE charged > 0 AND kind <> 'enrichment_request'
              AND (kind NOT IN ('reveal.email', 'reveal.phone') OR status <> 'succeeded'
                   OR coalesce(outcome, '') <> 'found')
        UNION ALL
        SELECT i.job_id, j.workspace_id, 'charged 0',
               'charged ' || i.charged || ', item ' || i."index" || coalesce(' ' || i.outcome, '')
        FROM job_items i JOIN jobs j ON j.id = i.job_id
        WHERE i.charged > 0 AND coalesce(i.outcome, '') NOT IN ('found', 'partial')
        """,
    ),
    Rule(
        "items_add_up",
        "an enrichment is charged what its items are",
        _SEE_JOB,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'charged ' || coalesce(i.charged, 0) AS expected,
               'charged ' || j.charged AS found
        FROM jobs j
        LEFT JOIN (SELECT job_id, sum(charged) AS charged FROM job_items GROUP BY job_id) i ON i.job_id = j.id
        WHERE j.kind = 'enrichment_request' AND j.charged <> coalesce(i.charged, 0)
        """,
    ),
    Rule(
        # An erased person is no longer a contact, and the reveals of that contact were deleted with it.
        "paid_reveal_is_owned",
        "a reveal that was charged is owned or was refunded, as long as the person is stored",
        _REFUND,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'a reveal of ' || j.charged AS expected,
               'none for this job' AS found
        FROM jobs j JOIN contacts c ON c.id = j.result ->> 'contact_id'
        WHERE j.kind IN ('reveal.email', 'reveal.phone') AND j.charged > 0
              AND NOT EXISTS (SELECT 1 FROM reveals r
                              WHERE r.workspace_id = j.workspace_id AND r.contact_id = c.id
                                    AND r.field = substr(j.kind, 8) AND r.job_id = j.id
                                    AND r.credits >= j.charged)
              AND j.charged > coalesce((SELECT sum(l.available) FROM ledger l
                                        WHERE l.job_id = j.id AND l.kind = 'refund'), 0)
        """,
    ),
    Rule(
        "owned_reveal_is_paid",
        "what reveals say they cost was charged to their job",
        _SEE_JOB,
        """
        SELECT r.job_id AS id, r.workspace_id AS workspace_id,
               'charged ' || r.credits || ' or more' AS expected,
               coalesce('charged ' || j.charged, 'no such job') AS found
        FROM (SELECT workspace_id, job_id, sum(credits) AS credits FROM reveals WHERE credits > 0
              GROUP BY workspace_id, job_id) r
        LEFT JOIN jobs j ON j.id = r.job_id AND j.workspace_id = r.workspace_id
        WHERE j.id IS NULL OR j.charged < r.credits
        """,
    ),
    Rule(
        "field_is_owned_once",
        "a workspace owns, and so pays, a field of a contact once",
        _BY_HAND,
        """
        SELECT contact_id AS id, workspace_id, 'one reveal of ' || field AS expected,
               count(*) || ' reveals' AS found
        FROM reveals GROUP BY workspace_id, contact_id, field HAVING count(*) > 1
        """,
    ),
    Rule(
        # Values revealed before revealed_values existed have no job; their reveals are not checked.
        "charged_value_is_new",
        "a reveal that was charged gave a value that the workspace did not own under any contact",
        _REFUND,
        """
        SELECT r.contact_id AS id, r.workspace_id AS workspace_id, 'a value of its own' AS expected,
               'none for job ' || r.job_id AS found
        FROM reveals r
        WHERE r.credits > 0 AND r.refunded_at IS NULL
              AND r.created_at >= (SELECT min(v.created_at) FROM revealed_values v
                                   WHERE v.job_id IS NOT NULL)
              AND NOT EXISTS (SELECT 1 FROM revealed_values v
                              WHERE v.workspace_id = r.workspace_id AND v.field = r.field
                                    AND v.contact_id = r.contact_id AND v.job_id = r.job_id)
              AND NOT EXISTS (SELECT 1 FROM ledger l WHERE l.job_id = r.job_id AND l.kind = 'refund')
        """,
    ),
    Rule(
        # A reveal deleted with its contact may have been refunded: up to the rest of the charge is accepted.
        "refund_is_due",
        "what came back for a job is what its refunded reveals cost",
        _REPAIR,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'refunded ' || coalesce(r.refunded, 0) AS expected,
               'refunded ' || coalesce(l.amount, 0) AS found
        FROM jobs j
        LEFT JOIN (SELECT job_id, sum(available) AS amount FROM ledger WHERE kind = 'refund'
                   GROUP BY job_id) l ON l.job_id = j.id
        LEFT JOIN (SELECT job_id, sum(credits) AS credits,
                          sum(CASE WHEN refunded_at IS NULL THEN 0 ELSE credits END) AS refunded
                   FROM reveals WHERE credits > 0 GROUP BY job_id) r ON r.job_id = j.id
        WHERE coalesce(l.amount, 0) < coalesce(r.refunded, 0)
              OR coalesce(l.amount, 0) > coalesce(r.refunded, 0)
                 + CASE WHEN j.charged > coalesce(r.credits, 0) THEN j.charged - coalesce(r.credits, 0)
                        ELSE 0 END
        """,
    ),
    Rule(
        # Feedback is deleted with its contact; its refund stays in the ledger.
        "feedback_refund_is_entered",
        "what feedback says it gave back to a workspace is in the ledger",
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
        "a reported bounce is confirmed or refuted, not both, and only a bounce is refunded",
        "See the verifications of the address; set the time that is wrong to null.",
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
        "asked_once",
        "a workspace asks a question in one open job at a time",
        _BY_HAND,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'one open job' AS expected,
               o.jobs || ' open jobs' AS found
        FROM jobs j
        JOIN (SELECT workspace_id, question, count(*) AS jobs FROM jobs WHERE status IN ('queued', 'running')
              GROUP BY workspace_id, question HAVING count(*) > 1) o
             ON o.workspace_id = j.workspace_id AND o.question = j.question
        WHERE j.status IN ('queued', 'running')
        """,
    ),
    Rule(
        "running_job_has_a_lease",
        "a running job is some worker's for a time, and no other job is",
        "Nobody will take it over: put it back by hand, status queued and no lease.",
        """
        SELECT id, workspace_id,
               CASE WHEN status = 'running' THEN 'a lease' ELSE 'no lease' END
               || ' while ' || status AS expected,
               CASE WHEN lease_token IS NULL THEN 'no token' ELSE 'a token' END
               || CASE WHEN lease_until IS NULL THEN ', no end' ELSE ', an end' END AS found
        FROM jobs
        WHERE (status = 'running') <> (lease_token IS NOT NULL)
              OR (status = 'running') <> (lease_until IS NOT NULL)
        """,
    ),
    Rule(
        "open_job_is_not_stuck",
        "a job past its deadline, whose worker is gone, is ended by the next sweep",
        "No worker sweeps. Are workers running, and do they reach the database? See their logs.",
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
        "an Idempotency-Key stands for a job or record of its own workspace",
        "A replay of it would fail or show what is not the caller's: delete the row of idempotency_keys.",
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
        WHERE k.reference IS NULL
              OR coalesce(j.workspace_id, p.workspace_id, f.workspace_id, a.workspace_id,
                          CASE WHEN substr(k.reference, 1, 4) IN ('prf_', 'fdb_') THEN k.workspace_id
                               ELSE '' END) <> k.workspace_id
        """,
    ),
)
