"""All invariants of credits, limits, charges, jobs and reveals, in the order in which they are checked."""

from __future__ import annotations

from app.engine.audit import charge_rules, job_rules, ledger_rules, limit_rules

RULES = (*ledger_rules.RULES, *limit_rules.RULES, *charge_rules.RULES, *job_rules.RULES)
