"""Who may use the endpoints and the page of permissions."""

from __future__ import annotations

from access_support import ADMIN, Maker, requires

ACCESS_RULES = {
    "GET /api/permissions": requires("admin", 200),
    "PUT /api/permissions/members": requires("admin", 200, body={"export": True}),
    "PUT /api/permissions/accounts/<account_id>": requires(
        "admin", 200, body={"export": True}, owned_by="the workspace's"
    ),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES = {
    "GET /admin/permissions": ADMIN,
    "POST /admin/permissions/members": ADMIN,
    "POST /admin/permissions/<account_id>": ADMIN,
}
RECORDED: tuple[tuple[tuple[object, object], ...], ...] = ()
MAKERS: dict[str, Maker] = {}
