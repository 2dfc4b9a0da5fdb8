"""POST /api/ext/lookup: return what is stored about people; free, and no provider is queried."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import ValidationError, fields, validates_schema

from app.domain.callers import Scope
from app.domain.errors import FieldError, InsufficientIdentifiers, NotAProfileUrl, Problem
from app.domain.messages import Message
from app.domain.records.subjects import Subject
from app.web.bodies.body import json_response
from app.web.jobs import reverse_lookups
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import (
    AddressBookRecordSchema,
    AvailableSchema,
    CompanySchema,
    ContactSchema,
    CrmRecordSchema,
    ExcludedSchema,
    RevealedSchema,
    SavedSchema,
)
from app.web.schemas.fields import NestedObject, ResponseSchema, StrictSchema, SubjectSchema, exactly_one
from app.web.services import services
from app.web.sign_in.admins import reads_as_admin
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("lookup", __name__, tag="Lookup")

MAX_SUBJECTS = 50


class Subjects(fields.List[Subject]):
    """A list of subjects whose errors point to each invalid subject."""

    def _deserialize(self, value: object, attr: str | None, *_args: object, **options: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        if not 1 <= len(value) <= MAX_SUBJECTS:
            raise ValidationError(Message("Send 1 to {max} subjects.", max=MAX_SUBJECTS))
        loaded = [self._load(item, options) for item in value]
        malformed = {index: item for index, item in enumerate(loaded) if isinstance(item, ValidationError)}
        problems = {index: item for index, item in enumerate(loaded) if isinstance(item, Problem)}
        if malformed:
            details = {index: [problem.detail] for index, problem in problems.items()}
            raise ValidationError({index: error.messages for index, error in malformed.items()} | details)
        for first in problems.values():
            errors = [FieldError(f"/{attr}/{index}", problem.detail) for index, problem in problems.items()]
            raise type(first)(first.detail, errors=tuple(errors))
        return loaded

    def _load(self, item: object, options: dict[str, Any]) -> Subject | ValidationError | Problem | None:
        try:
            return self.inner.deserialize(item, **options)
        except (ValidationError, Problem) as error:
            return error


class LookupSchema(StrictSchema):
    """The people to look up: one subject, or up to 50 subjects."""

    json_schema = exactly_one("subject", "subjects")
    subject = NestedObject(SubjectSchema)
    subjects = Subjects(fields.Nested(SubjectSchema), metadata={"minItems": 1, "maxItems": MAX_SUBJECTS})

    @validates_schema
    def _exactly_one(self, data: dict[str, Any], **_options: Any) -> None:
        if len(data) != 1:
            raise ValidationError("Send either 'subject' or 'subjects'.")


class MatchSchema(ResponseSchema):
    """The confidence of the match and the fields it is based on."""

    confidence = fields.Float(metadata={"example": 0.96, "description": "0 to 1."})
    matched_on = fields.List(fields.String(), metadata={"example": ["linkedin_url"]})


class CandidateSchema(ResponseSchema):
    """A contact that the subject may refer to."""

    confidence = fields.Float(metadata={"example": 0.71})
    contact = fields.Nested(ContactSchema)
    company = fields.Nested(CompanySchema, allow_none=True)


class ResultSchema(ResponseSchema):
    """The stored data of one subject."""

    outcome = fields.String(metadata={"enum": ["matched", "ambiguous", "none"], "example": "matched"})
    match = fields.Nested(MatchSchema)
    candidates = fields.List(fields.Nested(CandidateSchema), metadata={"example": []})
    contact = fields.Nested(ContactSchema, allow_none=True)
    company = fields.Nested(CompanySchema, allow_none=True)
    available = fields.List(fields.Nested(AvailableSchema))
    revealed = fields.Nested(RevealedSchema)
    suppressed = fields.Boolean(metadata={"example": False})
    excluded = fields.Nested(
        ExcludedSchema,
        allow_none=True,
        metadata={"description": "Why the workspace excludes the person; nothing of them is offered."},
    )
    saved = fields.Nested(SavedSchema, allow_none=True)
    crm = fields.List(
        fields.Nested(CrmRecordSchema),
        metadata={
            "description": "The person's records in the workspace's CRM, the most certain match first."
        },
    )
    address_books = fields.List(
        fields.Nested(AddressBookRecordSchema),
        metadata={"description": "The entries about the person in the workspace's address books, likewise."},
    )


class LookupResponseSchema(ResultSchema):
    """One result for `subject`; for `subjects` only `results`, in the order of the request."""

    results = fields.List(
        fields.Nested(ResultSchema), metadata={"description": "Only if 'subjects' was sent."}
    )


@blueprint.post("/api/ext/lookup")
@Operation(errors=(InsufficientIdentifiers, NotAProfileUrl))
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.LOOKUP)
@blueprint.input(
    LookupSchema,
    arg_name="body",
    example={"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}},
)
@blueprint.output(LookupResponseSchema)
def lookup(body: dict[str, Any]) -> Response:
    """Look up people.

    Free: no provider is queried. E-mail addresses and phone numbers are masked until they are revealed. `crm`
    shows whether the person is in the workspace's CRM already. Addresses and numbers that the workspace does
    not own are looked up within a daily limit; above it, the answer is that about an unknown value.
    """
    subjects: list[Subject] = body["subjects"] if "subjects" in body else [body["subject"]]
    reverse_lookups.count(subjects)
    results = services().lookups.look_up(caller().workspace_id, subjects, as_admin=reads_as_admin())
    return json_response({"results": results} if "subjects" in body else results[0])
