"""The requests and responses of verifications (docs/api/verifications.md)."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, post_load, validate

from app.domain.ids import EXAMPLES
from app.domain.normal.places.countries import country_code
from app.features.verifications.requests import VerificationBody
from app.web import estimates
from app.web.schemas.contact_schemas import TIME
from app.web.schemas.fields import (
    MAX_REFERENCE,
    AsciiInteger,
    NonBlankString,
    NormalizedString,
    ResponseSchema,
    StrictBoolean,
    StrictSchema,
)
from app.web.schemas.paging import IdCursor, page_size
from app.web.schemas.queries import QuerySchema
from app.web.schemas.webhook_urls import webhook_url

MAX_VALUES = 100
_FRESH = "Verify, and charge, also addresses on which you have a verdict that has not expired."
STATUSES = ("valid", "accept_all", "risky", "invalid", "unknown", "suppressed", "pending")


def _country() -> NormalizedString:
    return NormalizedString(
        country_code,
        allow_none=True,
        metadata={"example": "DE", "description": "The country of phone numbers without a country code."},
    )


class VerificationSchema(StrictSchema):
    """Addresses and numbers to verify, and what that may cost at most."""

    values = fields.List(
        NonBlankString(),
        required=True,
        validate=validate.Length(min=1, max=MAX_VALUES),
        metadata={
            "example": ["ada@acme.example", "+12025550143"],
            "description": "Those with an @ are addresses, others phone numbers. A list is sent as a file.",
        },
    )
    country = _country()
    max_credits = fields.Integer(
        strict=True,
        allow_none=True,
        validate=validate.Range(min=0),
        metadata={"description": "So many credits are held at most; further addresses are not verified."},
    )
    dry_run = StrictBoolean(load_default=False)
    fresh = StrictBoolean(load_default=False, metadata={"description": _FRESH})
    webhook_url = webhook_url(
        allow_none=True,
        description="Receives `job.finished`, signed as in the Standard Webhooks specification.",
    )
    client_reference = NonBlankString(MAX_REFERENCE, allow_none=True, metadata={"example": "spring"})

    @post_load
    def _body(self, data: dict[str, Any], **_options: Any) -> VerificationBody:
        names = ("country", "max_credits", "webhook_url", "client_reference")
        rest = {name: data.get(name) for name in names}
        values, dry_run, fresh = data["values"], data["dry_run"], data["fresh"]
        return VerificationBody(values=values, dry_run=dry_run, fresh=fresh, **rest)


class VerifiedListQuery(QuerySchema):
    """How a list is verified."""

    country = _country()
    max_credits = AsciiInteger(validate=validate.Range(min=0))
    dry_run = fields.Boolean(load_default=False)
    fresh = fields.Boolean(load_default=False, metadata={"description": _FRESH})


class VerificationsQuery(QuerySchema):
    """The page of verified lists."""

    limit = page_size(50, 100)
    cursor = IdCursor("vrf")


class RowsQuery(QuerySchema):
    """The format of a result, and the page of one in JSON."""

    format = fields.String(load_default="csv", validate=validate.OneOf(("csv", "xlsx", "json")))
    limit = page_size(100, 1000)
    cursor = AsciiInteger(
        load_default=0,
        validate=validate.Range(min=0),
        metadata={"description": "`next_cursor` of the previous page."},
    )


class ListCreditsSchema(ResponseSchema):
    """What a list has cost, what is held for it, and what it costs at most."""

    charged = fields.Integer(required=True, allow_none=True, metadata={"example": 812})
    reserved = fields.Integer(required=True, allow_none=True, metadata={"example": 0})
    at_most = fields.Integer(required=True, metadata={"example": 1000})


class UnreadableSchema(ResponseSchema):
    """What is not verified."""

    line = fields.Integer(required=True, metadata={"example": 7})
    detail = fields.String(required=True, metadata={"example": "This is not an e-mail address."})


class ListedVerificationSchema(ResponseSchema):
    """A list that is verified: its progress and its cost."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["vrf"]})
    status = fields.String(required=True, metadata={"enum": ["running", "finished"], "example": "finished"})
    total = fields.Integer(required=True, metadata={"example": 1000, "description": "Each value once."})
    done = fields.Integer(required=True, metadata={"example": 1000})
    duplicates = fields.Integer(required=True, metadata={"example": 12})
    unreadable = fields.Integer(required=True, metadata={"example": 3})
    credits = fields.Nested(ListCreditsSchema, required=True)
    created_at = fields.String(required=True, metadata={"example": TIME})
    finished_at = fields.String(required=True, allow_none=True, metadata={"example": TIME})


class VerifiedListSchema(ListedVerificationSchema):
    """A list that is verified, with the numbers of verdicts or what of a new one was not readable."""

    statuses = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        metadata={"example": {"valid": 700}, "description": "How many values have each status now."},
    )
    left_out = fields.List(fields.Nested(UnreadableSchema))


class VerifiedListsSchema(ResponseSchema):
    """A page of verified lists, newest first."""

    verifications = fields.List(fields.Nested(ListedVerificationSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True, metadata={"example": None})


class VerifiedValueSchema(ResponseSchema):
    """A value with its verdict."""

    line = fields.Integer(
        required=True, metadata={"example": 2, "description": "The first line of the file that has it."}
    )
    value = fields.String(required=True, metadata={"example": "ada@acme.example"})
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": "valid"})
    reasons = fields.List(fields.String(), required=True, metadata={"example": ["role"]})
    country = fields.String(required=True, allow_none=True, metadata={"example": None})
    line_type = fields.String(required=True, allow_none=True, metadata={"example": None})
    credits = fields.Integer(required=True, allow_none=True, metadata={"example": 1})
    verified_at = fields.String(required=True, allow_none=True, metadata={"example": TIME})
    job_id = fields.String(required=True, metadata={"example": EXAMPLES["job"]})


class VerifiedValuesSchema(ResponseSchema):
    """A page of the values of a list."""

    values = fields.List(fields.Nested(VerifiedValueSchema), required=True)
    next_cursor = fields.Integer(required=True, allow_none=True, metadata={"example": 100})


DRY_RUN = estimates.dry_run_schema(
    (
        *("credits_min", "credits_max", "values"),
        *("emails", "known", "phones", "duplicates", "unreadable"),
    )
)
