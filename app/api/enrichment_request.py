"""POST /api/ext/enrichment-request: enrich many people or companies in one job."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain.callers import Scope
from app.domain.errors import InsufficientCredits, PurposeRequired, SpendingLimitReached
from app.engine.enrichments.enrichment_estimates import Estimate
from app.engine.enrichments.own_record_counts import OwnRecordCount
from app.web import estimates
from app.web.jobs import enrichments
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import (
    CompanySchema,
    ConflictSchema,
    ContactSchema,
    EmailSchema,
    FieldProvenanceSchema,
    JobExclusionSchema,
    PhoneSchema,
    SkippedSchema,
)
from app.web.schemas.enrichment_schemas import EnrichmentRequest, EnrichmentSchema
from app.web.schemas.fields import ResponseSchema
from app.web.schemas.job_schemas import JobResponseSchema
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("enrichment_request", __name__, tag="Enrichment")

EXAMPLE = {
    "entity": "person",
    "items": [{"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}],
    "fields": ["profile", "email"],
}


class EnrichedItemSchema(ResponseSchema):
    """The result of one item; `outcome` and `error` are null until it is finished."""

    index = fields.Integer(metadata={"example": 0})
    client_reference = fields.String(allow_none=True, metadata={"example": "row-17"})
    outcome = fields.String(allow_none=True, metadata={"example": "found"})
    contact = fields.Nested(ContactSchema, allow_none=True)
    company = fields.Nested(CompanySchema, allow_none=True)
    emails = fields.List(fields.Nested(EmailSchema))
    phones = fields.List(fields.Nested(PhoneSchema))
    sources = fields.Nested(FieldProvenanceSchema)
    conflicts = fields.List(
        fields.Nested(ConflictSchema),
        metadata={"description": "The latest value wins; on the same day, that of the most trusted source."},
    )
    credits_charged = fields.Integer(allow_none=True, metadata={"example": 1})
    error = fields.Dict(allow_none=True, metadata={"description": "A problem object."})
    excluded = fields.Nested(JobExclusionSchema, metadata={"description": "If the outcome is `excluded`."})
    skipped = fields.Nested(
        SkippedSchema,
        metadata={"description": "If the outcome is `skipped`, or some of the fields were skipped."},
    )


class EnrichmentResultSchema(ResponseSchema):
    """All items, in the order of the request."""

    items = fields.List(fields.Nested(EnrichedItemSchema))
    next_cursor = fields.String(
        allow_none=True, metadata={"description": "Always null: every item is on this page."}
    )


class EnrichmentResponseSchema(JobResponseSchema):
    """The job, and the results of the items that are finished."""

    result = fields.Nested(EnrichmentResultSchema, required=True, allow_none=True)  # type: ignore[assignment]


OWN_RECORDS: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            **{count.name: {"type": "integer"} for count in dataclass_fields(OwnRecordCount)},
            **{name: {"type": "string"} for name in ("source", "system", "title")},
        },
    },
}
DRY_RUN = estimates.dry_run_schema(
    (count.name for count in dataclass_fields(Estimate)), own_records=OWN_RECORDS
)


@blueprint.post("/api/ext/enrichment-request")
@Operation(errors=(InsufficientCredits, SpendingLimitReached, PurposeRequired), other_body=DRY_RUN)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.SPEND)
@blueprint.input(EnrichmentSchema, arg_name="body", example=EXAMPLE)
@blueprint.output(EnrichmentResponseSchema)
def enrichment_request(body: EnrichmentRequest) -> Response:
    """Enrich up to 100 people or companies.

    Results appear as items finish; an invalid item does not affect the others. With `dry_run` the response
    is an estimate and nothing is queued. With `skip`, people whom the workspace has already are left out.
    """
    return enrichments.submit(body)
