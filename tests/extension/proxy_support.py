"""The network of a test's browser: everything it sends comes through here, is written down, and may go wrong.

It plays the websites (`*.test`), hands on what is for the API, and lets nothing else out.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from app.domain.errors import all_problems

HOP_BY_HOP = {"connection", "proxy-connection", "keep-alive", "transfer-encoding", "content-length"}
SITE = "<!doctype html><html lang=en><title>{host}</title><main><h1>{host}</h1><p>A website.</p></main>"


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as the browser sent it."""

    method: str
    host: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        body = self.body.decode(errors="replace")
        return f"{self.method} {self.host}{self.path} {self.headers} {body}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the network answers instead of the API; a status of 0 hangs up."""

    status: int = 0
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


Fault = Callable[[Sent], Reply | None]


@dataclass
class Network:
    """Where the API is, what was sent, what goes wrong before (`faults`) and after (`losses`) it answers."""

    api: str
    port: int = 0
    sent: list[Sent] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    losses: list[Fault] = field(default_factory=list)

    def reset(self) -> None:
        """Forget what was sent and what goes wrong."""
        for each in (self.sent, self.faults, self.losses):
            each.clear()

    def to_api(self, path: str = "") -> list[Sent]:
        """Give what was sent to the API, to that path if one is given."""
        return [one for one in self.sent if one.host == self.api and one.path.startswith(path)]

    def elsewhere(self) -> list[Sent]:
        """Give what was sent to anywhere but the API."""
        return [one for one in self.sent if one.host != self.api]

    @contextmanager
    def failing(self, path: str, reply: Reply, times: int | None = None) -> Iterator[None]:
        """Answer requests to that path with the reply, so many times, or until the block ends."""
        left = [times]

        def fault(sent: Sent) -> Reply | None:
            if not sent.path.startswith(path) or left[0] == 0:
                return None
            left[0] = None if left[0] is None else left[0] - 1
            return reply

        self.faults.append(fault)
        try:
            yield
        finally:
            self.faults.remove(fault)

    @contextmanager
    def holding(self, path: str, *, answered: bool = False) -> Iterator[threading.Event]:
        """Keep what is sent there, or the API's answer to it, till the event is set or the block ends."""
        go_on = threading.Event()

        def hold(sent: Sent) -> Reply | None:
            if sent.path.startswith(path):
                go_on.wait(60)
            return None

        wrongs = self.losses if answered else self.faults
        wrongs.append(hold)
        try:
            yield go_on
        finally:
            go_on.set()
            wrongs.remove(hold)

    @contextmanager
    def losing_the_answer(self, path: str, times: int = 1) -> Iterator[None]:
        """Hand requests to that path on, and hang up instead of answering, so many times."""
        left = [times]

        def loss(sent: Sent) -> Reply | None:
            if not sent.path.startswith(path) or left[0] == 0:
                return None
            left[0] -= 1
            return Reply()

        self.losses.append(loss)
        try:
            yield
        finally:
            self.losses.remove(loss)


def problem(status: int, code: str, **more: Any) -> Reply:
    """Give a problem as the service writes it."""
    kind = all_problems().get(code)
    told: dict[str, Any] = {"title": code, "status": status, "detail": code, "code": code}
    told["retryable"] = kind is not None and kind.retryable
    body = {"type": f"/problems/{code}", **told, **more}
    headers = {"Retry-After": str(more["retry_after"])} if "retry_after" in more else {}
    return Reply(status, body, {"Content-Type": "application/problem+json", **headers})


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, world: Network) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.world = world

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: the browser hung up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle_any(self) -> None:
        url = urlsplit(self.path)
        size = int(self.headers.get("Content-Length", 0))
        path = url.path + (f"?{url.query}" if url.query else "")
        sent = Sent(self.command, url.netloc, path, dict(self.headers), self.rfile.read(size))
        self.server.world.sent.append(sent)
        if sent.host == self.server.world.api:
            self._hand_on(sent)
        else:
            self._tell(200, {"Content-Type": "text/html"}, SITE.format(host=url.hostname).encode())

    def _hand_on(self, sent: Sent) -> None:
        world = self.server.world
        wrong = _first(world.faults, sent)
        if wrong is None:
            answer = _ask(world.api, sent)
            wrong = _first(world.losses, sent)
            if wrong is None:
                self._tell(*answer)
                return
        if wrong.status == 0:
            self.close_connection = True
            return
        body = wrong.body if isinstance(wrong.body, bytes) else json.dumps(wrong.body).encode()
        self._tell(wrong.status, wrong.headers, body)

    def _tell(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self) -> None:
        self.server.world.sent.append(Sent("CONNECT", self.path, "", {}, b""))
        self.send_error(502)

    do_GET = do_POST = do_DELETE = do_OPTIONS = do_HEAD = handle_any  # noqa: N815

    def log_message(self, *_words: Any) -> None:
        """Say nothing: what was sent is in `sent`."""


def _first(wrongs: list[Fault], sent: Sent) -> Reply | None:
    return next((reply for wrong in wrongs if (reply := wrong(sent))), None)


@contextmanager
def network(api: str) -> Iterator[Network]:
    """Run the browser's network; `api` is the API's host and port."""
    world = Network(api)
    server = _Server(world)
    world.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield world
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _ask(api: str, sent: Sent) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(api, timeout=40)
    headers = {name: value for name, value in sent.headers.items() if name.lower() not in HOP_BY_HOP}
    try:
        connection.request(sent.method, sent.path, sent.body or None, headers)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()
