"""The requests of reveals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marshmallow import fields, post_load, validate

from app.domain.records.subjects import Subject
from app.engine.jobs.jobs import USE_OWN_RECORDS
from app.engine.lookups import field_requests
from app.engine.lookups.field_requests import ContactField, MinStatus
from app.web.schemas.fields import (
    MAX_REFERENCE,
    NestedObject,
    NonBlankString,
    StrictSchema,
    SubjectSchema,
    purpose,
    use_own_records,
)

MAX_AGE_DAYS = 3650


@dataclass(frozen=True, slots=True)
class RevealRequest:
    """A validated reveal request; `options` are stored with the job as they are here."""

    subject: Subject
    options: dict[str, Any]
    client_reference: str | None
    purpose: str | None = None


class RevealSchema(StrictSchema):
    """The fields that both reveals accept; `types` and the default of `min_status` differ."""

    subject = NestedObject(SubjectSchema, required=True)
    max_age_days = fields.Integer(
        strict=True,
        allow_none=True,
        validate=validate.Range(min=1, max=MAX_AGE_DAYS),
        metadata={"example": 90},
    )
    client_reference = NonBlankString(MAX_REFERENCE, allow_none=True, metadata={"example": "row-17"})
    purpose = purpose()
    use_own_records = use_own_records()

    @post_load
    def _request(self, data: dict[str, Any], **_options: Any) -> RevealRequest:
        options = {
            "types": sorted(set(data["types"])),
            "min_status": data["min_status"],
            "max_age_days": data.get("max_age_days"),
            **({} if data[USE_OWN_RECORDS] else {USE_OWN_RECORDS: False}),
        }
        return RevealRequest(data["subject"], options, data.get("client_reference"), data["purpose"])


class RevealEmailSchema(RevealSchema):
    """A request to reveal e-mail addresses."""

    types = fields.List(
        fields.String(validate=validate.OneOf(field_requests.TYPES[ContactField.EMAIL])),
        load_default=["work"],
        validate=validate.Length(min=1, max=10),
    )
    min_status = fields.String(
        validate=validate.OneOf([status.value for status in MinStatus]), load_default=MinStatus.VALID.value
    )


class RevealPhoneSchema(RevealSchema):
    """A request to reveal phone numbers."""

    types = fields.List(
        fields.String(validate=validate.OneOf(field_requests.TYPES[ContactField.PHONE])),
        load_default=list(field_requests.TYPES[ContactField.PHONE]),
        validate=validate.Length(min=1, max=10),
    )
    min_status = fields.String(
        validate=validate.OneOf([status.value for status in MinStatus]), load_default=MinStatus.ANY.value
    )
