"""Who calls: an account of a workspace, by a session or an API key, and what it may do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from app.domain.kinds import Kind


class Scope(StrEnum):
    """What an API key can be limited to; a session has them all."""

    LOOKUP = "lookup"
    REVEAL = "reveal"
    ENRICH = "enrich"
    SAVE = "save"


SCOPES: dict[Kind, Scope] = {
    Kind.REVEAL_EMAIL: Scope.REVEAL,
    Kind.REVEAL_PHONE: Scope.REVEAL,
    Kind.ENRICHMENT_REQUEST: Scope.ENRICH,
    Kind.COMPANY_BY_HASH: Scope.LOOKUP,
    Kind.LEADS_BY_WEBSITE_HASH: Scope.LOOKUP,
}
"""The scope that a caller needs to ask for a job of each kind, and to see one."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One authenticated request's sender. `token_id` is the id of the session or the API key."""

    account_id: str
    workspace_id: str
    kind: Literal["session", "api_key"]
    token_id: str
    scopes: tuple[Scope, ...]
    expires_at: datetime | None

    @property
    def kinds(self) -> frozenset[Kind]:
        """Return the kinds of jobs that the caller may see."""
        return frozenset(kind for kind, scope in SCOPES.items() if scope in self.scopes)
