"""What happens before and after every request: its id, the Host header, common headers and metrics."""

from __future__ import annotations

import re
import secrets
import time
from contextlib import ExitStack

from apiflask import APIFlask
from flask import Response, g, request
from structlog.contextvars import bind_contextvars, clear_contextvars

from app.domain.errors import MalformedJson
from app.domain.version import API_VERSION
from app.infra.telemetry import metrics, tracing

HSTS_SECONDS = 365 * 24 * 3600
"""How long a browser that reached the service over TLS refuses to reach it without."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}", re.ASCII)
_HOST = re.compile(r"(?:[A-Za-z0-9._~-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?", re.ASCII)


def register(app: APIFlask) -> None:
    """Register the functions that run before and after every request."""
    app.before_request(_begin)
    app.before_request(_require_host)
    app.after_request(_finish)


def _begin() -> None:
    """Start the clock of the request, and bind its id to the log."""
    request_id = request.headers.get("X-Request-Id", "")
    g.started = time.monotonic()
    g.request_id = request_id if _REQUEST_ID.fullmatch(request_id) else f"req_{secrets.token_hex(12)}"
    clear_contextvars()
    bind_contextvars(request_id=g.request_id)
    if tracing.is_on():
        _begin_span()


def _begin_span() -> None:
    """Begin the span of the request, below the span that the caller names in `traceparent`."""
    attributes = {"http.request.method": request.method, "http.route": _endpoint()}
    name = f"{request.method} {_endpoint()}"
    g.tracing = ExitStack()
    parent = request.headers.get("traceparent")
    g.span = g.tracing.enter_context(tracing.span(name, attributes, parent=parent, serves=True))


def _endpoint() -> str:
    return request.url_rule.rule if request.url_rule else "none"


def _require_host() -> None:
    """Raise MalformedJson for a missing or malformed Host header (RFC 9112, 3.2); HTTP/1.0 may omit it."""
    host = request.environ.get("HTTP_HOST")
    if host is None and request.environ.get("SERVER_PROTOCOL") == "HTTP/1.0":
        return
    if host is None or not _HOST.fullmatch(host):
        raise MalformedJson("The Host header is missing or invalid. Send the name or address of the server.")


def _finish(response: Response) -> Response:
    """Add the headers of every response, and count it in the metrics."""
    response.headers["X-Request-Id"] = g.get("request_id", "")
    response.headers["API-Version"] = API_VERSION
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers["X-Content-Type-Options"] = "nosniff"
    if request.is_secure:  # other responses must not have it (RFC 6797, 7.2)
        response.headers["Strict-Transport-Security"] = f"max-age={HSTS_SECONDS}"
    if response.calculate_content_length() == 0:
        response.headers.pop("Content-Type", None)
    endpoint = _endpoint()
    metrics.REQUESTS.labels(endpoint=endpoint, status=response.status_code).inc()
    if "started" in g:
        metrics.REQUEST_SECONDS.labels(endpoint=endpoint).observe(time.monotonic() - g.started)
    if "tracing" in g:
        g.span.set_attributes({"http.response.status_code": response.status_code})
        g.pop("tracing").close()
    return response
