"""Pages of lists, newest first: each ends with the cursor of the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar
from urllib.parse import urlencode

from flask import request

from app.domain.errors import FieldError, ValidationFailed
from app.domain.ids import Prefix, is_id

T = TypeVar("T")
ROWS = 50
"""The rows of a page; queries ask for one more, to know whether there is a next page."""


def cursor(prefix: Prefix) -> str | None:
    """Return the id before which this page starts, or None for the first page."""
    before = request.args.get("before")
    if before is not None and not is_id(before, prefix):
        raise ValidationFailed(errors=(FieldError("/before", "Use the link of the previous page."),))
    return before


def split(rows: Sequence[T], key: Callable[[T], str]) -> tuple[Sequence[T], str | None]:
    """Return the rows of this page, and the URL of the next page if there is one; its filter stays."""
    if len(rows) <= ROWS:
        return rows, None
    shown = rows[:ROWS]
    query = {name: value for name, value in request.args.items() if name != "before" and value}
    return shown, f"{request.path}?{urlencode(query | {'before': key(shown[-1])})}"
