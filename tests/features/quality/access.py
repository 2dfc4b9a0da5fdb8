"""Who may use the endpoint of feedback."""

from __future__ import annotations

from typing import Any

from access_support import MEMBER, Maker, requires

from app.domain.callers import Scope

ACCESS_RULES = {
    "POST /api/feedback": requires(
        Scope.REVEAL,
        200,
        body={"contact_id": "{contact_id}", "email": "ada@acme.com", "kind": "bounce"},
        owned_by="the workspace's",
        code_if_missing="contact_not_found",
    ),
    "POST /api/feedback/import": requires(Scope.REVEAL, 200, file=b"email\r\nada@acme.com\r\n"),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID = ("POST /api/feedback",)
PAGES: dict[str, str] = {
    "GET /reports": MEMBER,
    "POST /reports": MEMBER,
    "POST /reports/import": MEMBER,
}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
