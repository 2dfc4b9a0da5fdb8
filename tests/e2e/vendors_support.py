"""Vendors simulated by a server on loopback: Hunter, Prospeo and Dropcontact, in their wire formats."""

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

KEY = "walk-secret-key-of-a-vendor"
NO_MATCH = (400, {"error": True, "error_code": "NO_MATCH"})
NOT_READY = {"success": False, "error": False, "reason": "Request not ready yet, try again in 30 seconds"}

Says = Callable[[Request], tuple[int, Any]]


@dataclass
class Vendors:
    """Several vendors on one server; each responds as the test sets it, and its requests are recorded."""

    server: HTTPServer
    says: dict[str, Says] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    hung: threading.Event = field(default_factory=threading.Event)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server.port}/{name}"

    def answer(self, request: Request) -> Response:
        name, _, path = request.path.lstrip("/").partition("/")
        self.asked.append((name, f"{request.method} /{path}"))
        status, body = self.says[name](request)
        return Response(json.dumps(body), status, content_type="application/json")

    def calls(self, name: str) -> int:
        return sum(asked == name for asked, _path in self.asked)

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

    def start_anew(self) -> None:
        """Clear the recorded requests, and make all vendors return no match."""
        self.asked.clear()
        self.says = {
            "hunter": lambda _request: (200, {"data": {"email": None, "score": None}, "meta": {}}),
            "prospeo": lambda _request: NO_MATCH,
            "dropcontact": lambda _request: (200, NOT_READY),
        }


@contextmanager
def vendors_on_loopback() -> Iterator[Vendors]:
    """Run the server of the vendors."""
    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        vendors = Vendors(server)
        vendors.start_anew()
        server.expect_request(re.compile("/.*")).respond_with_handler(vendors.answer)
        yield vendors
        vendors.hung.set()


def prospeo_knows(email: str) -> Says:
    """Return a Prospeo handler that finds this address for every person, under the requested name."""

    def say(request: Request) -> tuple[int, Any]:
        asked = request.get_json()["data"]
        return 200, {
            "error": False,
            "free_enrichment": False,
            "person": {
                "person_id": "p1",
                "full_name": asked.get("full_name", "Ada Lovelace"),
                "linkedin_url": asked.get("linkedin_url"),
                "email": {"status": "VERIFIED", "revealed": True, "email": email},
            },
            "company": {"name": None, "domain": asked.get("company_website", "northwind.dev")},
        }

    return say
