"""Websites of the companies in the sample data, to try the extension on."""

from __future__ import annotations

import csv
import html
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from tools.services import ports
from tools.state import ROOT

FIRST_PORT = 8080
MAX_LISTED_PEOPLE = 5
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{name}</title>
<style>body {{ font: 17px/1.6 system-ui; margin: 10vh auto; max-width: 40em; padding: 0 1em }}
code {{ overflow-wrap: anywhere }}</style>
<h1>{name}</h1><p>A fictional company to try the extension on: click its icon in the toolbar.</p>
<h2>Some of its people</h2><p>Their profiles do not exist; paste a URL into the extension's search.</p>
<ul>{people}</ul><h2>Other websites</h2><ul>{sites}</ul></html>"""


def people_by_website() -> dict[str, list[dict[str, str]]]:
    """Return the rows of the sample people by the domain of their company."""
    people: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (ROOT / "demo" / "people.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            people[row["company_domain"]].append(row)
    return people


@contextmanager
def serve() -> Iterator[int]:
    """Serve the websites on a free loopback port, and yield the port."""
    port = ports.next_free(FIRST_PORT)
    _Handler.sites = {site: _Website(people) for site, people in people_by_website().items()}
    server = _Server((ports.LOOPBACK, port), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield port
    finally:
        server.shutdown()
        server.server_close()


@dataclass(frozen=True, slots=True)
class _Website:
    """The website of one sample company."""

    people: list[dict[str, str]] = field(default_factory=list)

    def page(self) -> bytes:
        """Return the HTML of its only page."""
        people = "".join(
            f"<li>{html.escape(row['full_name'])}, {html.escape(row['title'])}<br>"
            f"<code>{html.escape(row['linkedin_url'])}</code>"
            for row in self.people[:MAX_LISTED_PEOPLE]
        )
        sites = "".join(f'<li><a href="http://{site}/">{site}</a>' for site in people_by_website())
        name = html.escape(self.people[0]["company_name"] if self.people else "Unknown website")
        return PAGE.format(name=name, people=people, sites=sites).encode()


class _Handler(BaseHTTPRequestHandler):
    """Serves the website of the requested host."""

    sites: ClassVar[dict[str, _Website]] = {}

    def do_GET(self) -> None:
        """Send the page of the host."""
        host = (self.headers.get("Host") or "").partition(":")[0]
        page = self.sites.get(host, _Website()).page()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_args: object) -> None:
        """Log nothing: requests would show which websites the user visits."""


class _Server(ThreadingHTTPServer):
    """Handles each connection in its own thread."""

    daemon_threads = True

    def handle_error(self, *_args: object) -> None:
        """Ignore it: browsers close connections at any time."""
