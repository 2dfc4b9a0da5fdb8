"""POST /api/ext/leads-by-website-hash: list the people of a company by the hash of its website, free."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, post_load, pre_load, validate, validates_schema

from app.domain.callers import Scope
from app.domain.errors import BadHash, FieldError, PrefixNotAllowed
from app.domain.ids import EXAMPLES
from app.domain.kinds import Kind
from app.domain.normal.texts import vocabularies
from app.engine.jobs.submission import JobRequest
from app.engine.lookups.company_people import HAS, PageCursor
from app.web.jobs.job_requests import submit_and_wait
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import (
    AddressBookRecordSchema,
    AvailableSchema,
    CompanySchema,
    CrmRecordSchema,
    ExcludedSchema,
    SavedSchema,
)
from app.web.schemas.fields import NormalizedString, ResponseSchema, exactly_one
from app.web.schemas.hash_schemas import EXAMPLE, HashesSchema, PatternSchema, all_hashes, one_of
from app.web.schemas.job_schemas import JobResponseSchema
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("leads_by_website_hash", __name__, tag="Leads by hash")

MAX_LEADS = 100
DEFAULT_LEADS = 25


class OneOrMany(fields.List[str]):
    """A string, or a list of strings."""

    def _deserialize(self, value: object, *args: Any, **options: Any) -> list[Any]:
        loaded: list[Any] = super()._deserialize(
            [value] if isinstance(value, str) else value, *args, **options
        )
        return loaded


class LeadsByWebsiteHashSchema(HashesSchema):
    """The hash of a website, and a filter and page of its people."""

    json_schema = exactly_one("hash", "hashes")
    department = NormalizedString(
        vocabularies.department, allow_none=True, metadata={"example": "engineering"}
    )
    seniority = NormalizedString(vocabularies.seniority, allow_none=True, metadata={"example": "director"})
    has = OneOrMany(
        fields.String(validate=validate.OneOf(HAS)),
        allow_none=True,
        metadata={
            "example": ["email"],
            "description": "Only people with a known value of each of these; a string or a list.",
        },
    )
    limit = fields.Integer(
        strict=True, load_default=DEFAULT_LEADS, validate=validate.Range(min=1, max=MAX_LEADS)
    )
    cursor = NormalizedString(
        lambda text: PageCursor.parse(text).cursor(),
        allow_none=True,
        metadata={"description": "`next_cursor` of the previous page."},
    )

    @pre_load
    def _no_prefix(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        if "prefix" in data:
            raise PrefixNotAllowed(errors=(FieldError("/prefix", PrefixNotAllowed.help),))
        return data

    @validates_schema
    def _exactly_one(self, data: dict[str, Any], **_options: Any) -> None:
        one_of(data, "hash", "hashes")

    @post_load
    def _request(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        return {
            "hashes": all_hashes(data),
            "department": data.get("department"),
            "seniority": data.get("seniority"),
            "has": sorted(set(data.get("has") or ())),
            "limit": data["limit"],
            "cursor": data.get("cursor"),
        }


class LeadSchema(ResponseSchema):
    """A contact in a list of leads."""

    contact_id = fields.String(metadata={"example": EXAMPLES["con"]})
    full_name = fields.String(allow_none=True, metadata={"example": "Ada Lovelace"})
    title = fields.String(allow_none=True, metadata={"example": "Chief Engineer"})
    seniority = fields.String(allow_none=True, metadata={"example": "c_suite"})
    department = fields.String(allow_none=True, metadata={"example": "engineering"})
    linkedin_url = fields.String(
        allow_none=True, metadata={"example": "https://www.linkedin.com/in/ada-lovelace"}
    )
    saved = fields.Nested(SavedSchema, allow_none=True)
    available = fields.List(fields.Nested(AvailableSchema))
    excluded = fields.Nested(
        ExcludedSchema, allow_none=True, metadata={"description": "Why the workspace excludes the person."}
    )
    crm = fields.List(
        fields.Nested(CrmRecordSchema),
        metadata={"description": "As in a lookup, by the profile and the name at the company."},
    )
    address_books = fields.List(fields.Nested(AddressBookRecordSchema), metadata={"description": "Likewise."})


class LeadsResultSchema(ResponseSchema):
    """A page of a company's people; it may be shorter than the limit if people are suppressed."""

    matched_hash = fields.String(metadata={"example": EXAMPLE})
    company = fields.Nested(CompanySchema)
    total = fields.Integer(
        metadata={"example": 42, "description": "The number of people who match the filters."}
    )
    by_department = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        metadata={
            "example": {"engineering": 30, "sales": 9},
            "description": "The number of people in each department, ignoring the department filter.",
        },
    )
    email_pattern = fields.Nested(PatternSchema, allow_none=True)
    leads = fields.List(fields.Nested(LeadSchema))
    next_cursor = fields.String(allow_none=True, metadata={"description": "Null on the last page."})


class LeadsResponseSchema(JobResponseSchema):
    """The job, and the leads once the job has finished."""

    result = fields.Nested(LeadsResultSchema, required=True, allow_none=True)  # type: ignore[assignment]


@blueprint.post("/api/ext/leads-by-website-hash")
@Operation(errors=(BadHash, PrefixNotAllowed))
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.LOOKUP)
@blueprint.input(LeadsByWebsiteHashSchema, arg_name="body", example={"hash": EXAMPLE, "limit": 25})
@blueprint.output(LeadsResponseSchema)
def leads_by_website_hash(body: dict[str, Any]) -> Response:
    """List the people of a company by the hash of its website, most senior first.

    Suppressed people are omitted. The counts omit them for companies of up to 500 people. Those of companies
    of more than 100 people may be up to an hour old, but include imports and suppressions at once.
    """
    request = JobRequest(
        kind=Kind.LEADS_BY_WEBSITE_HASH,
        workspace_id=caller().workspace_id,
        account_id=caller().account_id,
        request=body,
        dedup_key=body,
    )
    return submit_and_wait(request)
