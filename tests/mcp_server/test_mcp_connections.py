"""Clients that keep the MCP server waiting: real sockets against the server over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from polling import wait_until
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server import connections, http_app
from mcp_server.connections import SECONDS, ClientConnection, Wait
from mcp_server.server import build
from mcp_server.settings import Settings

LIST_TOOLS = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
JSON = "Content-Type: application/json", "Accept: application/json, text/event-stream"
TOKEN = "Authorization: Bearer any"
UNFINISHED = {
    "silent": b"",
    "unfinished head": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX",
    "unfinished body": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Authorization: Bearer any\r\nContent-Length: 9\r\n\r\n{",
}


class Impatient(ClientConnection):
    """Waits for clients only for a moment."""

    seconds = dict.fromkeys(SECONDS, 0.1)


class Few(ClientConnection):
    """One of at most 16 connections, whose timeouts do not end during a test."""

    seconds = dict.fromkeys(SECONDS, 600.0)
    max_connections = 16


@contextmanager
def running(app: ASGIApp, connection: type[ClientConnection]) -> Iterator[int]:
    """Serve the application on a free port, which is yielded."""
    server = connections.server(app, "127.0.0.1", 0, connection)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.force_exit = server.should_exit = True
        thread.join()


def mcp() -> ASGIApp:
    return http_app.application(build(Settings("http://127.0.0.1:9")), [])


def request(*headers: str, method: str = "POST", path: str = "/mcp", body: bytes = b"") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1:1", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def connect(port: int, sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=30)
    client.sendall(sent)
    return client


def status(port: int, sent: bytes) -> int:
    """Return the status of the response; 0 if the connection was closed without one."""
    with connect(port, sent) as client:
        return int(client.recv(1024)[9:12] or 0)


def is_closed(client: socket.socket, sent: bytes) -> bool:
    """Read for a moment, then send; return whether the server has closed the connection."""
    client.settimeout(0.02)
    try:
        while client.recv(65536):
            pass
    except TimeoutError:
        client.sendall(sent)
        return False
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize(
    ("sent", "later"),
    [
        (b"", b""),
        (b"POST /mcp HTTP/1.1\r\nX: ", b"x"),
        (b"\r\n", b"\r\n"),
        (request(JSON[0], method="GET"), b""),
        (request(method="GET") + b"POST", b"x"),
        (request(body=b"{}")[:-1], b""),
        (request("Transfer-Encoding: chunked").replace(b"Content-Length: 0\r\n", b""), b"1\r\nx\r\n"),
        (b"nothing that is HTTP\r\n\r\n", b""),
    ],
    ids=["silent", "head", "blank lines", "idle", "second head", "rest", "endless rest", "not HTTP"],
)
def test_a_client_that_sends_nothing_complete_is_disconnected(sent: bytes, later: bytes) -> None:
    with running(mcp(), Impatient) as port, connect(port, sent) as client:
        wait_until(lambda: is_closed(client, later))


@pytest.mark.parametrize(("header", "parts"), [("Connection: close", 1), ("Connection: keep-alive", 3)])
def test_a_client_that_does_not_read_is_disconnected(
    monkeypatch: pytest.MonkeyPatch, header: str, parts: int
) -> None:
    monkeypatch.setattr(connections, "MIN_READ_BYTES_PER_SECOND", 1 << 30)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await StreamingResponse(iter(["x" * (1 << 24)] * parts))(scope, receive, send)

    with running(app, Impatient) as port, connect(port, request(header)) as client:
        wait_until(lambda: is_refused(client))


def is_refused(client: socket.socket) -> bool:
    """Send a byte without reading; return whether the server has closed the connection."""
    try:
        client.sendall(b"x")
    except ConnectionError:
        return True
    return False


@pytest.mark.parametrize("sent", UNFINISHED.values(), ids=UNFINISHED)
def test_clients_that_hold_all_connections_do_not_stop_others(sent: bytes) -> None:
    with running(mcp(), Few) as port, ExitStack() as stack:
        clients = [stack.enter_context(connect(port, sent)) for _ in range(40)]

        assert [status(port, request(TOKEN, *JSON, body=LIST_TOOLS)) for _ in range(3)] == [200] * 3
        assert sum(not is_closed(client, b"") for client in clients) < 16


def test_streams_without_messages_hold_no_connection() -> None:
    with running(mcp(), Few) as port, ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(connect(port, request(TOKEN, *JSON, method="GET")))

        assert status(port, request(TOKEN, *JSON, method="GET")) == 405
        assert status(port, request(TOKEN, *JSON, body=LIST_TOOLS)) == 200


def test_a_client_that_waits_for_the_service_is_not_disconnected() -> None:
    paths, may_end = [], asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        paths.append(scope["path"])
        if scope["path"] == "/end":
            may_end.set()
        await may_end.wait()
        await PlainTextResponse(status_code=204)(scope, receive, send)

    class Both(Few, Impatient):
        """One of few connections, with short timeouts."""

        seconds = Impatient.seconds

    with running(app, Both) as port, ExitStack() as stack:
        clients = []
        while len(paths) < 20:  # one after the other, as those that have not sent their heads are evicted
            clients.append(stack.enter_context(connect(port, request(path="/wait"))))
            wait_until(lambda: len(paths) == len(clients))
        for _ in range(40):
            stack.enter_context(connect(port))
        assert status(port, request(path="/end")) == 204

        assert {client.recv(1024)[9:12] for client in clients} == {b"204"}


def test_every_wait_for_a_client_ends() -> None:
    """The body's timeout is that of the application, which responds with 408."""
    assert {*Wait} - SECONDS.keys() == {Wait.SERVICE, Wait.BODY}
