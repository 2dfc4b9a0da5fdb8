"""Who may use the page of suppressions."""

from __future__ import annotations

from typing import Any

from access_support import OPERATOR, AccessRule, Maker

ACCESS_RULES: dict[str, AccessRule] = {}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES = {"GET /admin/suppressions": OPERATOR, "POST /admin/suppressions": OPERATOR}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
