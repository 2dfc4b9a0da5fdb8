"""Authenticated callers: an account of a workspace, its session or API key, and its scopes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from app.domain import permissions
from app.domain.permissions import Permission


class Scope(StrEnum):
    """The permissions of an API key; a session has all of them."""

    LOOKUP = "lookup"
    REVEAL = "reveal"
    ENRICH = "enrich"
    SAVE = "save"


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of an authenticated request; `token_id` is the id of the session or API key.

    `is_admin` means that the account is an admin of its workspace, and `permissions` are those of the token.
    `language` is the one that the account's user chose, None without a choice.
    """

    account_id: str
    workspace_id: str
    kind: Literal["session", "api_key"]
    token_id: str
    scopes: tuple[Scope, ...]
    expires_at: datetime | None
    is_admin: bool = False
    permissions: frozenset[Permission] = permissions.ALL
    language: str | None = None

    @property
    def key_id(self) -> str | None:
        """Return the id of the caller's API key, or None for a session."""
        return self.token_id if self.kind == "api_key" else None
