"""Schemas of the limits of an account, and of limits with their subject."""

from __future__ import annotations

from marshmallow import fields, validate

from app.domain.ids import EXAMPLES
from app.domain.spending import Period
from app.web.schemas.fields import ResponseSchema, StrictSchema
from app.web.schemas.limit_schemas import MONTHLY_LIMIT, LimitUsageSchema, limit_field


class AccountLimitsSchema(StrictSchema):
    """The limit of an account."""

    monthly_limit = limit_field(f"{MONTHLY_LIMIT} Null removes the limit.", required=True)


class LimitSubjectSchema(ResponseSchema):
    """The account or API key that has a limit; `account_id` is the account, or the owner of the key."""

    type = fields.String(required=True, validate=validate.OneOf(["account", "key"]))
    id = fields.String(required=True, metadata={"example": EXAMPLES["key"]})
    name = fields.String(required=True, metadata={"example": "CRM sync"})
    account_id = fields.String(required=True, metadata={"example": EXAMPLES["acc"]})


class SpendingLimitSchema(LimitUsageSchema):
    """A limit with its subject and its use in the current period."""

    subject = fields.Nested(LimitSubjectSchema, required=True)
    period = fields.String(required=True, validate=validate.OneOf(list(Period)))
