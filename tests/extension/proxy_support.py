"""An HTTP proxy for the browser that records every request and can inject faults.

It serves the websites (`*.test`) itself, forwards requests to the API and blocks everything else.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from app.domain.errors import all_problems

HOP_BY_HOP = {"connection", "proxy-connection", "keep-alive", "transfer-encoding", "content-length"}
CHROMIUM_HOSTS = re.compile(
    r"(?:[\w-]+\.googleapis|accounts\.google|(?:[\w-]+\.)?clients\d?\.google)\.com(?::\d+)?"
)
"""Chromium's own services, which it requests at start and when a page has a form."""
WEBSITE = "<!doctype html><html lang=en><title>{host}</title><main><h1>{host}</h1><p>A website.</p></main>"


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as the browser sent it."""

    method: str
    host: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def is_of_chromium(self) -> bool:
        """Whether Chromium sends it by itself; `test_package.py` shows that the extension does not."""
        return CHROMIUM_HOSTS.fullmatch(self.host) is not None

    @property
    def text(self) -> str:
        body = self.body.decode(errors="replace")
        return f"{self.method} {self.host}{self.path} {self.headers} {body}"


@dataclass(frozen=True, slots=True)
class CannedReply:
    """A reply that replaces the API's; a status of 0 closes the connection without a reply."""

    status: int = 0
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


ReplyRule = Callable[[RecordedRequest], CannedReply | None]


@dataclass
class RecordingProxy:
    """The recorded requests, and rules that replace the API's reply before or after it is requested."""

    api: str
    provider: str = ""
    """The host and port of an OpenID provider, to which requests are forwarded too."""
    port: int = 0
    sent: list[RecordedRequest] = field(default_factory=list)
    before_api: list[ReplyRule] = field(default_factory=list)
    after_api: list[ReplyRule] = field(default_factory=list)

    def reset(self) -> None:
        """Delete the recorded requests and the rules."""
        self.sent.clear()
        self.before_api.clear()
        self.after_api.clear()

    def api_requests(self, path: str = "") -> list[RecordedRequest]:
        """Return the recorded requests to the API whose path starts with `path`."""
        return [
            request for request in self.sent if request.host == self.api and request.path.startswith(path)
        ]

    @contextmanager
    def replying(self, path: str, reply: CannedReply, times: int | None = None) -> Iterator[None]:
        """Send the reply instead of requesting the API, so many times or until the block ends."""
        with _rule(self.before_api, _limited(path, reply, times)):
            yield

    @contextmanager
    def holding(self, path: str, *, replies: bool = False) -> Iterator[threading.Event]:
        """Hold requests to the path, or the API's replies, until the event is set or the block ends."""
        release = threading.Event()

        def hold(request: RecordedRequest) -> None:
            if request.path.startswith(path):
                release.wait(60)

        with _rule(self.after_api if replies else self.before_api, hold):
            try:
                yield release
            finally:
                release.set()

    @contextmanager
    def dropping_replies(self, path: str, times: int = 1) -> Iterator[None]:
        """Request the API, and close the connection instead of sending its reply, so many times."""
        with _rule(self.after_api, _limited(path, CannedReply(), times)):
            yield


@contextmanager
def _rule(rules: list[ReplyRule], rule: ReplyRule) -> Iterator[None]:
    rules.append(rule)
    try:
        yield
    finally:
        rules.remove(rule)


def _limited(path: str, reply: CannedReply, times: int | None) -> ReplyRule:
    """Return a rule that sends the reply so many times, or always if `times` is None."""
    remaining = times

    def rule(request: RecordedRequest) -> CannedReply | None:
        nonlocal remaining
        if not request.path.startswith(path) or remaining == 0:
            return None
        remaining = None if remaining is None else remaining - 1
        return reply

    return rule


def problem_reply(status: int, code: str, **members: Any) -> CannedReply:
    """Return a problem as the service sends it."""
    kind = all_problems().get(code)
    body = {"type": f"/problems/{code}", "title": code, "status": status, "detail": code, "code": code}
    body |= {"retryable": kind is not None and kind.retryable, **members}
    headers = {"Retry-After": str(members["retry_after"])} if "retry_after" in members else {}
    return CannedReply(status, body, {"Content-Type": "application/problem+json", **headers})


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, proxy: RecordingProxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore it: the browser closed the connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle_any(self) -> None:
        url = urlsplit(self.path)
        size = int(self.headers.get("Content-Length", 0))
        path = url.path + (f"?{url.query}" if url.query else "")
        request = RecordedRequest(self.command, url.netloc, path, dict(self.headers), self.rfile.read(size))
        self.server.proxy.sent.append(request)
        if request.host == self.server.proxy.api:
            self._forward(request)
        elif request.host == self.server.proxy.provider:
            self._send(*_request_api(request.host, request))
        else:
            self._send(200, {"Content-Type": "text/html"}, WEBSITE.format(host=url.hostname).encode())

    def _forward(self, request: RecordedRequest) -> None:
        proxy = self.server.proxy
        canned = _first_reply(proxy.before_api, request)
        if canned is None:
            reply = _request_api(proxy.api, request)
            canned = _first_reply(proxy.after_api, request)
            if canned is None:
                self._send(*reply)
                return
        if canned.status == 0:
            self.close_connection = True
            return
        body = canned.body if isinstance(canned.body, bytes) else json.dumps(canned.body).encode()
        self._send(canned.status, canned.headers, body)

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self) -> None:
        self.server.proxy.sent.append(RecordedRequest("CONNECT", self.path, "", {}, b""))
        self.send_error(502)

    do_GET = do_POST = do_DELETE = do_OPTIONS = do_HEAD = handle_any  # noqa: N815

    def log_message(self, *_args: Any) -> None:
        """Log nothing: `sent` has every request."""


def _first_reply(rules: list[ReplyRule], request: RecordedRequest) -> CannedReply | None:
    return next((reply for rule in list(rules) if (reply := rule(request))), None)


@contextmanager
def recording_proxy(api: str) -> Iterator[RecordingProxy]:
    """Run a proxy; `api` is the host and port of the API."""
    proxy = RecordingProxy(api)
    server = _Server(proxy)
    proxy.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _request_api(api: str, request: RecordedRequest) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(api, timeout=40)
    headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
    try:
        connection.request(request.method, request.path, request.body or None, headers)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()
