"""Estimates in responses: in words, whether they exceed the balance, and the schema of a dry run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.domain.messages import Message
from app.engine.accounts import workspaces
from app.web.languages.texts import in_response
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


def described(estimate: Mapping[str, Any], summary: Message) -> dict[str, Any]:
    """Return the estimate in words too, and whether its `credits_max` exceeds the balance."""
    with services().database.reading() as session:
        available = workspaces.balance(session, caller().workspace_id).available
    exceeds_balance = estimate["credits_max"] > available
    return {**estimate, "summary": in_response(summary), EXCEEDS_BALANCE: exceeds_balance}
