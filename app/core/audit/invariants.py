"""All invariants of credits, charges, jobs and reveals, in the order in which an audit checks them."""

from __future__ import annotations

from app.core.audit import charge_rules, job_rules, ledger_rules

RULES = (*ledger_rules.RULES, *charge_rules.RULES, *job_rules.RULES)
