"""Leaves the costs out of responses to callers who may not see them: what was spent, and what is left.

Prices stay, because whoever may spend has to know them. Every JSON response passes here, so that no endpoint
can forget it.
"""

from __future__ import annotations

from typing import Any

from flask import Flask, Response, g

from app.domain.callers import Caller
from app.domain.errors import InsufficientCredits, SpendingLimitReached
from app.domain.event_types import ABOUT_COSTS
from app.domain.permissions import Permission
from app.web.languages.texts import translate

FIELDS = frozenset(
    {
        *("balance", "charged", "cost", "credits_charged", "exceeds_balance", "provider_cost", "reserved"),
        *("held", "left", "spent", "spent_this_month"),
    }
)
"""The names of the fields that are null; a test compares them with the schemas."""
_IN_REFUSALS = frozenset({"balance", "limit", "next_grant"})
_REFUSALS = {each.code: each.help for each in (InsufficientCredits, SpendingLimitReached)}
HEADERS = ("X-Credits-Charged", "X-Credits-Balance")


def register(app: Flask) -> None:
    """Register the function that removes the headers."""
    app.after_request(_without_headers)


def are_hidden() -> bool:
    """Return whether the caller of this request may not see costs."""
    caller: Caller | None = g.get("flask_httpauth_user")
    return caller is not None and Permission.SEE_COSTS not in caller.permissions


def hidden_events() -> frozenset[str]:
    """Return the types of events that the caller may not see."""
    return ABOUT_COSTS if are_hidden() else frozenset()


def shown(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value as the caller may see it."""
    return without(value) if are_hidden() else value


def without(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the value with null for each cost in it."""
    match value:
        case {"code": code, "balance": _} if code in _REFUSALS:  # of an item, as it was stored
            kept = {name: inner for name, inner in value.items() if name not in _IN_REFUSALS}
            return kept | {"detail": translate(_REFUSALS[code])}
        case dict():
            return {
                name: None if name in FIELDS and isinstance(inner, int | float) else without(inner)
                for name, inner in value.items()
            }
        case list():
            return [without(inner) for inner in value]
    return value


def hide_in(problem: InsufficientCredits) -> None:
    """Leave out of a refusal what the caller may not see."""
    if are_hidden():
        problem.hide_costs()


def refusal(problem: InsufficientCredits) -> str:
    """Return a refusal as a page says it."""
    hide_in(problem)
    return f"{translate(problem.title)}. {translate(problem.detail)}"


def _without_headers(response: Response) -> Response:
    if are_hidden():
        for name in HEADERS:
            response.headers.pop(name, None)
    return response
