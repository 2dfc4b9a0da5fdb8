"""The MCP server over streamable HTTP: a bearer token is required, Host and Origin are checked."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Sequence
from urllib.parse import urlsplit

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MAX_BODY = 256 * 1024
"""As the API's own limit."""
MAX_REQUESTS = 500
"""More complete requests at once are refused with 503."""
BODY_SECONDS = 20.0
NO_TOKEN = "Send an API key of the service as Authorization: Bearer key_…."  # noqa: S105 -- a message


_ADDRESS = r"(?:[a-z0-9._-]{1,255}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?"
_WELL_FORMED = {
    "host": (re.compile(_ADDRESS, re.ASCII | re.IGNORECASE), 421),
    "origin": (re.compile(rf"null|[a-z][a-z0-9+.-]*://{_ADDRESS}", re.ASCII | re.IGNORECASE), 403),
}
"""What Host and Origin look like, and the status if they do not. The library compares only how they begin:
`127.0.0.1:80@evil.example` passes it."""


class WellFormedAddress:
    """Refuses HTTP requests whose Host or Origin is not a host with an optional port, or is sent twice."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond with 421 or 403, as the library does."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        for name, (pattern, status) in _WELL_FORMED.items():
            values = headers.getlist(name)
            if len(values) > 1 or not all(map(pattern.fullmatch, values)):
                response = PlainTextResponse(f"Invalid {name.title()} header", status)
                await response(scope, receive, send)
                return
        await self.app(scope, receive, send)


class PostOnly:
    """Refuses HTTP requests with another method than POST.

    GET would open a stream for messages that the server begins. It begins none, and the stream would not end.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond with 405, as MCP specifies for servers without streams."""
        if scope["type"] == "http" and scope["method"] != "POST":
            response = PlainTextResponse("Method Not Allowed", 405, {"Allow": "POST"})
            await response(scope, receive, send)
            return
        await self.app(scope, receive, send)


class BearerRequired:
    """Refuses HTTP requests without a bearer token, and ends those whose body does not arrive completely.

    The API checks the token itself.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond with 401 or 408."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if _has_token(Headers(scope=scope)):
            try:
                receive = await _received(receive)
            except TimeoutError:
                response = JSONResponse({"error": "request_timeout"}, 408, {"Connection": "close"})
                await response(scope, receive, send)
                return
            except ClientDisconnect:
                return
            await self.app(scope, receive, send)
            return
        response = JSONResponse(
            {"error": "missing_token", "error_description": NO_TOKEN},
            401,
            {"WWW-Authenticate": 'Bearer realm="mcp"'},
        )
        await response(scope, receive, send)


class LimitedRequests:
    """Refuses HTTP requests while MAX_REQUESTS others wait for their responses."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond with 503."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self._active >= MAX_REQUESTS:
            await PlainTextResponse("Service Unavailable", 503)(scope, receive, send)
            return
        self._active += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._active -= 1


def application(server: MCPServer, public_urls: Sequence[str]) -> ASGIApp:
    """Return the ASGI application, which serves loopback and these public addresses at /mcp.

    A request whose Host is another gets 421, and one from a web page of another origin 403, as the
    specification demands against DNS rebinding. No request depends on an earlier one.
    """
    app = server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[f"{host}:*" for host in LOOPBACK] + [urlsplit(url).netloc for url in public_urls],
            allowed_origins=[f"http://{host}:*" for host in LOOPBACK] + [_origin(url) for url in public_urls],
        ),
    )
    return WellFormedAddress(PostOnly(BearerRequired(LimitedRequests(app))))


async def _received(receive: Receive) -> Receive:
    """Receive a body of at most MAX_BODY; return a function that repeats its messages first.

    Raises:
        TimeoutError: it did not arrive in time.
        ClientDisconnect: the client disconnected, or the connection was closed.

    """
    messages: deque[Message] = deque()
    size, is_complete = 0, False
    async with asyncio.timeout(BODY_SECONDS):
        while not is_complete and size <= MAX_BODY:  # the application refuses a longer one
            messages.append(await receive())
            if messages[-1]["type"] == "http.disconnect":
                raise ClientDisconnect
            size += len(messages[-1].get("body", b""))
            is_complete = not messages[-1].get("more_body", False)

    async def repeat() -> Message:
        return messages.popleft() if messages else await receive()

    return repeat


def _has_token(headers: Headers) -> bool:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return scheme.lower() == "bearer" and bool(token.strip())


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
