"""A vendor on loopback: an HTTP server that a generic provider asks, and that misbehaves as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qs, urlsplit

from tools.services.ports import LOOPBACK

NAME = "vendor"
PROFILE = "https://www.linkedin.com/in/chaos-"
PROVIDER_TOML = """
[vendor]
url = "http://{host}:{port}"
rates = "{rates}"

[vendor.email]
path = "/people"
query = {{ profile = "{{linkedin_url}}" }}
miss = "!found"

[vendor.email.read]
email = "email"
status = "status"
"""


@dataclass(frozen=True, slots=True)
class Call:
    """One request as it came in: when (monotonic), about whom, and from which port."""

    received_at: float
    person: str
    port: int


@dataclass(frozen=True, slots=True)
class CannedResponse:
    """What is answered: the status, after so many seconds; `retry_after` for a 429."""

    status: int = 200
    delay: float = 0.0
    retry_after: int | None = None


Behaviour: TypeAlias = Callable[[Call], CannedResponse]


@dataclass(slots=True)
class Vendor:
    """The server; `manner` decides on each call, and `calls` has them all."""

    behaviour: Behaviour
    calls: list[Call] = field(default_factory=list)
    responses: list[tuple[float, CannedResponse]] = field(default_factory=list)
    server: ThreadingHTTPServer | None = None

    def start(self, folder: Path, *, rates: str) -> dict[str, str]:
        """Begin to listen; give the settings with which the service asks nobody but this vendor."""
        self.server = ThreadingHTTPServer((LOOPBACK, 0), _handler(self))
        threading.Thread(target=self.server.serve_forever, name=NAME, daemon=True).start()
        file = folder / f"{NAME}-{self.server.server_port}.toml"
        file.write_text(PROVIDER_TOML.format(host=LOOPBACK, port=self.server.server_port, rates=rates))
        return {"PROVIDERS_FILE": str(file), "PROVIDERS_EMAIL": NAME}

    def stop(self) -> None:
        """Listen no more."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()

    def respond(self, call: Call) -> CannedResponse:
        """Take a call in, and decide on it."""
        self.calls.append(call)
        says = self.behaviour(call)
        self.responses.append((time.monotonic(), says))
        return says


def _handler(vendor: Vendor) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            profile = parse_qs(urlsplit(self.path).query).get("profile", [""])[0]
            person = profile.removeprefix(PROFILE)
            says = vendor.respond(Call(time.monotonic(), person, self.client_address[1]))
            time.sleep(says.delay)
            found = {"found": True, "email": f"{person}@vendor.example", "status": "valid"}
            content = json.dumps({"found": False} if person.startswith("nobody") else found).encode()
            with suppress(OSError):  # whoever asked is gone
                self.send_response(says.status)
                if says.retry_after is not None:
                    self.send_header("Retry-After", str(says.retry_after))
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_words: object) -> None:
            """Print nothing."""

    return Handler
