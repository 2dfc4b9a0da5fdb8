"""The request for an API key."""

from __future__ import annotations

from marshmallow import fields, validate

from app.domain.callers import Scope
from app.domain.permissions import Permission
from app.web.schemas.fields import SingleLineString, StrictSchema, UtcTime
from app.web.schemas.limit_schemas import MONTHLY_LIMIT, SPENDING_CAP, limit_field


class NewKeySchema(StrictSchema):
    """The API key to create."""

    name = SingleLineString(100, required=True, metadata={"example": "CRM sync"})
    scopes = fields.List(
        fields.Enum(Scope, by_value=True),
        validate=validate.Length(min=1, max=len(Scope)),
        load_default=lambda: list(Scope),
        metadata={
            "example": ["lookup", "reveal"],
            "description": "What the key may do; all scopes by default.",
        },
    )
    permissions = fields.List(
        fields.Enum(Permission, by_value=True),
        validate=validate.Length(max=len(Permission)),
        load_default=lambda: list(Permission),
        metadata={
            "example": ["export", "push"],
            "description": "What the key may do of what its account may; all of it by default.",
        },
    )
    expires_at = UtcTime(
        allow_none=True,
        load_default=None,
        metadata={
            "example": "2030-01-01T00:00:00Z",
            "description": "When the key expires; never by default.",
        },
    )
    spending_cap = limit_field(f"{SPENDING_CAP} No cap by default.")
    monthly_limit = limit_field(f"{MONTHLY_LIMIT} No limit by default.")
