"""A receiver of webhooks on loopback, which can be told to fail."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tools.services.ports import LOOPBACK


@dataclass(slots=True)
class Receiver:
    """The server; `status` is that of its responses."""

    status: int = 204
    server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        """The address for deliveries."""
        return f"http://{LOOPBACK}:{self.server.server_port if self.server else 0}/done"

    def start(self) -> None:
        """Start the server."""
        self.server = ThreadingHTTPServer((LOOPBACK, 0), _handler(self))
        threading.Thread(target=self.server.serve_forever, name="receiver", daemon=True).start()

    def stop(self) -> None:
        """Stop the server."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.send_response(receiver.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Print nothing."""

    return Handler
