"""Schemas of exclusions, as they are sent and as they are returned."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.domain import exclusions
from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.exclusions import Kind, Reason
from app.domain.ids import EXAMPLES
from app.engine.exclusions.exclusions import Entry
from app.web.schemas.fields import MAX_URL, ResponseSchema, SingleLineString, StrictSchema, exactly_one
from app.web.schemas.paging import IdCursor, page_size
from app.web.schemas.queries import QuerySchema

DEFAULT_LIMIT = 50
MAX_LIMIT = 100
MAX_ENTRIES = 1000


class ExcludedValue(fields.String):
    """A domain, an address or a profile, loaded in its normal form."""

    def __init__(self, kind: Kind, example: str) -> None:
        self.kind = kind
        super().__init__(validate=validate.Length(max=MAX_URL), metadata={"example": example})

    def _deserialize(self, value: object, *args: Any, **options: Any) -> str:
        text: str = super()._deserialize(value, *args, **options)
        if len(text) > MAX_URL:
            return text  # the validation refuses it
        try:
            return exclusions.normal(self.kind, text)
        except InvalidValue as error:
            raise ValidationError(str(error)) from error
        except NotAProfileUrl as problem:
            raise ValidationError(problem.detail) from problem


class EntrySchema(StrictSchema):
    """What to exclude, and why."""

    json_schema = exactly_one(*Kind)
    domain = ExcludedValue(Kind.DOMAIN, "acme.com")
    email = ExcludedValue(Kind.EMAIL, "ada@acme.com")
    linkedin_url = ExcludedValue(Kind.LINKEDIN_URL, "https://www.linkedin.com/company/acme")
    reason = fields.String(required=True, validate=validate.OneOf(list(Reason)))
    note = SingleLineString(exclusions.MAX_NOTE, allow_none=True, metadata={"example": "Account of Leeds"})

    @validates_schema
    def _exactly_one(self, data: dict[str, Any], **_options: Any) -> None:
        if len(data.keys() & set(Kind)) != 1:
            raise ValidationError("Send exactly one of domain, email and linkedin_url.")

    @post_load
    def _entry(self, data: dict[str, Any], **_options: Any) -> Entry:
        [kind] = (kind for kind in Kind if kind in data)
        return Entry(kind, data[kind], Reason(data["reason"]), data.get("note"))


class EntriesSchema(StrictSchema):
    """What to exclude; if any entry is invalid, none is added, and the errors name the invalid ones."""

    entries = fields.List(
        fields.Nested(EntrySchema),
        required=True,
        validate=validate.Length(min=1, max=MAX_ENTRIES),
        metadata={"example": [{"domain": "acme.com", "reason": "customer"}]},
    )


class ExclusionsQuery(QuerySchema):
    """The page of the exclusions."""

    limit = page_size(DEFAULT_LIMIT, MAX_LIMIT)
    cursor = IdCursor("exc")


class ListQuery(QuerySchema):
    """The name of a file that is the body, and the reason of rows that have none."""

    name = fields.String(metadata={"description": "The name of a file that is sent as the body."})
    reason = fields.String(load_default=Reason.OTHER.value, validate=validate.OneOf(list(Reason)))


class ExclusionSchema(ResponseSchema):
    """An exclusion; `value` is the domain, the address or the profile in its normal form."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["exc"]})
    kind = fields.String(required=True, metadata={"enum": [*Kind], "example": "domain"})
    value = fields.String(required=True, metadata={"example": "acme.com"})
    reason = fields.String(required=True, metadata={"enum": [*Reason], "example": "customer"})
    note = fields.String(required=True, allow_none=True, metadata={"example": "Account of Leeds"})
    created_by = fields.String(
        required=True, metadata={"example": EXAMPLES["acc"], "description": "The account that added it."}
    )
    created_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T09:30:00.000Z"})


class ExclusionsResponseSchema(ResponseSchema):
    """A page of exclusions, newest first."""

    exclusions = fields.List(fields.Nested(ExclusionSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


class AddedSchema(ResponseSchema):
    """How many entries were added, and how many the workspace had already."""

    added = fields.Integer(required=True, metadata={"example": 1})
    known = fields.Integer(required=True, metadata={"example": 0})


class RejectedSchema(ResponseSchema):
    """A cell or a row of a list that was left out, and why."""

    line = fields.Integer(required=True, metadata={"example": 3, "description": "The line of the file."})
    column = fields.String(required=True, allow_none=True, metadata={"example": "Domain"})
    detail = fields.String(required=True, metadata={"example": exclusions.SHARED_DOMAIN})


class ImportedSchema(AddedSchema):
    """What an import did; `rejected` has the first hundred of what it left out."""

    rejected = fields.List(fields.Nested(RejectedSchema), required=True)
    rejected_count = fields.Integer(required=True, metadata={"example": 1})
