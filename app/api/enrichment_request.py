"""POST /api/ext/enrichment-request: many people or companies at once, filled in as they are found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from ipaddress import ip_network
from typing import Any

from apiflask import APIBlueprint, Schema
from flask import Response
from marshmallow import ValidationError, fields, post_load, validate

from app.api.http.auth import bearer, caller
from app.api.http.errors import field_errors
from app.api.http.job_responses import submit_and_wait
from app.api.http.rate_limits import Policy, limited
from app.api.http.responses import json_response
from app.api.http.services import services
from app.api.schemas.contact_schemas import (
    CompanySchema,
    ConflictSchema,
    ContactSchema,
    EmailSchema,
    FieldProvenanceSchema,
    PhoneSchema,
)
from app.api.schemas.fields import (
    MAX_REFERENCE,
    MAX_URL,
    NonBlankString,
    StrictBoolean,
    StrictSchema,
    SubjectSchema,
    company_url,
    website,
)
from app.api.schemas.job_schemas import JobResponseSchema
from app.core.jobs.submission import JobRequest
from app.core.lookups import enrichment_estimates
from app.core.lookups.enrichment_estimates import Estimate
from app.domain.callers import Scope
from app.domain.errors import InsufficientIdentifiers, InvalidValue, Problem, ValidationFailed
from app.domain.kinds import Kind
from app.domain.normal.webhook_addresses import parse_target
from app.infra import database_clock

blueprint = APIBlueprint("enrichment_request", __name__, tag="Enrichment")

MAX_ITEMS = 100
EXAMPLE = {
    "entity": "person",
    "items": [{"subject": {"linkedin_url": "https://www.linkedin.com/in/sandbox-found"}}],
    "fields": ["profile", "email"],
}
PERSON_FIELDS = ("profile", "email", "phone", "company")
DEFAULT_FIELDS = ("company", "email", "profile")


@dataclass(frozen=True, slots=True)
class EnrichmentRequest:
    """An enrichment as it was asked; `items` are what the job keeps of each."""

    entity: str
    items: tuple[dict[str, Any], ...]
    fields: tuple[str, ...]
    max_credits: int | None
    dry_run: bool
    webhook_url: str | None


def _check_webhook_url(url: str) -> None:
    """Refuse what could never be called, and say why.

    Which address a name leads to is looked at when it is called, as it may lead elsewhere by then.
    """
    try:
        parse_target(url, tuple(map(ip_network, services().settings.webhook_networks)))
    except InvalidValue as error:
        raise ValidationError(str(error)) from error


class NamedCompanySchema(StrictSchema):
    """How an item names a company: any one of these will do."""

    domain = website(allow_none=True)
    name = NonBlankString(allow_none=True)
    linkedin_url = company_url(allow_none=True)

    @post_load
    def _company(self, data: dict[str, Any], **_options: Any) -> dict[str, str]:
        company = {name: value for name, value in data.items() if value}
        if not company:
            raise InsufficientIdentifiers("Give domain, name or linkedin_url of the company.")
        return company


class ItemSchema(StrictSchema):
    """One item: a subject, or a company where the entity is company."""

    subject = fields.Nested(SubjectSchema)
    company = fields.Nested(NamedCompanySchema)
    client_reference = NonBlankString(MAX_REFERENCE, allow_none=True, metadata={"example": "row-17"})


class Item(fields.Nested):
    """An item as it was sent: its own mistakes are told in its place of the answer."""

    def _deserialize(self, value: Any, *_context: Any, **_options: Any) -> dict[str, Any]:  # noqa: ANN401 -- marshmallow's signature
        if not isinstance(value, dict):
            raise self.make_error("type", input=value, type="object")
        return value


class EnrichmentSchema(StrictSchema):
    """What the endpoint takes (contract 2.8). A bad item is reported as that item's error."""

    entity = fields.String(required=True, validate=validate.OneOf(["person", "company"]))
    items = fields.List(Item(ItemSchema), required=True, validate=validate.Length(min=1, max=MAX_ITEMS))
    fields_ = fields.List(
        fields.String(validate=validate.OneOf(PERSON_FIELDS)),
        data_key="fields",
        load_default=list(DEFAULT_FIELDS),
        validate=validate.Length(min=1, max=10),
    )
    max_credits = fields.Integer(strict=True, allow_none=True, validate=validate.Range(min=0))
    dry_run = StrictBoolean(load_default=False)
    webhook_url = fields.String(
        allow_none=True,
        validate=[validate.Length(max=MAX_URL), _check_webhook_url],
        metadata={
            "format": "url",
            "example": "https://hooks.acme.example/contact-lookup",
            "description": "Told `job.finished` as the Standard Webhooks specification has it.",
        },
    )

    @post_load
    def _request(self, data: dict[str, Any], **_options: Any) -> EnrichmentRequest:
        items = tuple(_item(raw, data["entity"]) for raw in data["items"])
        return EnrichmentRequest(
            data["entity"],
            items,
            tuple(sorted(set(data["fields_"]))),
            data.get("max_credits"),
            data["dry_run"],
            data.get("webhook_url"),
        )


