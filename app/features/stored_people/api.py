"""GET /api/people: search stored people by title, seniority, department, company and country, free."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain.callers import Scope
from app.domain.errors import ValidationFailed
from app.domain.ids import EXAMPLES
from app.engine.lookups.people_search import COUNTED
from app.features.stored_people import searches
from app.features.stored_people.criteria import PeopleQuery
from app.web.bodies.body import json_response
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import (
    AddressBookRecordSchema,
    AvailableSchema,
    CompanySchema,
    CrmRecordSchema,
    ExcludedSchema,
    LocationSchema,
    RevealedSchema,
    SavedSchema,
)
from app.web.schemas.fields import ResponseSchema
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("people", __name__, tag="People")


class StoredPersonSchema(ResponseSchema):
    """A stored person who meets the criteria."""

    contact_id = fields.String(required=True, metadata={"example": EXAMPLES["con"]})
    full_name = fields.String(required=True, allow_none=True, metadata={"example": "Ada Lovelace"})
    title = fields.String(required=True, allow_none=True, metadata={"example": "Chief Engineer"})
    seniority = fields.String(required=True, allow_none=True, metadata={"example": "c_suite"})
    department = fields.String(required=True, allow_none=True, metadata={"example": "engineering"})
    linkedin_url = fields.String(
        required=True, allow_none=True, metadata={"example": "https://www.linkedin.com/in/ada-lovelace"}
    )
    location = fields.Nested(LocationSchema, required=True)
    company = fields.Nested(CompanySchema, required=True, allow_none=True)
    saved = fields.Nested(SavedSchema, required=True, allow_none=True)
    available = fields.List(fields.Nested(AvailableSchema), required=True)
    revealed = fields.Nested(RevealedSchema, required=True)
    excluded = fields.Nested(
        ExcludedSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Why the workspace excludes the person; nothing of them is offered."},
    )
    crm = fields.List(fields.Nested(CrmRecordSchema), metadata={"description": "As in a lookup."})
    address_books = fields.List(fields.Nested(AddressBookRecordSchema), metadata={"description": "Likewise."})


class PeopleResponseSchema(ResponseSchema):
    """A page of people, most senior first; it may be shorter than the limit if people are suppressed."""

    people = fields.List(fields.Nested(StoredPersonSchema), required=True)
    total = fields.Integer(
        required=True, metadata={"example": 42, "description": "The number of people on all pages."}
    )
    at_least = fields.Boolean(
        required=True,
        metadata={
            "example": False,
            "description": "More people meet the criteria than are on all pages: narrow the search.",
        },
    )
    estimate = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": "With `at_least`, about how many meet them, if known."},
    )
    counts = fields.Dict(
        keys=fields.String(metadata={"enum": [*COUNTED]}),
        values=fields.Dict(keys=fields.String(), values=fields.Integer()),
        required=True,
        metadata={
            "example": {"seniority": {"vp": 30, "head": 12}},
            "description": f"The number of people on all pages by {', '.join(COUNTED)}: the most frequent"
            " values of each.",
        },
    )
    next_cursor = fields.String(required=True, allow_none=True, metadata={"example": None})


@blueprint.get("/api/people")
@Operation(errors=(ValidationFailed,))
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.LOOKUP)
@blueprint.input(PeopleQuery, location="query", arg_name="query")
@blueprint.output(PeopleResponseSchema)
def people(query: dict[str, Any]) -> Response:
    """Search stored people by criteria, or by what somebody typed.

    Free: no provider is asked. A person meets every criterion, each by any of its values. Repeat a parameter
    to send several. `q` finds whom a text may mean by the spellings and nicknames that lookups know, and
    returns one page without counts: first those of whom the workspace has something.

    At most 1,000 people are returned on all pages: if `at_least`, more meet the criteria.
    Suppressed people are left out, also of the counts if these are of at most 500 people.
    """
    if "q" in query:
        return json_response(searches.typed(query["q"], limit=query["limit"]))
    found = searches.search(query["criteria"], limit=query["limit"], cursor=query.get("cursor"))
    return json_response(
        {
            "people": found.people,
            "total": found.total,
            "at_least": found.is_at_least,
            "estimate": found.estimate,
            "counts": found.counts,
            "next_cursor": found.next_cursor,
        }
    )
