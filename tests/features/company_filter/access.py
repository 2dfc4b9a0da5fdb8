"""Who may use the endpoints of the company filter."""

from __future__ import annotations

from typing import Any

from access_support import Maker, requires

from app.domain.callers import Scope

ACCESS_RULES = {
    "GET /api/ext/company-filter": requires(Scope.LOOKUP, 404, code_if_permitted="company_filter_not_ready"),
    "POST /api/ext/company-filter/evaluate": requires(
        Scope.LOOKUP,
        409,
        body={"key": "00" * 32, "blinded": ["00" * 32]},
        code_if_permitted="filter_key_unknown",
    ),
}
WITHOUT_A_BODY: set[str] = set()
BY_ID: tuple[str, ...] = ()
PAGES: dict[str, str] = {}
RECORDED: tuple[Any, ...] = ()
MAKERS: dict[str, Maker] = {}
