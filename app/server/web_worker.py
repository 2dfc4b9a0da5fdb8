"""A gevent worker for gunicorn with client timeouts and a graceful shutdown.

Malformed and slow requests are answered with a problem object instead of gunicorn's HTML page.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from functools import partial
from typing import Any

import gevent
from gevent import monkey
from gevent.event import Event
from gevent.pool import Pool
from gevent.server import StreamServer
from gunicorn.http.errors import NoMoreData, ParseException
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.workers.ggevent import GeventWorker

from app.domain.errors import InternalError, Problem, RateLimited
from app.domain.messages import Message
from app.infra.telemetry import metrics
from app.server.connection_counts import ConnectionCount
from app.server.connections import Connection, ConnectionRegistry, ReadPhase
from app.server.raw_responses import problem_of, raw_response

TICK_SECONDS = 2.0
"""Interval between notifications of the arbiter, and checks whether it still runs."""
CLOSING_TICK_SECONDS = 0.05
MAX_UNREAD_BYTES = 256 * 1024
"""The most bytes of an unread body that are read before the next request; else the connection closes."""
MAX_DRAINED_BYTES = 16 * 1024 * 1024
"""The most bytes that are read after an early response, so that the client can read it."""
SEND_BUFFER_BYTES = 128 * 1024
"""The send buffer of a connection in the kernel, whose default is megabytes."""
LEFT_SECONDS = 0.002
"""For how long a connection is left to the processes that have fewer."""
RETRY_SECONDS = 10
TOO_MANY = Message("Too many connections. Close those that you do not use, and send the request again.")
READ_BYTES = 64 * 1024
FIRST_BYTES = 8 * 1024
"""As gunicorn reads the rest of the head; the bytes stay in memory until the response."""


class TimeoutGeventWorker(GeventWorker):  # type: ignore[misc]  # gunicorn has no types
    """The worker of the API; it calls `on_closing` before it waits for requests in flight."""

    sockets: list[Any]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.connections = ConnectionRegistry(self.worker_connections)
        self.on_closing = _noop
        self._stopping = Event()

    def patch(self) -> None:
        """Patch as gunicorn.conf.py does: with other arguments, gevent would patch again and warn."""
        monkey.patch_all(os=False, signal=False)
        self.sockets = [
            gevent.socket.socket(listener.FAMILY, socket.SOCK_STREAM, fileno=listener.sock.detach())
            for listener in self.sockets
        ]

    def handle_exit(self, sig: object, frame: object) -> None:
        """Stop serving; in a greenlet, because a signal handler must not switch to another one."""
        super().handle_exit(sig, frame)
        gevent.spawn(self._stopping.set)

    def notify(self) -> None:
        """Tell the arbiter and the metrics that this process runs."""
        super().notify()
        metrics.api_heartbeat().set_to_current_time()

    def run(self) -> None:
        """Serve until stopped, then finish the accepted requests."""
        pool = Pool(self.worker_connections)
        servers = [self._listen(listener, pool) for listener in self.sockets]
        while self.alive:
            self.notify()
            self._stopping.wait(TICK_SECONDS)
        for server in servers:
            _accept_backlog(server, pool)
        self.on_closing()
        started = time.monotonic()
        while len(pool) and (seconds := time.monotonic() - started) < self.cfg.graceful_timeout - 2:
            self.notify()
            self.connections.close(seconds)
            gevent.sleep(CLOSING_TICK_SECONDS)
        pool.kill(timeout=1)

    def handle(self, listener: object, client: socket.socket, addr: object) -> None:
        """Serve one connection; `listener` is an address, because a closing worker has no listener."""
        connection = self.connections.register(client, addr)
        if connection is None:
            with suppress(OSError):  # the client may have disconnected
                client.setblocking(False)  # noqa: FBT003 -- the socket's signature
                client.send(raw_response(RateLimited(TOO_MANY, retry_after=RETRY_SECONDS)))
            return
        try:
            self._serve(listener, connection, addr)
        except (StopIteration, NoMoreData, OSError) as error:
            self.log.debug("connection closed: %s", type(error).__name__)
        except Exception as error:  # noqa: BLE001 -- no client may stop the worker
            self.handle_error(None, connection, addr, error)
        finally:
            self.connections.unregister(connection)
            connection.close()

    def handle_error(self, req: object, client: Connection, addr: object, exc: Exception) -> None:  # noqa: ARG002 -- gunicorn's signature
        """Send the response for a malformed request or an error outside the application."""
        problem = problem_of(exc)
        if isinstance(problem, InternalError):
            self.log.error("error outside the application", exc_info=exc)
        try:
            client.sendall(raw_response(problem))
            _drain(client)
        except OSError:
            self.log.debug("client disconnected")

    def _listen(self, listener: socket.socket, pool: Pool) -> Listener:
        listener.setblocking(True)  # noqa: FBT003 -- the socket's signature
        listener.setsockopt(
            socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES
        )  # inherited by accepted sockets
        handle = partial(self.handle, listener.getsockname())
        server = Listener(listener, handle=handle, spawn=pool, count=self.connections.shared_count)
        if self.cfg.workers > 1:
            server.max_accept = 1  # leave connections for the other processes
        server.start()
        return server

    def _serve(self, name: object, connection: Connection, addr: object) -> None:
        """Serve the requests of a connection; a timeout between two requests is not an error."""
        parser = _Parser(self.cfg, connection, addr)
        while True:
            start = parser.unreader.take_buffered()
            if start:
                gevent.sleep(0)  # let other connections run between pipelined requests
            else:
                start = _first_bytes(connection)
            if not start:
                return
            parser.unreader.unread(start)
            connection.begin(ReadPhase.HEAD)
            request = next(parser)
            connection.begin(ReadPhase.BODY)
            try:
                self.handle_request(name, request, connection, addr)
            except StopIteration:
                if not _is_read(connection, request):
                    _drain(connection)
                return
            if not _is_read(connection, request):
                _drain(connection)
                return
            connection.begin(ReadPhase.IDLE)


class Listener(StreamServer):
    """Accepts connections; one that another process should have is left to it for a moment."""

    def __init__(self, *arguments: Any, count: ConnectionCount | None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._count = count

    def do_read(self) -> Any:  # noqa: ANN401 -- a socket and an address, or None, which gevent's type lacks
        """Return the next connection, or None if there is none or it is left to another process."""
        if self._count is None or not self._count.is_high:
            return self.take()
        self.stop_accepting()
        gevent.spawn_later(LEFT_SECONDS, self._resume)
        return None

    def take(self) -> Any:  # noqa: ANN401 -- likewise
        """Return the next connection, or None if there is none."""
        return super().do_read()

    def _resume(self) -> None:
        """Take the connection that no other process has taken, and accept the next ones."""
        if not self.started:
            return
        self.start_accepting()
        if not self.full() and (accepted := self.take()):
            self.do_handle(*accepted)


class _Parser(RequestParser):  # type: ignore[misc]  # gunicorn has no types
    """Parses the requests of a connection."""

    def __init__(self, cfg: object, connection: Connection, peer: object) -> None:
        super().__init__(cfg, connection, peer)
        self.unreader.max_body_chunk = (
            READ_BYTES  # a connection holds what it has read, and not yet passed on
        )
        self.mesg_class = partial(_Request, connection)


class _Request(Request):  # type: ignore[misc]  # gunicorn has no types
    """A request that decides at its response whether the connection closes."""

    def __init__(self, connection: Connection, *arguments: Any) -> None:
        self._connection = connection
        super().__init__(*arguments)

    def should_close(self) -> bool:
        """Return whether the connection closes after the response."""
        return self._connection.is_last or bool(super().should_close())


def _first_bytes(connection: Connection) -> bytes:
    try:
        return connection.recv(FIRST_BYTES)
    except Problem:  # a timeout before the first byte
        return b""


def _is_read(connection: Connection, request: _Request) -> bool:
    """Return whether the request was read completely, after reading the rest of a small one."""
    if connection.is_aborted or request.body.failed:
        return False
    connection.begin(ReadPhase.DRAIN)
    remaining = MAX_UNREAD_BYTES
    try:
        while remaining > 0 and (chunk := request.body.read(READ_BYTES)):
            remaining -= len(chunk)
    except (Problem, ParseException, OSError):
        return False
    return remaining > 0


def _drain(connection: Connection) -> None:
    """Read what the client still sends: closing early would reset the connection and lose the response."""
    connection.end_sending()
    connection.begin(ReadPhase.DRAIN)
    remaining = MAX_DRAINED_BYTES
    try:
        while remaining > 0 and (chunk := connection.recv(READ_BYTES)):
            remaining -= len(chunk)
    except (Problem, OSError):
        return


def _accept_backlog(server: Listener, pool: Pool) -> None:
    """Stop listening, but accept the connections that the kernel has already established."""
    server.stop_accepting()
    with suppress(OSError):  # the client disconnected, or no file descriptor is free
        while not pool.full() and (accepted := server.take()):
            server.do_handle(*accepted)
    server.close()


def _noop() -> None:
    """Do nothing."""
