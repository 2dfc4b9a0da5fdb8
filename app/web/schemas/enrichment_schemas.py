"""The requests of enrichments (docs/api/enrichments.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError, fields, post_load, validate

from app.domain.errors import InsufficientIdentifiers, Problem, ValidationFailed
from app.domain.messages import Message
from app.domain.normal.companies.employers import given_employer
from app.engine.enrichments import skips
from app.engine.enrichments.skips import NOBODY, SkipRule, SkipWhen
from app.web.errors import field_errors
from app.web.schemas.fields import (
    MAX_REFERENCE,
    NestedObject,
    NonBlankString,
    StrictBoolean,
    StrictSchema,
    SubjectSchema,
    company_url,
    purpose,
    use_own_records,
    website,
)
from app.web.schemas.webhook_urls import webhook_url

MAX_ITEMS = 100
MAX_SOURCES = 10
PERSON_FIELDS = ("profile", "email", "phone", "company")
VALUE_FIELDS = frozenset({"email", "phone"})
DEFAULT_FIELDS = ("company", "email", "profile")


@dataclass(frozen=True, slots=True)
class EnrichmentRequest:
    """A validated enrichment request; `items` are stored with the job as they are here."""

    entity: str
    items: tuple[dict[str, Any], ...]
    fields: tuple[str, ...]
    max_credits: int | None
    dry_run: bool
    webhook_url: str | None
    purpose: str | None = None
    use_own_records: bool = True
    skip: SkipRule = NOBODY

    @property
    def reveals_values(self) -> bool:
        """Return whether it asks for e-mails or phones of people."""
        return self.entity == "person" and not VALUE_FIELDS.isdisjoint(self.fields)


class NamedCompanySchema(StrictSchema):
    """How an item names a company; one of these fields is enough."""

    domain = website(allow_none=True)
    name = NonBlankString(allow_none=True)
    linkedin_url = company_url(allow_none=True)

    @post_load(pass_original=True)
    def _company(self, data: dict[str, Any], given: Mapping[str, Any], **_options: Any) -> dict[str, str]:
        employer = given_employer(given.get("domain"), data.get("name"))
        values = {**data, "domain": employer.domain, "name": employer.name}
        company = {name: value for name, value in values.items() if value}
        if not company:
            detail = employer.left_out or "Provide domain, name or linkedin_url of the company."
            raise InsufficientIdentifiers(detail)
        return company


class ItemSchema(StrictSchema):
    """One item: a subject, or a company if the entity is company."""

    subject = NestedObject(SubjectSchema)
    company = NestedObject(NamedCompanySchema)
    client_reference = NonBlankString(MAX_REFERENCE, allow_none=True, metadata={"example": "row-17"})


class Item(fields.Nested):
    """An item as sent; its errors are reported in its result, not for the whole request."""

    def _deserialize(self, value: object, *_context: Any, **_options: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.make_error("type", input=value, type="object")
        return value


class SkipSchema(StrictSchema):
    """Which people are skipped, because the workspace has them already."""

    skip = fields.List(
        fields.String(validate=validate.OneOf(skips.source_names())),
        validate=validate.Length(max=MAX_SOURCES),
        metadata={
            "example": ["crm", "owned"],
            "description": "The sources whose people are skipped: `owned` (the workspace owns all requested "
            "values), or a kind of system of its own. By default nobody is.",
        },
    )
    skip_when = fields.String(
        validate=validate.OneOf([when.value for when in SkipWhen]),
        load_default=SkipWhen.IN_SOURCE.value,
        metadata={
            "example": SkipWhen.IN_SOURCE.value,
            "description": "`in_source`: everybody in a source is skipped. `has_field`: only the requested "
            "values that a source has of a person; the others are bought.",
        },
    )


class EnrichmentSchema(SkipSchema):
    """The request body; an invalid item is reported as the error of that item."""

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
    purpose = purpose()
    use_own_records = use_own_records()
    webhook_url = webhook_url(
        allow_none=True,
        description="Receives `job.finished`, signed as in the Standard Webhooks specification.",
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
            data["purpose"],
            data["use_own_records"],
            SkipRule.parse(data),
        )


def _item(raw: dict[str, Any], entity: str) -> dict[str, Any]:
    """Return one item as the job stores it, with the error if it is invalid."""
    reference = raw.get("client_reference")
    base = {"client_reference": reference[:MAX_REFERENCE]} if isinstance(reference, str) else {}
    try:
        item = ItemSchema().load(raw)
        key = "subject" if entity == "person" else "company"
        if set(item) - {"client_reference"} != {key}:
            raise InsufficientIdentifiers(
                Message(
                    "An item of entity {entity} must have '{key}' and no other name.", entity=entity, key=key
                )
            )
    except ValidationError as error:
        return base | {"error": ValidationFailed(errors=tuple(field_errors(error.messages))).as_dict()}
    except Problem as problem:
        return base | {"error": problem.as_dict()}
    if entity == "person":
        return base | {"subject": item["subject"].as_dict()}
    return base | {"company": item["company"]}
