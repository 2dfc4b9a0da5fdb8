"""The order of seniorities, as SQL that queries and an index share."""

from __future__ import annotations

SENIORITIES = (
    "founder",
    "owner",
    "c_suite",
    "partner",
    "vp",
    "head",
    "director",
    "manager",
    "senior",
    "entry",
    "intern",
)
_CASES = " ".join(f"WHEN '{name}' THEN {rank}" for rank, name in enumerate(SENIORITIES))
RANK_SQL = f"CASE seniority {_CASES} ELSE {len(SENIORITIES)} END"
"""The position of a contact's seniority, the highest first; others are last.

The database uses the index only for an expression that is the same as in the definition of the index.
"""
