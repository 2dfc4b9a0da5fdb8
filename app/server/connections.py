"""A web process's connections: how long a client may keep it waiting, and who goes when all are taken.

A client is waited for while it sends a request and while it reads the answer. Both have an end; and when
connections run out, those go first that have been waited for the longest. Whoever waits for the service,
such as for a job, is never hung up on.
"""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from heapq import nsmallest
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, TypeVar

import gevent

from app.domain.errors import RequestTimeout
from app.infra import metrics

MIN_READ_BYTES_PER_SECOND = 16 * 1024
"""Bytes per second of a long answer that a client must read, at least."""
MAX_SHARE_PER_CLIENT = 4
"""One address may hold this part of the connections, unless proxies stand in front."""
RESERVE_SHARE = 16
"""When less than this part of the connections is free, room is made."""
LOOPBACK_ADDRESSES = frozenset({"127.0.0.1", "::1", ""})
"""Health checks and proxies beside the service; a unix socket has no address."""
R = TypeVar("R")


class ReadPhase(Enum):
    """What a client is waited for: its seconds, and those that are left of them once the service closes."""

    NEW = ("new", 10.0, 1.0)
    """The first byte of the first request; browsers connect in advance and send nothing."""
    IDLE = ("idle", 75.0, 0.0)
    """The first byte of another request; a proxy in front should close first, as nginx does after 60 s."""
    HEAD = ("head", 10.0, 4.0)
    BODY = ("body", 20.0, 4.0)
    ANSWER = ("answer", 20.0, 4.0)
    """Until it has read the answer; a long one has more time."""
    DRAIN = ("rest", 5.0, 1.0)
    """Until it notices that it was answered without all of its request having been read."""

    def __init__(self, label: str, seconds: float, grace: float) -> None:
        """Name the seconds."""
        self.label = label
        self.seconds = seconds
        self.grace = grace


class Connection:
    """A client's socket as gunicorn reads from it and writes to it; every wait has an end."""

    __slots__ = ("_everyone", "_socket", "_until", "home", "is_cut", "phase", "since")

    def __init__(self, client: socket.socket, everyone: ConnectionRegistry, home: str) -> None:
        """Take over the socket of a client from that address."""
        self._socket = client
        self._everyone = everyone
        self.home = home
        self.is_cut = False
        self.begin(ReadPhase.NEW)

    def begin(self, phase: ReadPhase) -> None:
        """From now on wait for this."""
        self.phase = phase
        self.since = time.monotonic()
        self._until = self.since + phase.seconds

    @property
    def is_last(self) -> bool:
        """Tell whether the answer now written ends the connection, whatever the client wants."""
        return self.is_cut or self._everyone.are_closing

    def recv(self, size: int) -> bytes:
        """Read what is there, or wait for it; nothing means that the client is gone.

        Raises:
            RequestTimeout: the phase's time is over, or somebody else needs the place.

        """
        if self.phase is ReadPhase.BODY:
            gevent.sleep(0)  # a body in many small chunks is long work, and others want their turn
        try:
            piece = self._wait(self._socket.recv, size)
        except TimeoutError:
            self._cut(self.phase.label)
            raise RequestTimeout from None
        if not piece and self.is_cut:
            raise RequestTimeout
        return piece

    def sendall(self, text: bytes) -> None:
        """Write all.

        Raises:
            OSError: the client is gone, or reads too slowly.

        """
        if self.phase is not ReadPhase.ANSWER:
            self.begin(ReadPhase.ANSWER)
        self._until += len(text) / MIN_READ_BYTES_PER_SECOND
        try:
            self._wait(self._socket.sendall, text)
        except TimeoutError as error:
            self._cut(self.phase.label)
            raise ConnectionAbortedError("the client does not read") from error

    def send(self, text: bytes) -> None:
        """Write an interim answer, such as 100 Continue, while the body is waited for."""
        self._wait(self._socket.sendall, text)

    def disconnect(self, why: str) -> None:
        """End a wait for the client: it is as if it had gone; what it has already sent is still read."""
        self._cut(why)
        self.shutdown(socket.SHUT_RDWR if self.phase is ReadPhase.ANSWER else socket.SHUT_RD)

    def end_sending(self) -> None:
        """Tell the client that nothing follows."""
        self.shutdown(socket.SHUT_WR)

    def shutdown(self, how: int) -> None:
        """Shut the socket down, if the client has not done so."""
        with (
            suppress(OSError),
            self._socket.dup() as same,
        ):  # gevent's shutdown breaks off waits of its own socket
            same.shutdown(how)

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()

    def _cut(self, why: str) -> None:
        self.is_cut = True
        if self.phase not in {ReadPhase.NEW, ReadPhase.IDLE, ReadPhase.DRAIN}:
            metrics.CONNECTIONS_CUT.labels(reason=why).inc()

    def _wait(self, work: Callable[[Any], R], argument: object) -> R:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
        self._everyone.waited_for.add(self)
        try:
            return work(argument)
        finally:
            self._everyone.waited_for.discard(self)


class ConnectionRegistry:
    """All of a process: `most` at once, and of one address a part of them if `by_address`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._spare = max(1, most // RESERVE_SHARE)
        self._count = 0
        self._at_home: Counter[str] = Counter()
        self.by_address = True
        self.are_closing = False
        self.waited_for: set[Connection] = set()
        self._going: set[Connection] = set()
        """Hung up on to make room, and not gone yet: their greenlets have not had their turn."""

    def register(self, client: socket.socket, peer: object) -> Connection | None:
        """Take a client in, and make room for the next; None if its address has too many already."""
        home = client_network(peer)
        limited = self.by_address and home not in LOOPBACK_ADDRESSES
        if limited and self._at_home[home] >= max(1, self._most // MAX_SHARE_PER_CLIENT):
            metrics.CONNECTIONS_CUT.labels(reason="address").inc()
            return None
        self._at_home[home] += 1
        self._count += 1
        if self._count - len(self._going) > self._most - self._spare:
            self._evict()
        return Connection(client, self, home)

    def unregister(self, connection: Connection) -> None:
        """Forget a connection that has ended."""
        self._count -= 1
        self._going.discard(connection)
        self._at_home[connection.home] -= 1
        if not self._at_home[connection.home]:
            del self._at_home[connection.home]

    def close(self, seconds: float) -> None:
        """Hang up on those whose grace is over, so many seconds after the service began to close."""
        self.are_closing = True
        for connection in tuple(self.waited_for):
            if seconds >= connection.phase.grace and not connection.is_cut:
                connection.disconnect("closing")

    def _evict(self) -> None:
        """Hang up on some of those who have been waited for the longest; looking for them costs a moment."""
        waited_for = (one for one in self.waited_for if not one.is_cut)
        for connection in nsmallest(max(1, self._spare // 2), waited_for, key=lambda one: one.since):
            self._going.add(connection)
            connection.disconnect("crowded")


def client_network(peer: object) -> str:
    """Give the address that connections are counted by: a whole one, or a /64, which one customer has."""
    text = str(peer[0]) if isinstance(peer, tuple) and peer else ""
    try:
        address: IPv4Address | IPv6Address = ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(address) if address.is_loopback else address.exploded[:19]
    return str(address)
