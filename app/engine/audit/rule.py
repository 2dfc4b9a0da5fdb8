"""Rules: invariants, each as a query that returns the rows that violate it.

Rules are plain SQL on purpose: an implementation independent of the rest of the code, which runs unchanged on
PostgreSQL and SQLite. Each query returns `id`, `workspace_id`, `expected` and `found`: ids, states and
numbers, no personal data. `{job:…}`, `{entry:…}`, `{key:…}` and `{limit:…}` stand for the condition that the
audit covers the job, ledger entry, idempotency key or spending limit of this column (coverage.py); a join has
it for both tables, so that neither is searched row by row. `{charged_once:…}`, `{charged_by_item:…}` and
`{revealed_field:…}` stand for what the specifications say of the kind in this column, and `{referred_rows}`,
`{referred_workspaces}` and `{deletable_prefixes}` for what a key refers to (key_references.py). Related rows
are written in one transaction, so every snapshot of a correct database satisfies all rules, even under load.
What a constraint of the database enforces has no rule here.
"""

from __future__ import annotations

from dataclasses import dataclass

REPAIR = (
    "Back up the database, grant no credits to the workspace, and find the cause by the times in the ledger. "
    "Then insert a correcting entry."
)
SEE_JOB = "Compare what the job held with what it was charged: flask jobs show ID"
REFUND = "If the workspace received nothing, return its credits: flask credits grant"


@dataclass(frozen=True, slots=True)
class Rule:
    """An invariant; `next_step` tells the operator what to do about a violation."""

    name: str
    description: str
    next_step: str
    query: str
