"""Whether what an estimate may cost at most exceeds what the caller's workspace has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.engine.accounts import workspaces
from app.web.services import services
from app.web.sign_in.auth import caller

EXCEEDS_BALANCE = "exceeds_balance"
PROPERTY: dict[str, Any] = {
    "type": ["boolean", "null"],
    "description": "Whether the workspace has fewer credits than it may cost; null without the permission "
    "`see_costs`.",
}
"""The schema of the field."""


def with_balance(estimate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the estimate with whether its `credits_max` exceeds the balance."""
    with services().database.reading() as session:
        available = workspaces.balance(session, caller().workspace_id).available
    return {**estimate, EXCEEDS_BALANCE: estimate["credits_max"] > available}
