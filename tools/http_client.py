"""A small HTTP client for the walk: one request, its answer in full, nothing hidden."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

TIMEOUT_SECONDS = 40.0  # above the longest wait a caller may ask for


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Status, headers (names in lower case) and the JSON that was answered."""

    status: int
    headers: dict[str, str]
    body: Any

    def value_at(self, path: str) -> Any:  # noqa: ANN401 - JSON has every type
        """Return what stands at a dotted path such as `result.emails.0.email`, or None."""
        found = self.body
        for name in path.split("."):
            if isinstance(found, list):
                found = found[int(name)] if name.isdigit() and int(name) < len(found) else None
            else:
                found = found.get(name) if isinstance(found, dict) else None
        return found


def send(method: str, url: str, body: object = None, headers: dict[str, str] | None = None) -> HttpResponse:
    """Send one request and return its answer, whatever its status.

    Raises:
        OSError: there was no answer.

    """
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, content, headers or {}, method=method)  # noqa: S310 - the walk's own service
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310 - see above
            return _response(response.status, response.headers.items(), response.read())
    except urllib.error.HTTPError as refusal:
        with refusal:
            return _response(refusal.code, refusal.headers.items(), refusal.read())


def _response(status: int, headers: Any, content: bytes) -> HttpResponse:  # noqa: ANN401 - pairs of the standard library
    try:
        body = json.loads(content) if content else None
    except ValueError:
        body = content.decode(errors="replace")
    return HttpResponse(status, {name.lower(): value for name, value in headers}, body)
