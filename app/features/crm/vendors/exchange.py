"""Requests to a CRM and its responses, as the vendors build and read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, TypeAlias

OK = range(200, 300)
NO_CONTENT, NOT_MODIFIED = 204, 304
UNAUTHORIZED, FORBIDDEN, NOT_FOUND, CONFLICT, REQUEST_TIMEOUT, TOO_MANY = 401, 403, 404, 409, 408, 429
SERVER_ERROR = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to a vendor's API; `body` is sent as JSON, `form` as a form, `headers` besides the others."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: Mapping[str, Any] | None = None
    form: Mapping[str, str] | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Response:
    """A vendor's response: `body` is its JSON, None without; `retry_after` is in seconds.

    The names of `headers` are lower-case.
    """

    status: int
    body: Any = field(default=None, repr=False)
    retry_after: float | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)

    @property
    def object(self) -> Mapping[str, Any]:
        """Return the JSON object; empty if the body is something else."""
        return self.body if isinstance(self.body, dict) else {}


Send: TypeAlias = Callable[[Request], Response]
"""Sends a request with the connection's credentials; raises `Unreachable` without a response."""


def text(value: object) -> str:
    """Return a value of the CRM as text; empty for null."""
    return "" if value is None else str(value)


def moment(value: object) -> datetime | None:
    """Return a time of the CRM in UTC; None without one."""
    try:
        at = datetime.fromisoformat(text(value))
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def filled(values: Mapping[str, object]) -> dict[str, str]:
    """Return the values that are not empty, as texts."""
    return {name: text(value) for name, value in values.items() if text(value).strip()}
