"""Schemas of spending limits."""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import fields, validate

from app.domain.spending import LimitUsage, Period
from app.engine.ledger.limit_settings import MAX_LIMIT
from app.web.schemas.fields import ResponseSchema, StrictSchema

MONTHLY_LIMIT = "The most credits in a calendar month (UTC)."
SPENDING_CAP = "The most credits that the key may ever spend."
PERIODS = {"monthly_limit": Period.MONTH, "spending_cap": Period.TOTAL}
"""The field of each period in requests."""
RESET = {"example": "2026-12-01T00:00:00Z", "description": "Null for a spending cap."}


def limit_field(description: str, **options: Any) -> fields.Integer:
    """Return a field for a limit in credits; null means no limit."""
    return fields.Integer(
        strict=True,
        allow_none=True,
        validate=validate.Range(min=0, max=MAX_LIMIT),
        metadata={"example": 100, "description": description},
        **options,
    )


class KeyLimitsSchema(StrictSchema):
    """The limits of an API key; one that is absent stays as it is."""

    json_schema: ClassVar[dict[str, Any]] = {"minProperties": 1}
    monthly_limit = limit_field(f"{MONTHLY_LIMIT} Null removes the limit.")
    spending_cap = limit_field(f"{SPENDING_CAP} Null removes the cap.")


class LimitUsageSchema(ResponseSchema):
    """A limit, and the credits that count against it: held by open jobs, and spent.

    All but the limit are null without the permission `see_costs`.
    """

    credits = fields.Integer(required=True, metadata={"example": 100})
    held = fields.Integer(required=True, allow_none=True, metadata={"example": 2})
    spent = fields.Integer(required=True, allow_none=True, metadata={"example": 40})
    left = fields.Integer(required=True, allow_none=True, metadata={"example": 58})
    resets_at = fields.DateTime(required=True, allow_none=True, metadata=RESET)

    PUBLIC: ClassVar[tuple[str, ...]] = ("credits", "held", "spent", "left", "resets_at")


def usage_json(usage: LimitUsage | None) -> dict[str, Any] | None:
    """Return the use of a limit as the list of keys shows it."""
    if usage is None:
        return None
    shown = usage.as_dict()
    return {name: shown[name] for name in LimitUsageSchema.PUBLIC}
