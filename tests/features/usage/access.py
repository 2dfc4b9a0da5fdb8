"""Who may use the endpoint and the page of usage."""

from __future__ import annotations

from typing import Any

from access_support import MEMBER, Maker, requires

ACCESS_RULES = {
    "GET /api/usage": requires("token", 200),  # of keys, those that may spend: test_usage_api
}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES = {"GET /usage": MEMBER, "GET /usage/<by>.csv": MEMBER, "GET /usage/<by>.xlsx": MEMBER}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
