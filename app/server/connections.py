"""Client connections of a web process: timeouts, limits per client and eviction.

The process waits for a client while it sends a request and while it reads the response. Both waits have a
timeout. When connections run out, those with the longest such wait are closed. A client that waits for the
service, such as for a job, is never disconnected.
"""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from heapq import nsmallest
from operator import attrgetter
from typing import Any, TypeVar

import gevent

from app.domain.errors import PayloadTooLarge, RequestTimeout
from app.infra.telemetry import metrics
from app.server.client_networks import LOOPBACK_ADDRESSES, client_network
from app.server.connection_counts import ConnectionCount

MIN_READ_BYTES_PER_SECOND = 16 * 1024
"""The minimum rate at which a client must read a long response."""
MIN_SEND_BYTES_PER_SECOND = 64 * 1024
"""The rate at which a body must arrive that takes longer than the timeout of its phase."""
MAX_HEAD_BYTES = 32 * 1024
"""The longest head of a request, which is in memory while it arrives."""
MAX_SHARE_PER_CLIENT = 4
"""One address may hold 1/4 of the connections, unless there are proxies in front."""
RESERVE_SHARE = 16
"""Connections are evicted when less than 1/16 of them is free."""
R = TypeVar("R")


class ReadPhase(Enum):
    """What the process waits for: label, timeout, and the shorter timeout during shutdown, in seconds."""

    NEW = ("new", 10.0, 1.0)
    """The first byte of the first request; browsers open connections in advance."""
    IDLE = ("idle", 75.0, 0.0)
    """The first byte of the next request; a proxy should close first, as nginx does after 60 s."""
    HEAD = ("head", 10.0, 4.0)
    BODY = ("body", 20.0, 4.0)
    """The body; one that arrived faster than it had to may pause, but never for longer than this."""
    RESPONSE = ("answer", 20.0, 4.0)
    """The client reads the response; a long response has more time."""
    DRAIN = ("rest", 5.0, 1.0)
    """The client stops sending a request that was answered before it was read completely."""

    def __init__(self, label: str, seconds: float, grace: float) -> None:
        """Set label and timeouts."""
        self.label = label
        self.seconds = seconds
        self.grace = grace


