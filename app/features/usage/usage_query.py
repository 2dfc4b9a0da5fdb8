"""What a report on usage is about: a period, and what its rows stand for."""

from __future__ import annotations

from marshmallow import fields, validate

from app.features.usage.usage import Grouping
from app.web.bodies.downloads import FORMATS
from app.web.schemas.queries import QuerySchema


class UsageQuery(QuerySchema):
    """The period, both days included, and what the rows stand for."""

    start = fields.Date(
        data_key="from",
        metadata={"example": "2026-11-01", "description": "By default the first day of this month (UTC)."},
    )
    end = fields.Date(
        data_key="to", metadata={"example": "2026-11-30", "description": "By default today (UTC)."}
    )
    by = fields.Enum(Grouping, by_value=True, load_default=Grouping.DAY)
    format = fields.String(
        validate=validate.OneOf(FORMATS), metadata={"description": "Return the rows as a file."}
    )
