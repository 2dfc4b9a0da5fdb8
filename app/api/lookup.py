"""POST /api/ext/lookup: what is known of people already; free, and nobody is asked."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema
from flask import Response
from marshmallow import ValidationError, fields, validates_schema

from app.api.http.auth import bearer, caller
from app.api.http.rate_limits import Policy, limited
from app.api.http.responses import json_response
from app.api.http.services import services
from app.api.schemas.contact_schemas import (
    AvailableSchema,
    CompanySchema,
    ContactSchema,
    EmailSchema,
    PhoneSchema,
    SavedSchema,
)
from app.api.schemas.fields import StrictSchema, SubjectSchema
from app.core.lookups import lookups
from app.domain.callers import Scope
from app.domain.errors import FieldError, Problem
from app.domain.records.subjects import Subject

blueprint = APIBlueprint("lookup", __name__, tag="Lookup")

MAX_SUBJECTS = 50


class Subjects(fields.List[Subject]):
    """A list of subjects that says of every bad one where it is."""

    def _deserialize(self, value: object, attr: str | None, *_args: object, **options: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        if not 1 <= len(value) <= MAX_SUBJECTS:
            raise ValidationError(f"Give 1 to {MAX_SUBJECTS} subjects.")
        loaded = [self._load(item, options) for item in value]
        malformed = {index: one for index, one in enumerate(loaded) if isinstance(one, ValidationError)}
        problems = {index: one for index, one in enumerate(loaded) if isinstance(one, Problem)}
        if malformed:
            details = {index: [one.detail] for index, one in problems.items()}
            raise ValidationError({index: one.messages for index, one in malformed.items()} | details)
        for first in problems.values():
            places = [FieldError(f"/{attr}/{index}", one.detail) for index, one in problems.items()]
            raise type(first)(first.detail, errors=tuple(places))
        return loaded

    def _load(self, item: object, options: dict[str, Any]) -> Subject | ValidationError | Problem | None:
        try:
            return self.inner.deserialize(item, **options)
        except (ValidationError, Problem) as error:
            return error


class LookupSchema(StrictSchema):
    """Whom to look up: one person, or up to 50."""

    subject = fields.Nested(SubjectSchema)
    subjects = Subjects(fields.Nested(SubjectSchema), metadata={"minItems": 1, "maxItems": MAX_SUBJECTS})

    @validates_schema
    def _exactly_one(self, data: dict[str, Any], **_options: Any) -> None:
        if len(data) != 1:
            raise ValidationError("Give either 'subject' or 'subjects'.")


class MatchSchema(Schema):
    """How sure the match is, and by what."""

    confidence = fields.Float(metadata={"example": 0.96, "description": "0 to 1."})
    matched_on = fields.List(fields.String(), metadata={"example": ["linkedin_url"]})


class CandidateSchema(Schema):
    """Somebody the subject may mean."""

    confidence = fields.Float(metadata={"example": 0.71})
    contact = fields.Nested(ContactSchema)
    company = fields.Nested(CompanySchema, allow_none=True)


class RevealedSchema(Schema):
    """What the workspace owns, in full."""

    emails = fields.List(fields.Nested(EmailSchema))
    phones = fields.List(fields.Nested(PhoneSchema))


class ResultSchema(Schema):
    """What is known of one subject."""

    outcome = fields.String(metadata={"enum": ["matched", "ambiguous", "none"], "example": "matched"})
    match = fields.Nested(MatchSchema)
    candidates = fields.List(fields.Nested(CandidateSchema), metadata={"example": []})
    contact = fields.Nested(ContactSchema, allow_none=True)
    company = fields.Nested(CompanySchema, allow_none=True)
    available = fields.List(fields.Nested(AvailableSchema))
    revealed = fields.Nested(RevealedSchema)
    suppressed = fields.Boolean(metadata={"example": False})
    saved = fields.Nested(SavedSchema, allow_none=True)


class LookupAnswerSchema(ResultSchema):
    """For `subject` one result; for `subjects` nothing but `results`, in the order they were given."""

    results = fields.List(
        fields.Nested(ResultSchema), metadata={"description": "Only where 'subjects' was sent."}
    )


@blueprint.post("/api/ext/lookup")
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.LOOKUP)
@blueprint.input(
    LookupSchema,
    arg_name="body",
    example={"subject": {"linkedin_url": "https://www.linkedin.com/in/ada-lovelace"}},
)
@blueprint.output(LookupAnswerSchema)
def lookup(body: dict[str, Any]) -> Response:
    """Look up people.

    Free: no provider is asked. E-mails and phones are masked until they are revealed.
    """
    subjects: list[Subject] = body["subjects"] if "subjects" in body else [body["subject"]]
    with services().database.reading() as session:
        results = lookups.look_up(session, caller().workspace_id, subjects, prices=services().settings.prices)
    return json_response({"results": results} if "subjects" in body else results[0])
