"""Client connections of the MCP server over HTTP: timeouts, and eviction when connections run out.

uvicorn closes idle connections only. Without other timeouts, clients that send or read nothing would hold all
connections, and would need no token for it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum, auto
from operator import attrgetter
from typing import Any, ClassVar

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol


class Wait(Enum):
    """What a connection waits for."""

    SERVICE = auto()
    """The response; such a connection is never closed."""
    HEAD = auto()
    """The end of the next head, from the connection or the previous response on."""
    BODY = auto()
    """The body; the application has a timeout for it, and responds with 408."""
    REST = auto()
    """The rest of a request that was answered before it was read completely."""
    READ = auto()
    """The client reads the response."""


SECONDS = {Wait.HEAD: 10.0, Wait.REST: 5.0, Wait.READ: 20.0}
MIN_READ_BYTES_PER_SECOND = 16 * 1024
"""The rate at which a client must read a response that takes longer than the timeout."""
MAX_CONNECTIONS = 500
"""One more evicts another that waits for its client; each may hold a body in memory."""


class ClientConnection(H11Protocol):
    """An HTTP connection that is closed if the server waits for its client for too long."""

    seconds: ClassVar[Mapping[Wait, float]] = SECONDS
    max_connections: ClassVar[int] = MAX_CONNECTIONS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Create the connection as uvicorn does."""
        super().__init__(*arguments, **options)
        self.waits_for = Wait.SERVICE
        self.waits_since = math.inf
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Wait for the first head; evict another connection if there are too many."""
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > self.max_connections:
            self._evict_oldest()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        super().connection_lost(exc)
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Continue the response."""
        super().resume_writing()
        self._watch()

    def _watch(self) -> None:
        """Start the timer when another wait begins; more bytes of the same do not restart it."""
        awaited = self._awaited()
        if awaited is self.waits_for:
            return
        self.waits_for, self.waits_since = awaited, self.loop.time()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if awaited in self.seconds:
            unread = self.transport.get_write_buffer_size() / MIN_READ_BYTES_PER_SECOND
            self._timer = self.loop.call_later(self.seconds[awaited] + unread, self._abort)

    def _awaited(self) -> Wait:
        if self.transport.is_closing() or self.flow.write_paused:
            return Wait.READ
        if self.conn.their_state is h11.IDLE:
            return Wait.HEAD
        if self.conn.their_state is h11.SEND_BODY:
            return Wait.REST if self.conn.our_state is h11.DONE else Wait.BODY
        return Wait.SERVICE

    def _evict_oldest(self) -> None:
        """Close the other connection that has waited longest for its client."""
        waiting = (
            other
            for other in self.connections
            if isinstance(other, ClientConnection)
            and other.waits_for is not Wait.SERVICE
            and other is not self
        )
        oldest = min(waiting, key=attrgetter("waits_since"), default=None)
        if oldest is not None:
            oldest._abort()  # noqa: SLF001 -- of its own class

    def _abort(self) -> None:
        """Close the connection at once; what the client has not read is lost."""
        self.connections.discard(self)
        self.transport.abort()


def server(
    app: ASGIApp, host: str, port: int, connection: type[ClientConnection] = ClientConnection
) -> uvicorn.Server:
    """Return a server of the application, whose log has warnings only."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            http=connection,
            ws="none",
            log_level="warning",
            access_log=False,
        )
    )


def serve(app: ASGIApp, host: str, port: int) -> None:
    """Serve the application until a signal."""
    with suppress(KeyboardInterrupt):
        server(app, host, port).run()
