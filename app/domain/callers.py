"""Who calls: an account of a workspace, by a session or an API key, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal


class Scope(StrEnum):
    """What an API key can be limited to; a session has them all."""

    LOOKUP = "lookup"
    REVEAL = "reveal"
    ENRICH = "enrich"
    SAVE = "save"


@dataclass(frozen=True, slots=True)
class Caller:
    """One authenticated request's sender. `token_id` is the id of the session or the API key."""

    account_id: str
    workspace_id: str
    kind: Literal["session", "api_key"]
    token_id: str
    scopes: tuple[Scope, ...]
    expires_at: datetime | None
