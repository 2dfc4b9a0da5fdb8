"""Who may use the endpoints and the page of exclusions."""

from __future__ import annotations

from typing import Any

from access_support import ADMIN, MEMBER, Maker, requires
from stored_support import exclude
from users_support import SignedInUser

from app.domain.callers import Scope
from app.domain.ids import new_id

ENTRY = {"domain": "acme.com", "reason": "customer"}
ACCESS_RULES = {
    "GET /api/exclusions": requires(Scope.LOOKUP, 200),
    "POST /api/exclusions": requires("admin", 200, body={"entries": [ENTRY]}),
    "POST /api/exclusions/import": requires("admin", 200, file=b"domain\r\nacme.com\r\n"),
    "DELETE /api/exclusions/<exclusion_id>": requires("admin", 204, owned_by="the workspace's"),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID = ("DELETE /api/exclusions/<exclusion_id>",)
PAGES = {
    "GET /exclusions": MEMBER,
    "POST /exclusions": ADMIN,
    "POST /exclusions/import": ADMIN,
    "POST /exclusions/remove": ADMIN,
}
RECORDED: tuple[Any, ...] = (
    (
        (
            "POST /api/exclusions",
            {"entries": [ENTRY]},
        ),
        ("POST /exclusions", {"kind": "domain", "value": "globex.com", "reason": "partner"}),
        "exclusion.add",
    ),
)
"""An endpoint and a page that do alike, and what both record in the audit log."""


def an_exclusion(owner: SignedInUser, _contact_id: str) -> str:
    """Return the id of a new exclusion of the owner's workspace."""
    with owner.database.transaction() as session:
        return exclude(session, owner.workspace_id, "domain", f"{new_id('exc')[4:]}.com")


MAKERS: dict[str, Maker] = {"exclusion_id": an_exclusion}
