"""Estimates in responses: whether they exceed the balance, and the schema of a dry run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.engine.accounts import workspaces
from app.web.services import services
from app.web.sign_in.auth import caller

EXCEEDS_BALANCE = "exceeds_balance"
_EXCEEDS_BALANCE_SCHEMA = {
    "type": ["boolean", "null"],
    "description": "Whether the workspace has fewer credits than it may cost; null without the permission "
    "`see_costs`.",
}


def dry_run_schema(counts: Iterable[str], **others: Any) -> dict[str, Any]:
    """Return the schema of a 200 response with `dry_run`, from its counts and its other properties."""
    properties = {
        **{name: {"type": "integer"} for name in counts},
        **others,
        "summary": {"type": "string"},
        EXCEEDS_BALANCE: _EXCEEDS_BALANCE_SCHEMA,
    }
    return {
        "title": "The estimate of a dry run",
        "type": "object",
        "required": ["estimate"],
        "properties": {"estimate": {"type": "object", "properties": properties}},
    }


def with_balance(estimate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the estimate with whether its `credits_max` exceeds the balance."""
    with services().database.reading() as session:
        available = workspaces.balance(session, caller().workspace_id).available
    return {**estimate, EXCEEDS_BALANCE: estimate["credits_max"] > available}
