"""Who may use the pages of people's requests."""

from __future__ import annotations

from typing import Any

from access_support import OPEN, AccessRule, Maker

ACCESS_RULES: dict[str, AccessRule] = {}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES = {
    "GET /privacy": OPEN,
    "POST /privacy": OPEN,
    "GET /privacy/code": OPEN,
    "POST /privacy/code": OPEN,
    "GET /privacy/data": OPEN,
    "GET /privacy/data.json": OPEN,
    "POST /privacy/rectify": OPEN,
    "POST /privacy/erase": OPEN,
    "POST /privacy/leave": OPEN,
}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