class Connection:
    """A client socket with a timeout for every read and write, as gunicorn uses it."""

    __slots__ = ("_deadline", "_received", "_registry", "_socket", "is_aborted", "network", "phase", "since")

    def __init__(self, client: socket.socket, registry: ConnectionRegistry, network: str) -> None:
        """Wrap the socket of a client from this network."""
        self._socket = client
        self._registry = registry
        self.network = network
        self.is_aborted = False
        self.begin(ReadPhase.NEW)

    def begin(self, phase: ReadPhase) -> None:
        """Start a phase and its timeout."""
        self.phase = phase
        self.since = time.monotonic()
        self._deadline = self.since + phase.seconds
        self._received = 0

    @property
    def is_last(self) -> bool:
        """Return whether the connection must close after the current response."""
        return self.is_aborted or self._registry.is_closing

    def recv(self, size: int) -> bytes:
        """Return the next bytes; none means that the client has disconnected.

        Raises:
            RequestTimeout: the phase timed out, or the connection was evicted.
            PayloadTooLarge: the head is too long.

        """
        if self.phase is ReadPhase.BODY:
            gevent.sleep(0)  # yield to other greenlets during a body of many small chunks
        try:
            received = self._wait(self._socket.recv, size)
        except (TimeoutError, BlockingIOError):
            self._abort(self.phase.label)
            raise RequestTimeout from None
        if not received and self.is_aborted:
            raise RequestTimeout
        self._received += len(received)
        if self.phase is ReadPhase.HEAD and self._received > MAX_HEAD_BYTES:
            raise PayloadTooLarge(
                "The URL or the headers are too long. Shorten them: what is long belongs in the body."
            )
        if self.phase is ReadPhase.BODY:
            later = self._deadline + len(received) / MIN_SEND_BYTES_PER_SECOND
            self._deadline = min(later, time.monotonic() + self.phase.seconds)
        return received

    def sendall(self, data: bytes) -> None:
        """Send all bytes.

        Raises:
            OSError: the client has disconnected, or reads too slowly.

        """
        if self.phase is not ReadPhase.RESPONSE:
            self.begin(ReadPhase.RESPONSE)
        self._deadline += len(data) / MIN_READ_BYTES_PER_SECOND
        try:
            self._wait(self._socket.sendall, data)
        except TimeoutError as error:
            self._abort(self.phase.label)
            raise ConnectionAbortedError("the client does not read") from error

    def send(self, data: bytes) -> None:
        """Send an interim response, such as 100 Continue, before the body."""
        self._wait(self._socket.sendall, data)

    def disconnect(self, reason: str) -> None:
        """End a wait as if the client had disconnected; bytes already received can still be read."""
        self._abort(reason)
        self.shutdown(socket.SHUT_RDWR if self.phase is ReadPhase.RESPONSE else socket.SHUT_RD)

    def end_sending(self) -> None:
        """Signal the end of the response."""
        self.shutdown(socket.SHUT_WR)

    def shutdown(self, how: int) -> None:
        """Shut down a duplicate of the socket: gevent's own shutdown would interrupt waits on this one."""
        with suppress(OSError), self._socket.dup() as duplicate:
            duplicate.shutdown(how)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _abort(self, reason: str) -> None:
        self.is_aborted = True
        if self.phase not in {ReadPhase.NEW, ReadPhase.IDLE, ReadPhase.DRAIN}:
            metrics.CONNECTIONS_CUT.labels(reason=reason).inc()

    def _wait(self, work: Callable[[Any], R], argument: object) -> R:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0 and self.phase is not ReadPhase.BODY:
            raise TimeoutError
        self._socket.settimeout(max(remaining, 0))  # a body may have arrived while the process was busy
        self._registry.waited_for.add(self)
        try:
            return work(argument)
        finally:
            self._registry.waited_for.discard(self)


class ConnectionRegistry:
    """The connections of a process: at most `limit`, and a share of them per address if `by_address`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._reserve = max(1, limit // RESERVE_SHARE)
        self._count = 0
        self.shared_count: ConnectionCount | None = None
        self._by_network: Counter[str] = Counter()
        self.by_address = True
        self.is_closing = False
        self.waited_for: set[Connection] = set()
        self._evicted: set[Connection] = set()
        """Disconnected, but not yet unregistered by their greenlets."""

    def register(self, client: socket.socket, peer: object) -> Connection | None:
        """Return a new connection, or None if its address has too many; evict others if needed."""
        network = client_network(peer)
        limited = self.by_address and network not in LOOPBACK_ADDRESSES
        if limited and self._by_network[network] >= max(1, self._limit // MAX_SHARE_PER_CLIENT):
            metrics.CONNECTIONS_CUT.labels(reason="address").inc()
            return None
        self._by_network[network] += 1
        self._add(1)
        if self._count - len(self._evicted) > self._limit - self._reserve:
            self._evict()
        return Connection(client, self, network)

    def unregister(self, connection: Connection) -> None:
        """Remove a closed connection."""
        self._add(-1)
        self._evicted.discard(connection)
        self._by_network[connection.network] -= 1
        if not self._by_network[connection.network]:
            del self._by_network[connection.network]

    def close(self, seconds: float) -> None:
        """Disconnect clients whose shutdown timeout is over, `seconds` after the shutdown began."""
        self.is_closing = True
        for connection in tuple(self.waited_for):
            if seconds >= connection.phase.grace and not connection.is_aborted:
                connection.disconnect("closing")

    def _add(self, connections: int) -> None:
        self._count += connections
        if self.shared_count is not None:
            self.shared_count.set(self._count)

    def _evict(self) -> None:
        """Disconnect the clients waited for longest; several at once, because finding them takes time."""
        waited_for = (waiting for waiting in self.waited_for if not waiting.is_aborted)
        for connection in nsmallest(max(1, self._reserve // 2), waited_for, key=attrgetter("since")):
            self._evicted.add(connection)
            connection.disconnect("crowded")
