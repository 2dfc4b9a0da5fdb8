"""Who may read and choose the dial link."""

from __future__ import annotations

from typing import Any

from access_support import ADMIN, Maker, requires

ACCESS_RULES = {
    "GET /api/dial-link": requires("any", 200),
    "PUT /api/dial-link": requires("admin", 200, body={"dial_link": "callto:{number}"}),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES = {"GET /admin/dial-link": ADMIN, "POST /admin/dial-link": ADMIN}
RECORDED: tuple[Any, ...] = (
    (
        ("PUT /api/dial-link", {"dial_link": "callto:{number}"}),
        ("POST /admin/dial-link", {"dial_link": "sip:{number}@pbx.example"}),
        "dial_link.set",
    ),
)
MAKERS: dict[str, Maker] = {}
