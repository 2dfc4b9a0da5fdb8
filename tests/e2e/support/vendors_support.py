"""Fake vendors on a server on loopback: Hunter, Prospeo and Dropcontact, in their wire formats."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

KEY = "secret-key-of-a-fake-vendor"
NO_MATCH = (400, {"error": True, "error_code": "NO_MATCH"})
NOT_READY = {"success": False, "error": False, "reason": "Request not ready yet, try again in 30 seconds"}

Responder = Callable[[Request], tuple[int, Any]]


@dataclass
class FakeVendors:
    """Several vendors on one server; each responds as the test sets it, and its requests are recorded."""

    server: HTTPServer
    responders: dict[str, Responder] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server.port}/{name}"

    def respond(self, request: Request) -> Response:
        name, _, path = request.path.lstrip("/").partition("/")
        self.requests.append((name, f"{request.method} /{path}"))
        status, body = self.responders[name](request)
        return Response(json.dumps(body), status, content_type="application/json")

    def calls(self, name: str) -> int:
        return sum(vendor == name for vendor, _path in self.requests)

    def settings(self) -> dict[str, str]:
        """Return the settings with which the service queries the vendors."""
        return {
            "HUNTER_API_KEY": KEY,
            "HUNTER_BASE_URL": self.url("hunter"),
            "PROSPEO_API_KEY": KEY,
            "PROSPEO_BASE_URL": self.url("prospeo"),
            "DROPCONTACT_API_KEY": KEY,
            "DROPCONTACT_BASE_URL": self.url("dropcontact"),
        }

    def reset(self) -> None:
        """Clear the recorded requests, and make all vendors return no match."""
        self.requests.clear()
        self.responders = {
            "hunter": lambda _request: (200, {"data": {"email": None, "score": None}, "meta": {}}),
            "prospeo": lambda _request: NO_MATCH,
            "dropcontact": lambda _request: (200, NOT_READY),
        }


@contextmanager
def run_fake_vendors() -> Iterator[FakeVendors]:
    """Run the server of the vendors."""
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        vendors = FakeVendors(server)
        vendors.reset()
        server.expect_request(re.compile("/.*")).respond_with_handler(vendors.respond)
        yield vendors
        vendors.closing.set()


def prospeo_finds(email: str) -> Responder:
    """Return a Prospeo handler that finds this address for every person, under the requested name."""

    def respond(request: Request) -> tuple[int, Any]:
        query = request.get_json()["data"]
        return 200, {
            "error": False,
            "free_enrichment": False,
            "person": {
                "person_id": "p1",
                "full_name": query.get("full_name", "Ada Lovelace"),
                "linkedin_url": query.get("linkedin_url"),
                "email": {"status": "VERIFIED", "revealed": True, "email": email},
            },
            "company": {"name": None, "domain": query.get("company_website", "northwind.dev")},
        }

    return respond
