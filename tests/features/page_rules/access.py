"""Who may use the endpoint of the page rules."""

from __future__ import annotations

from typing import Any

from access_support import Maker, requires

from app.domain.callers import Scope

ACCESS_RULES = {"GET /api/ext/page-rules": requires(Scope.LOOKUP, 200)}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES: dict[str, str] = {}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
