"""POST /api/ext/reveal/email and /phone: reveal a contact's addresses or numbers, paid for once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, post_load, validate

from app.domain import ids, kinds
from app.domain.callers import Scope
from app.domain.errors import (
    ContactNotFound,
    InsufficientCredits,
    InsufficientIdentifiers,
    NotAProfileUrl,
    PurposeRequired,
    SpendingLimitReached,
)
from app.domain.records.subjects import Subject
from app.engine.jobs.jobs import PURPOSE
from app.engine.jobs.quotes import RevealPrice
from app.engine.jobs.submission import JobRequest
from app.engine.lookups import field_requests
from app.engine.lookups.field_requests import ContactField, FieldRequest, MinStatus
from app.web import purposes
from app.web.jobs.job_requests import submit_and_wait
from app.web.operations import documented
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import EmailSchema, PhoneSchema
from app.web.schemas.fields import (
    MAX_REFERENCE,
    NestedObject,
    NonBlankString,
    ResponseSchema,
    StrictSchema,
    SubjectSchema,
    purpose,
)
from app.web.schemas.job_schemas import JobResponseSchema
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("reveal", __name__, tag="Reveal")

MAX_AGE_DAYS = 3650
EXAMPLE = {"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}
ERRORS = (
    InsufficientIdentifiers,
    NotAProfileUrl,
    PurposeRequired,
    InsufficientCredits,
    SpendingLimitReached,
    ContactNotFound,
)


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

    @post_load
    def _request(self, data: dict[str, Any], **_options: Any) -> RevealRequest:
        options = {
            "types": sorted(set(data["types"])),
            "min_status": data["min_status"],
            "max_age_days": data.get("max_age_days"),
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


class RevealResultSchema(ResponseSchema):
    """The revealed e-mail addresses or phone numbers, best first."""

    contact_id = fields.String(required=True, metadata={"example": ids.EXAMPLES["con"]})
    emails = fields.List(fields.Nested(EmailSchema))
    phones = fields.List(fields.Nested(PhoneSchema))
    client_reference = fields.String(metadata={"example": "row-17"})


class RevealResponseSchema(JobResponseSchema):
    """The job, and the revealed values once it has finished."""

    result = fields.Nested(RevealResultSchema, required=True, allow_none=True)  # type: ignore[assignment]


@blueprint.post("/api/ext/reveal/email")
@documented(*ERRORS)
@blueprint.auth_required(bearer, roles=[Scope.REVEAL])
@limited(Policy.SPEND)
@blueprint.input(RevealEmailSchema, arg_name="body", example=EXAMPLE)
@blueprint.output(RevealResponseSchema)
def email(body: RevealRequest) -> Response:
    """Reveal e-mail addresses.

    Costs a credit only if an address of at least the requested status is returned. Addresses that the
    workspace already owns are free. If the operator requires a `purpose` for the person and none is stated,
    nothing is returned: the error is `purpose_required`, here or in `job.error`.
    """
    return submit_and_wait(job_request(ContactField.EMAIL, body), client_reference=body.client_reference)


@blueprint.post("/api/ext/reveal/phone")
@documented(*ERRORS)
@blueprint.auth_required(bearer, roles=[Scope.REVEAL])
@limited(Policy.SPEND)
@blueprint.input(RevealPhoneSchema, arg_name="body", example=EXAMPLE)
@blueprint.output(RevealResponseSchema)
def phone(body: RevealRequest) -> Response:
    """Reveal phone numbers, on the same terms as e-mail addresses."""
    return submit_and_wait(job_request(ContactField.PHONE, body), client_reference=body.client_reference)


def job_request(field: ContactField, body: RevealRequest) -> JobRequest:
    """Return the job of the caller for this request.

    Raises:
        ValidationFailed: its purpose is not one that can be stated.

    """
    refusal = purposes.check(body.purpose)
    kind = kinds.revealing(field).name
    purpose = {} if body.purpose is None else {PURPOSE: body.purpose}
    reference = {} if body.client_reference is None else {"client_reference": body.client_reference}
    return JobRequest(
        kind=kind,
        workspace_id=caller().workspace_id,
        account_id=caller().account_id,
        request={"subject": body.subject.as_dict(), **body.options, **purpose, **reference},
        dedup_key={"subject": body.subject.question(), **body.options, **purpose},
        price=RevealPrice(
            subject=body.subject,
            field_request=FieldRequest.parse(field, body.options),
            credits=services().settings.prices[kind],
        ),
        refusal=refusal,
    )
