"""Who may use the endpoints and the page of limits."""

from __future__ import annotations

from access_support import ADMIN, Maker, requires

ACCESS_RULES = {
    "GET /api/limits": requires("token", 200),  # of keys, those that may spend: test_limits_api
    "PUT /api/limits/accounts/<account_id>": requires(
        "admin", 200, body={"monthly_limit": 5}, owned_by="the workspace's"
    ),
    "PUT /api/limits/keys/<key_id>": requires(
        "session", 200, body={"spending_cap": 5}, owned_by="the account's"
    ),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES = {
    "GET /admin/limits": ADMIN,
    "POST /admin/limits": ADMIN,
    "POST /admin/limits/remove": ADMIN,
}
_NEW = {"monthly_limit": 5, "spending_cap": 9}
RECORDED = ((("PUT /api/limits/keys/{key}", _NEW), ("POST /keys/{key}/limits", _NEW), "limit.set limit.set"),)
"""An endpoint and a page that do alike, and what both record in the audit log."""
MAKERS: dict[str, Maker] = {}
