"""Who may use the endpoint and the pages of new passwords."""

from __future__ import annotations

from typing import Any

from access_support import ADMIN, OPEN, AccessRule, Maker, requires

ACCESS_RULES: dict[str, AccessRule] = {
    "POST /api/accounts/<account_id>/password-reset": requires(
        "admin", 409, code_if_permitted="password_reset_refused", owned_by="the workspace's"
    ),
}
WITHOUT_A_BODY = {"POST /api/accounts/<account_id>/password-reset"}
BY_ID: tuple[str, ...] = ()
PAGES = {
    "GET /sign-in/forgotten": OPEN,
    "POST /sign-in/forgotten": OPEN,
    "GET /sign-in/reset": OPEN,
    "POST /sign-in/reset": OPEN,
    "POST /admin/accounts/<account_id>/password-reset": ADMIN,
}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