class EnrichedItemSchema(Schema):
    """What was found of one item; `outcome` and `error` are null until it is done."""

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
        metadata={
            "description": "The value that stands is the latest; of one day, that of the most trusted source."
        },
    )
    credits_charged = fields.Integer(metadata={"example": 1})
    error = fields.Dict(allow_none=True, metadata={"description": "A problem object."})


class EnrichmentResultSchema(Schema):
    """All items, in the order they were asked."""

    items = fields.List(fields.Nested(EnrichedItemSchema))
    next_cursor = fields.String(allow_none=True, metadata={"description": "Null: all items are here."})


class EnrichmentAnswerSchema(JobResponseSchema):
    """The job, and its items as far as they are filled in."""

    result = fields.Nested(EnrichmentResultSchema, required=True, allow_none=True)  # type: ignore[assignment]


@blueprint.post("/api/ext/enrichment-request")
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.SPEND)
@blueprint.input(EnrichmentSchema, arg_name="body", example=EXAMPLE)
@blueprint.output(EnrichmentAnswerSchema)
def enrichment_request(body: EnrichmentRequest) -> Response:
    """Enrich up to 100 people or companies.

    Items are filled in as they finish; one bad item never fails the others. With `dry_run` the answer is
    an estimate and nothing is queued.
    """
    who = caller()
    with services().database.reading() as session:
        estimate = enrichment_estimates.estimate(
            session,
            who.workspace_id,
            body.items,
            body.fields,
            settings=services().settings,
            now=database_clock.value(session),
        )
    if body.dry_run:
        return json_response({"estimate": asdict(estimate)})
    return submit_and_wait(_job_request(body, estimate))


def _job_request(body: EnrichmentRequest, estimate: Estimate) -> JobRequest:
    who = caller()
    ceiling = estimate.credits_max if body.max_credits is None else body.max_credits
    options = {"entity": body.entity, "fields": list(body.fields), "max_credits": body.max_credits}
    return JobRequest(
        kind=Kind.ENRICHMENT_REQUEST,
        workspace_id=who.workspace_id,
        account_id=who.account_id,
        request=options,
        dedup_key={**options, "items": body.items},
        price=min(estimate.credits_max, ceiling),
        allow_partial_hold=True,
        items=body.items,
        webhook_url=body.webhook_url,
    )


def _item(raw: dict[str, Any], entity: str) -> dict[str, Any]:
    """Read one item; what is wrong with it becomes its error."""
    reference = raw.get("client_reference")
    kept = {"client_reference": reference[:MAX_REFERENCE]} if isinstance(reference, str) else {}
    try:
        item = ItemSchema().load(raw)
        if set(item) - {"client_reference"} != {"subject" if entity == "person" else "company"}:
            wanted = "subject" if entity == "person" else "company"
            raise InsufficientIdentifiers(
                f"An item of entity {entity} is named by '{wanted}', and only that."
            )
    except ValidationError as error:
        return kept | {"error": ValidationFailed(errors=tuple(field_errors(error.messages))).as_dict()}
    except Problem as problem:
        return kept | {"error": problem.as_dict()}
    if entity == "person":
        return kept | {"subject": item["subject"].as_dict()}
    return kept | {"company": item["company"]}
