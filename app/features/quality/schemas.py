"""The requests and responses of feedback (docs/api/feedback.md)."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from app.domain.ids import EXAMPLES
from app.domain.messages import Message
from app.engine.contacts.bounce_reports import FeedbackKind
from app.engine.ledger.reveals import REFUND_WITHIN
from app.features.quality.bounce_lists import NOT_OWNED
from app.features.quality.refunds import RefundDecision
from app.features.quality.reports import KINDS
from app.web.schemas.contact_schemas import TIME
from app.web.schemas.fields import ResponseSchema, StrictSchema, contact_id, email, exactly_one, phone
from app.web.schemas.hash_schemas import one_of
from app.web.schemas.job_schemas import BalanceSchema

_OTHER_KIND = {
    "email": Message("Of an address, report one of {names}."),
    "phone": Message("Of a number, report one of {names}."),
}


class FeedbackSchema(StrictSchema):
    """A report on one address or one number."""

    json_schema = exactly_one("email", "phone")
    contact_id = contact_id()
    email = email()
    phone = phone()
    kind = fields.Enum(
        FeedbackKind,
        by_value=True,
        required=True,
        metadata={
            "example": "bounce",
            "description": (
                "`bounce`: a hard bounce of the address. `wrong_number`: the number is not in service. "
                "`wrong_person`: it is of another person. `has_left`: the person has left the company. "
                "`valid`: a reply."
            ),
        },
    )

    @validates_schema
    def _of_one_value(self, data: dict[str, Any], **_options: Any) -> None:
        one_of(data, "email", "phone")
        field = "email" if "email" in data else "phone"
        if "kind" in data and data["kind"] not in KINDS[field]:
            names = ", ".join(kind.value for kind in KINDS[field])
            raise ValidationError(_OTHER_KIND[field].format(names=names), "kind")


class RecordedFeedbackSchema(ResponseSchema):
    """Stored feedback; there is at most one per address and kind."""

    contact_id = fields.String(required=True, metadata={"example": EXAMPLES["con"]})
    kind = fields.String(
        required=True, metadata={"enum": [kind.value for kind in FeedbackKind], "example": "bounce"}
    )
    created_at = fields.DateTime(required=True, metadata={"example": TIME})


class FeedbackResponseSchema(ResponseSchema):
    """The recorded feedback and its refund."""

    feedback = fields.Nested(RecordedFeedbackSchema, required=True)
    refunded = fields.Integer(
        required=True, metadata={"example": 1, "description": "Credits that this request refunded."}
    )
    refund = fields.String(
        required=True,
        metadata={
            "enum": [refund.value for refund in RefundDecision],
            "example": "given",
            "description": (
                "The refund decision. `pending`: refunded once a verification or another workspace confirms "
                "the bounce. `not_due`: not a bounce, a bounce that a verification refuted, or one after "
                "which another address of the contact may still work. "
                f"`too_late`: more than {REFUND_WITHIN.days} days after the reveal."
            ),
        },
    )
    message = fields.String(
        required=True,
        metadata={"example": "Reported. 1 credit was refunded.", "description": "The same for a reader."},
    )
    credits = fields.Nested(BalanceSchema, required=True)


class LeftOutSchema(ResponseSchema):
    """A row or a value of a list that was not reported."""

    line = fields.Integer(required=True, metadata={"example": 7, "description": "Its line in the file."})
    detail = fields.String(required=True, metadata={"example": NOT_OWNED})


class ImportedReportsSchema(ResponseSchema):
    """What came of a list of bounces."""

    reported = fields.Integer(required=True, metadata={"example": 12})
    repeated = fields.Integer(
        required=True, metadata={"example": 3, "description": "Reported before; nothing has changed."}
    )
    refunded = fields.Integer(
        required=True, metadata={"example": 9, "description": "Credits that this request refunded."}
    )
    pending = fields.Integer(
        required=True,
        metadata={"example": 2, "description": "Bounces whose refund waits for a confirmation."},
    )
    remaining = fields.Integer(
        required=True,
        metadata={"example": 0, "description": "Not processed yet: send the same file again to continue."},
    )
    left_out = fields.List(fields.Nested(LeftOutSchema), required=True)
    left_out_count = fields.Integer(required=True, metadata={"example": 1})
    credits = fields.Nested(BalanceSchema, required=True)
