"""Who may download a person as a vCard."""

from __future__ import annotations

from typing import Any

from access_support import MEMBER, Maker, requires

from app.domain.callers import Scope

ACCESS_RULES = {
    "GET /api/contacts/<contact_id>/vcard": requires(
        Scope.REVEAL, 200, owned_by="the workspace's", code_if_missing="contact_not_found"
    ),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID = ("GET /api/contacts/<contact_id>/vcard",)
PAGES = {"GET /contacts/<contact_id>/vcard": MEMBER}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
