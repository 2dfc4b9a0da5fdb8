"""What idempotency keys refer to: the rows that requests created, in tables of the engine and of features."""

from __future__ import annotations

from functools import cache

from app.engine import tables

_OF_ENGINE = {
    "saved_profiles": "prf",
    "feedback": "fdb",
    "contact_lists": "lst",
    "webhook_endpoints": "whe",
    "events": "evt",
    "webhooks": "whk",
}
"""Tables whose rows have a workspace and may be deleted, with the prefix of their ids."""


@cache
def expressions() -> dict[str, str]:
    """Return the parts of a query: the joins with these tables, their workspaces, and the prefixes of ids."""
    created = _OF_ENGINE | {name: prefix for part in tables.of_features() for name, prefix in part.created}
    return {
        "referred_rows": "\n".join(f"LEFT JOIN {name} ON {name}.id = k.reference" for name in created),
        "referred_workspaces": ", ".join(f"{name}.workspace_id" for name in created),
        "deletable_prefixes": ", ".join(f"'{prefix}_'" for prefix in created.values()),
    }
