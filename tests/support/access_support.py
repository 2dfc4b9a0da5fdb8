"""The terms in which tests say what a route of the API requires, and who may use a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from users_support import SignedInUser

from app.domain.callers import Scope

OPEN, MEMBER, ADMIN, OPERATOR = "everyone", "member", "admin", "operator"
"""Who may use a page."""
Maker: TypeAlias = Callable[[SignedInUser, str], str]
"""Makes a thing of the user's workspace, which owns the contact of this id, and returns the thing's id."""


@dataclass(frozen=True, slots=True)
class AccessRule:
    """What a route requires, the body or file to send, the expected statuses, and the owner of its resource.

    `challenge` is the header WWW-Authenticate of a route with its own tokens.
    `scope_to_see` is the scope without which an API key gets a 404 for the resource.
    """

    needs: Literal["nothing", "token", "session", "api access", "admin"] | Scope
    statuses: frozenset[int]
    body: dict[str, Any] | None = None
    file: bytes | None = None
    owned_by: Literal["everyone's", "the workspace's", "the account's"] = "everyone's"
    code_if_missing: str = "not_found"
    code_for_keys: str = "insufficient_scope"
    code_if_permitted: str = ""
    scope_to_see: Scope | None = None
    reason: str = ""
    challenge: str = ""


def open_to_all(
    reason: str, *statuses: int, body: dict[str, Any] | None = None, challenge: str = ""
) -> AccessRule:
    return AccessRule("nothing", frozenset(statuses or {200}), body, reason=reason, challenge=challenge)


def requires(needs: Any, *statuses: int, **extra: Any) -> AccessRule:
    return AccessRule(needs, frozenset(statuses), **extra)
