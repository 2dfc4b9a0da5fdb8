"""Pages of lists: how many rows, and the cursor that the next page begins after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from marshmallow import ValidationError, fields, validate

from app.domain import ids
from app.web.schemas.fields import AsciiInteger

Row = TypeVar("Row")


class IdCursor(fields.String):
    """The id of the last row of the previous page."""

    def __init__(self, prefix: ids.Prefix) -> None:
        self.prefix: ids.Prefix = prefix
        description = "`next_cursor` of the previous page."
        super().__init__(metadata={"description": description, "pattern": f"^{prefix}_[0-9a-v]{{24}}$"})

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **options: Any
    ) -> str:
        text: str = super()._deserialize(value, attr, data, **options)
        if not ids.is_id(text, self.prefix):
            raise ValidationError("Use next_cursor of the previous page.")
        return text


def page_size(default: int, maximum: int) -> AsciiInteger:
    """Return the field `limit`: how many rows a page has."""
    return AsciiInteger(load_default=default, validate=validate.Range(min=1, max=maximum))


def split(rows: Sequence[Row], limit: int, cursor: str = "id") -> tuple[Sequence[Row], str | None]:
    """Return the first `limit` rows, and the cursor of the next page; None if there are no more rows.

    `cursor` is the attribute of a row that is its cursor, such as `id` or `push.id`.
    """
    page = rows[:limit]
    return page, attrgetter(cursor)(page[-1]) if len(rows) > limit else None
