"""A server of JSON on loopback, for what plays the API of a vendor."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

NICENESS = 19


class JsonServer(ThreadingHTTPServer):
    """Answers each request with `answer`; `requests` counts them, `cpu_seconds` is their processor time."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests = 0
        self.cpu_seconds = 0.0

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.server_port}"

    def answer(
        self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any]
    ) -> tuple[HTTPStatus, object]:
        """Return the status and the body of the answer; several threads call it at the same time."""
        raise NotImplementedError

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 -- as its base
        """Answer the requests of a connection in a thread of its own."""
        super().process_request_thread(request, client_address)
        self.cpu_seconds += time.thread_time()


Server = TypeVar("Server", bound=JsonServer)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Answer requests as long as the block runs."""
    with server:
        threading.Thread(target=_serve, args=(server,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def _serve(server: JsonServer) -> None:
    """Answer requests with the lowest priority: what is measured beside them has machines of its own."""
    os.nice(NICENESS)  # of this thread, and of those that it starts
    server.serve_forever()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: JsonServer

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PATCH(self) -> None:
        self._answer()

    def _answer(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests += 1
        status, body = self.server.answer(self.command, url.path, query, json.loads(sent or "{}"))
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the method's signature
        """Print nothing."""
