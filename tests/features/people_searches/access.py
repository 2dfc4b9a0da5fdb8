"""Who may search for people."""

from __future__ import annotations

from typing import Any

from access_support import MEMBER, Maker, requires

from app.domain.callers import Scope

ACCESS_RULES = {
    "POST /api/people-searches": requires(
        Scope.ENRICH, 200, 202, body={"company_domain": "acme.com", "max_credits": 0}
    ),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES = {
    "GET /people-searches": MEMBER,
    "POST /people-searches": MEMBER,
    "GET /people-searches/<job_id>": MEMBER,
}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
