"""Specifications of configured providers, and the schemas that parse them from the file's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jmespath.parser import ParsedResult
from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from app.domain.findings import EmailStatus
from app.domain.providers.rates import Rate
from workers.providers.base import ProviderField
from workers.providers.configured import templates
from workers.providers.configured.fields import (
    AMOUNT,
    HEADER,
    Expression,
    Rates,
    RequiredPlaceholders,
    Templates,
    ValueMap,
    are_headers,
    is_path,
    is_url,
)
from workers.providers.configured.templates import Template
from workers.providers.parsing import PHONE_TYPES

READ = {
    ProviderField.EMAIL: ("email", "status", "type", "confidence", "verified_at"),
    ProviderField.PHONE: ("phone", "type", "country", "extension", "confidence", "do_not_call"),
    ProviderField.PERSON: (
        *("full_name", "first_name", "last_name", "title", "seniority", "department", "linkedin_url"),
        *("city", "country", "company_name", "company_domain", "company_linkedin_url"),
    ),
    ProviderField.COMPANY: ("name", "domain", "linkedin_url", "industry", "employees", "city", "country"),
    ProviderField.VERIFICATION: ("status", "confidence", "verified_at"),
}
"""The values that can be read from a reply, by field."""
_ESSENTIAL = {
    ProviderField.EMAIL: "email",
    ProviderField.PHONE: "phone",
    ProviderField.VERIFICATION: "status",
}
_TYPES = {ProviderField.EMAIL: frozenset({"work", "personal"}), ProviderField.PHONE: PHONE_TYPES}
_FIELDS_WITH_STATUS = frozenset({ProviderField.EMAIL, ProviderField.VERIFICATION})
_STATUSES = [status.value for status in EmailStatus]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSpec:
    """How one field is requested, and where its values are in the reply.

    One placeholder of each set in `needs` must have a value. The expressions of `read` apply to each of the
    `items`, or to the whole reply. A confidence is divided by `scale`.
    """

    method: str
    path: Template
    query: Mapping[str, Any]
    body: Mapping[str, Any] | None
    needs: tuple[frozenset[str], ...]
    items: ParsedResult | None
    miss: ParsedResult | None
    suppressed: ParsedResult | None
    cost: ParsedResult | None
    price: float
    read: Mapping[str, ParsedResult]
    statuses: Mapping[str, str]
    types: Mapping[str, str]
    scale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSpec:
    """One provider of the file; `check` is a path that requires valid credentials.

    `member_ids` is whether a profile URL that it is sent may have a member's id.
    """

    name: str
    url: str
    headers: Mapping[str, str]
    key_header: str | None
    rates: tuple[Rate, ...]
    miss_days: float
    credit_price: float
    daily_budget: float | None
    check: str | None
    member_ids: bool
    endpoints: Mapping[ProviderField, EndpointSpec]

    @property
    def variables(self) -> frozenset[str]:
        """Return the environment variables used in its headers."""
        return frozenset(name for text in self.headers.values() for name in templates.variables(text))


class _EndpointSchema(Schema):
    """One section of a provider, such as `[crm.email]`; the readable values depend on its field."""

    method = fields.String(validate=validate.OneOf(["GET", "POST"]))
    path = Templates(str, "text such as /people/{email}", required=True)
    query = Templates(dict, "a table", load_default=dict)
    body = Templates(dict, "a table", load_default=None)
    needs = RequiredPlaceholders(fields.String())
    items = Expression(data_key="list", load_default=None)
    miss = Expression(load_default=None)
    suppressed = Expression(load_default=None)
    cost = Expression(load_default=None)
    price = fields.Float(load_default=0, validate=AMOUNT)
    scale = fields.Float(
        data_key="confidence_scale", load_default=1, validate=validate.Range(min=0, min_inclusive=False)
    )

    @validates_schema
    def _check_templates(self, data: Mapping[str, Any], **_options: Any) -> None:
        is_path("".join(literal for literal, _name in data["path"].pieces) or "")
        if not _placeholders([data["path"], data["query"], data["body"]]):
            raise ValidationError(
                "Must contain a placeholder such as {email}; without one, every request is the same."
            )
        if any(isinstance(value, dict | list) for value in data["query"].values()):
            raise ValidationError("A query parameter must be a string, a number, true or false.")
        if data["body"] is not None and data.get("method") == "GET":
            raise ValidationError("A GET request cannot have a body. Set method to POST, or use query.")

    @post_load
    def _endpoint(self, data: dict[str, Any], **_options: Any) -> EndpointSpec:
        names = _placeholders([data["path"], data["query"], data["body"]])
        defaults: dict[str, Any] = {
            "method": "GET" if data["body"] is None else "POST",
            "needs": tuple(frozenset({name}) for name in sorted(names)),
            "statuses": {},
            "types": {},
        }
        read = {name: expression for name, expression in data["read"].items() if expression is not None}
        return EndpointSpec(**defaults | data | {"read": read})


def _endpoint_schema(field: ProviderField) -> type[Schema]:
    """Return the schema of one field's section."""
    read: dict[str, fields.Field[Any]] = {
        name: Expression(required=name == _ESSENTIAL.get(field)) for name in READ[field]
    }
    sections: dict[str, fields.Field[Any]] = {"read": fields.Nested(Schema.from_dict(read), required=True)}
    if field in _FIELDS_WITH_STATUS:
        sections["statuses"] = ValueMap(_STATUSES)
    if field in _TYPES:
        sections["types"] = ValueMap(sorted(_TYPES[field]))
    return _EndpointSchema.from_dict(sections)


def _placeholders(node: object) -> frozenset[str]:
    if isinstance(node, Template):
        return node.names
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return frozenset(name for child in children for name in _placeholders(child))


class ProviderSchema(Schema):
    """A table of the file, such as `[crm]`."""

    url = fields.String(required=True, validate=is_url)
    headers = fields.Dict(
        keys=fields.String(), values=fields.String(), load_default=dict, validate=are_headers
    )
    key_header = fields.String(load_default=None, validate=validate.Regexp(HEADER.pattern + r"\Z"))
    rates = Rates(load_default=())
    miss_days = fields.Float(load_default=7.0, validate=AMOUNT)
    credit_price = fields.Float(load_default=1.0, validate=AMOUNT)
    daily_budget = fields.Float(load_default=None, validate=AMOUNT)
    check = fields.String(load_default=None, validate=is_path)
    member_ids = fields.Boolean(load_default=False, truthy={True}, falsy={False})
    email = fields.Nested(_endpoint_schema(ProviderField.EMAIL))
    phone = fields.Nested(_endpoint_schema(ProviderField.PHONE))
    person = fields.Nested(_endpoint_schema(ProviderField.PERSON))
    company = fields.Nested(_endpoint_schema(ProviderField.COMPANY))
    verification = fields.Nested(_endpoint_schema(ProviderField.VERIFICATION))

    @post_load
    def _endpoints(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        endpoints = {field: data.pop(field.value) for field in READ if field.value in data}
        if not endpoints:
            raise ValidationError(f"Must have a section for at least one of {', '.join(READ)}.")
        return data | {"endpoints": endpoints}
