"""The sites on loopback, by the name of the host in each request, as a host of static sites serves them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

_TYPES = {".txt": "text/plain", ".xml": "application/xml"}


class SiteServer(ThreadingHTTPServer):
    """Serves each folder in a folder as the site of that name; `requests` counts the requests by host."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder.resolve()
        self.requests = Counter[str]()

    def file_of(self, host: str, path: str) -> Path | None:
        """Return the file that a path names: itself, with `.html`, or the index of a folder."""
        root = self.folder / host
        named = (root / unquote(path).lstrip("/")).resolve()
        if not named.is_relative_to(root):
            return None
        names = [named, named.with_name(f"{named.name}.html"), named / "index.html", named / "index.htm"]
        return next((name for name in names if name.is_file()), None)


@contextmanager
def serving(folder: Path) -> Iterator[SiteServer]:
    """Answer requests as long as the block runs."""
    with SiteServer(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: SiteServer

    def do_GET(self) -> None:
        host = (self.headers.get("Host") or "").partition(":")[0].removeprefix("www.")
        self.server.requests[host] += 1
        path = self.server.file_of(host, urlsplit(self.path).path)
        content = path.read_bytes() if path else b"Not found"
        self.send_response(200 if path else 404)
        self.send_header("Content-Type", _TYPES.get(path.suffix if path else ".txt", "text/html"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the method's signature
        """Print nothing."""
