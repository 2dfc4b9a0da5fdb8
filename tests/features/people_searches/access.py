"""Who may search for people."""

from __future__ import annotations

from typing import Any

from access_support import Maker, requires

from app.domain.callers import Scope

ACCESS_RULES = {
    "POST /api/people-searches": requires(
        Scope.ENRICH, 200, 202, body={"company_domain": "acme.com", "max_credits": 0}
    ),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES: dict[str, str] = {}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
