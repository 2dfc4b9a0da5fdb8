"""Invariants of charges: each pays for something found, and each refund has its reason."""

from __future__ import annotations

from app.engine.audit.rule import REFUND, REPAIR, SEE_JOB, Rule

RULES = (
    Rule(
        "charged_for_an_answer",
        "only found values are charged: a successful job with a price, or an item of an enrichment",
        REFUND,
        """
        SELECT id, workspace_id, 'charged 0' AS expected,
               'charged ' || charged || ', ' || kind || ' ' || status || coalesce(' ' || outcome, '') AS found
        FROM jobs
        WHERE charged > 0 AND NOT {charged_by_item:kind}
              AND NOT ({charged_once:kind} AND status = 'succeeded' AND coalesce(outcome, '') = 'found')
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
        SEE_JOB,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'charged ' || coalesce(i.charged, 0) AS expected,
               'charged ' || j.charged AS found
        FROM jobs j
        LEFT JOIN (SELECT job_id, sum(charged) AS charged FROM job_items WHERE {job:job_id}
                   GROUP BY job_id) i ON i.job_id = j.id
        WHERE {charged_by_item:j.kind} AND j.charged <> coalesce(i.charged, 0) AND {job:j.id}
        """,
    ),
    Rule(
        # An erased person is no longer a contact, and the reveals of that contact were deleted with it.
        "paid_reveal_is_owned",
        "a charged reveal is owned or was refunded, unless the person was erased",
        REFUND,
        """
        WITH suspects AS MATERIALIZED (
            SELECT j.id, j.workspace_id, j.charged, j.result ->> 'contact_id' AS contact_id
            FROM jobs j
            WHERE {revealed_field:j.kind} IS NOT NULL AND j.charged > 0 AND {job:j.id}
                  AND NOT EXISTS (SELECT 1 FROM reveals r
                                  WHERE r.workspace_id = j.workspace_id
                                        AND r.contact_id = j.result ->> 'contact_id'
                                        AND r.field = {revealed_field:j.kind} AND r.job_id = j.id
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
        SEE_JOB,
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
        "charged_value_is_new",
        "a charged reveal returned a value that the workspace did not own under any contact",
        REFUND,
        """
        SELECT r.contact_id AS id, r.workspace_id, 'a value of its own' AS expected,
               'none for job ' || r.job_id AS found
        FROM reveals r
        WHERE r.credits > 0 AND r.refunded_at IS NULL AND {job:r.job_id}
              AND NOT EXISTS (SELECT 1 FROM revealed_values v
                              WHERE v.workspace_id = r.workspace_id AND v.field = r.field
                                    AND v.contact_id = r.contact_id AND v.job_id = r.job_id)
              AND NOT EXISTS (SELECT 1 FROM ledger l WHERE l.job_id = r.job_id AND l.kind = 'refund')
        """,
    ),
    Rule(
        # A reveal deleted with its contact may have been refunded: up to the rest of the charge is accepted.
        "refund_is_due",
        "the refunds of a job are the prices of its refunded reveals",
        REPAIR,
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
        REPAIR,
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
)
