"""POST /api/ext/reveal/email and /phone: reveal a contact's addresses or numbers, paid for once."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain import ids
from app.domain.callers import Scope
from app.domain.errors import (
    ContactNotFound,
    InsufficientCredits,
    InsufficientIdentifiers,
    NotAProfileUrl,
    PurposeRequired,
    SpendingLimitReached,
)
from app.engine.lookups.field_requests import ContactField
from app.web.jobs import reveals
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import EmailSchema, PhoneSchema
from app.web.schemas.fields import ResponseSchema
from app.web.schemas.job_schemas import JobResponseSchema
from app.web.schemas.reveal_schemas import RevealEmailSchema, RevealPhoneSchema, RevealRequest
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("reveal", __name__, tag="Reveal")

EXAMPLE = {"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}
ERRORS = (
    InsufficientIdentifiers,
    NotAProfileUrl,
    PurposeRequired,
    InsufficientCredits,
    SpendingLimitReached,
    ContactNotFound,
)


class RevealResultSchema(ResponseSchema):
    """The revealed e-mail addresses or phone numbers, best first."""

    contact_id = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": ids.EXAMPLES["con"],
            "description": "Null if the values are the workspace's own and the person is not stored.",
        },
    )
    emails = fields.List(fields.Nested(EmailSchema))
    phones = fields.List(fields.Nested(PhoneSchema))
    client_reference = fields.String(metadata={"example": "row-17"})


class RevealResponseSchema(JobResponseSchema):
    """The job, and the revealed values once it has finished."""

    result = fields.Nested(RevealResultSchema, required=True, allow_none=True)  # type: ignore[assignment]


@blueprint.post("/api/ext/reveal/email")
@Operation(errors=ERRORS)
@blueprint.auth_required(bearer, roles=[Scope.REVEAL])
@limited(Policy.SPEND)
@blueprint.input(RevealEmailSchema, arg_name="body", example=EXAMPLE)
@blueprint.output(RevealResponseSchema)
def email(body: RevealRequest) -> Response:
    """Reveal e-mail addresses.

    Costs a credit only if an address of at least the requested status is returned. Addresses that the
    workspace already owns or has in its CRM are free. If the operator requires a `purpose` for the person and
    none is stated, nothing is returned: the error is `purpose_required`, here or in `job.error`.
    """
    return reveals.submit(ContactField.EMAIL, body)


@blueprint.post("/api/ext/reveal/phone")
@Operation(errors=ERRORS)
@blueprint.auth_required(bearer, roles=[Scope.REVEAL])
@limited(Policy.SPEND)
@blueprint.input(RevealPhoneSchema, arg_name="body", example=EXAMPLE)
@blueprint.output(RevealResponseSchema)
def phone(body: RevealRequest) -> Response:
    """Reveal phone numbers, on the same terms as e-mail addresses."""
    return reveals.submit(ContactField.PHONE, body)
