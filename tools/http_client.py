"""A small HTTP client: one request, and its response whatever the status."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

SERVER_ERROR = 500
TIMEOUT_SECONDS = 40.0  # more than the longest wait that a caller may ask for


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Status, headers (names in lower case) and parsed JSON body; a body that is not JSON stays text."""

    status: int
    headers: dict[str, str]
    body: Any

    def value_at(self, path: str) -> Any:  # noqa: ANN401 - JSON has every type
        """Return the value at a dotted path such as `result.emails.0.email`, or None."""
        value = self.body
        for name in path.split("."):
            if isinstance(value, list):
                value = value[int(name)] if name.isdigit() and int(name) < len(value) else None
            else:
                value = value.get(name) if isinstance(value, dict) else None
        return value


def send(method: str, url: str, body: object = None, headers: dict[str, str] | None = None) -> HttpResponse:
    """Send a request, with bytes as they are or another body as JSON, and return its response.

    Raises:
        OSError: there was no response.

    """
    content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, content, headers or {}, method=method)  # noqa: S310 - our own service
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310 - see above
            return _response(response.status, response.headers.items(), response.read())
    except urllib.error.HTTPError as error:
        with error:
            return _response(error.code, error.headers.items(), error.read())


def _response(status: int, headers: Any, content: bytes) -> HttpResponse:  # noqa: ANN401 - pairs of the standard library
    try:
        body = json.loads(content) if content else None
    except ValueError:
        body = content.decode(errors="replace")
    return HttpResponse(status, {name.lower(): value for name, value in headers}, body)
