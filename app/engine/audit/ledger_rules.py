"""Invariants of the ledger: balances are sums of entries, and entries belong to jobs."""

from __future__ import annotations

from app.engine.audit.rule import REPAIR, SEE_JOB, Rule

BALANCE_RULE = "balance_is_the_sum"

RULES = (
    Rule(
        BALANCE_RULE,
        "a workspace's available, held and spent credits are the sums of its ledger entries",
        REPAIR,
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
        REPAIR,
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
        REPAIR,
        """
        SELECT id, workspace_id, 'a sound ' || kind AS expected,
               'available ' || available || ', held ' || held || ', spent ' || spent
               || CASE WHEN job_id IS NULL THEN ', no job' ELSE '' END AS found
        FROM ledger
        WHERE CASE kind
              WHEN 'grant' THEN available <= 0 OR held <> 0 OR spent <> 0 OR job_id IS NOT NULL
              WHEN 'expire' THEN available >= 0 OR held <> 0 OR spent <> 0 OR job_id IS NOT NULL
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
        SEE_JOB,
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
        SEE_JOB,
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
        SEE_JOB,
        """
        SELECT j.id AS id, j.workspace_id AS workspace_id, 'no close while ' || j.status AS expected,
               l.kind || ' ' || l.id AS found
        FROM jobs j JOIN ledger l ON l.job_id = j.id AND l.kind IN ('settle', 'release')
        WHERE j.status IN ('queued', 'running')
        """,
    ),
)
