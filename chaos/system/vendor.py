"""A vendor on loopback: an HTTP server for a provider configured in TOML, with failures on demand."""

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
UNKNOWN = "unknown"  # the vendor does not know people whose profile begins with this
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
    """A request: when it arrived (monotonic), the person it asks for, and the port it came from."""

    received_at: float
    person: str
    port: int


@dataclass(frozen=True, slots=True)
class CannedResponse:
    """The status of a response, the seconds it is delayed, and its Retry-After header."""

    status: int = 200
    delay: float = 0.0
    retry_after: int | None = None


Behaviour: TypeAlias = Callable[[Call], CannedResponse]


@dataclass(slots=True)
class Vendor:
    """The server; `behaviour` chooses the response to each call."""

    behaviour: Behaviour
    calls: list[Call] = field(default_factory=list)
    responses: list[tuple[float, CannedResponse]] = field(default_factory=list)
    """Each response, and when it was chosen (monotonic)."""
    server: ThreadingHTTPServer | None = None

    def start(self, folder: Path, *, rates: str) -> dict[str, str]:
        """Start the server; return the settings with which the service queries this vendor only."""
        self.server = ThreadingHTTPServer((LOOPBACK, 0), _handler(self))
        threading.Thread(target=self.server.serve_forever, name=NAME, daemon=True).start()
        file = folder / f"{NAME}-{self.server.server_port}.toml"
        file.write_text(PROVIDER_TOML.format(host=LOOPBACK, port=self.server.server_port, rates=rates))
        return {"PROVIDERS_FILE": str(file), "PROVIDERS_EMAIL": NAME}

    def stop(self) -> None:
        """Stop the server."""
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()

    def respond(self, call: Call) -> CannedResponse:
        """Record a call; return the response to it."""
        self.calls.append(call)
        response = self.behaviour(call)
        self.responses.append((time.monotonic(), response))
        return response


def _handler(vendor: Vendor) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            profile = parse_qs(urlsplit(self.path).query).get("profile", [""])[0]
            person = profile.removeprefix(PROFILE)
            response = vendor.respond(Call(time.monotonic(), person, self.client_address[1]))
            time.sleep(response.delay)
            hit = {"found": True, "email": f"{person}@vendor.example", "status": "valid"}
            content = json.dumps({"found": False} if person.startswith(UNKNOWN) else hit).encode()
            with suppress(OSError):  # the caller has disconnected
                self.send_response(response.status)
                if response.retry_after is not None:
                    self.send_header("Retry-After", str(response.retry_after))
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_arguments: object) -> None:
            """Print nothing."""

    return Handler
