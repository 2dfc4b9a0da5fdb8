"""Who may use the search for stored people."""

from __future__ import annotations

from typing import Any

from access_support import MEMBER, Maker, requires

from app.domain.callers import Scope

ACCESS_RULES = {"GET /api/people": requires(Scope.LOOKUP, 200)}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES = {"GET /people": MEMBER}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
