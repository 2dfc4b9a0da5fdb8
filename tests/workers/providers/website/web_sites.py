"""Websites on loopback: every host of a request is served by the same functions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

Handler: TypeAlias = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """A request, and what is sent for it."""

    protocol_version = "HTTP/1.1"
    sites: Sites

    def do_GET(self) -> None:
        host = self.headers["Host"]
        self.sites.requests.append((host, self.path))
        self.sites.headers.append(dict(self.headers))
        handler = self.sites.pages.get(self.path) or self.sites.pages.get("*")
        if handler is None:
            self.page(b"", status=404)
        else:
            handler(self)

    def page(self, body: bytes | str, *, status: int = 200, **headers: str) -> None:
        content = body.encode() if isinstance(body, str) else body
        sent = {"content_type": "text/html; charset=utf-8", "content_length": str(len(content)), **headers}
        self.send_response(status)
        for name, value in sent.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


@dataclass
class Sites:
    """The pages by path, `*` for all others, and the requests as host and path."""

    url: str = ""
    pages: dict[str, Handler] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def paths(self) -> list[str]:
        return [path for _host, path in self.requests]

    def add(self, path: str, body: bytes | str, *, status: int = 200, **headers: str) -> None:
        self.pages[path] = lambda request: request.page(body, status=status, **headers)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_arguments: object) -> None:
        """Ignore connections that the client closed."""


@contextmanager
def serving() -> Iterator[Sites]:
    """Serve sites on loopback."""
    sites = Sites()
    handler = type("SitesRequest", (Request,), {"sites": sites})
    with _Server(("127.0.0.1", 0), handler) as server:
        sites.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield sites
        finally:
            sites.over.set()
            server.shutdown()
            thread.join()
