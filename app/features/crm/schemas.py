"""Schemas of CRM connections and pushes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

from marshmallow import ValidationError, fields, post_load, validate

from app.domain.errors import InvalidValue
from app.domain.ids import EXAMPLES
from app.domain.messages import Message
from app.domain.normal.webhook_addresses import parse_target
from app.features.crm import mapping
from app.features.crm.connections import ConnectionStatus, CrmConnection
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.index.readings import MAX_STAGES
from app.features.crm.plan import Action
from app.features.crm.pushes import PushItem, PushOutcome
from app.features.crm.vendors import registry
from app.features.crm.vendors.errors import Refusal
from app.features.crm.vendors.notes import NoteCode
from app.features.crm.vendors.person import CrmField
from app.features.crm.vendors.vendor import Crm
from app.web.schemas.fields import (
    MAX_URL,
    NonBlankString,
    ResponseSchema,
    StrictBoolean,
    StrictSchema,
    exactly_one,
)
from app.web.services import services

MAX_CONTACTS = 500
MAX_STAGE = 300
"""Characters of a stage, as it is stored of a record."""
VENDORS = tuple(crm.name for crm in registry.CRMS)
MAPPING_EXAMPLE = {"email": "email", "first_name": "firstname", "title": "jobtitle"}


def crm_named(name: str) -> Crm:
    """Return the CRM of this name."""
    return registry.load(services().settings)[name]


def companies_json(item: PushItem, connection: CrmConnection) -> list[dict[str, Any]]:
    """Return the companies among which there is a choice for a pushed contact, with their URLs."""
    crm = crm_named(connection.vendor)
    return [
        one | {"url": crm.company_url(connection.base_url, connection.account, one["id"])}
        for one in item.companies or ()
    ]


def check_url(url: str) -> str:
    """Return the address of a CRM without a slash at its end.

    Raises:
        ValidationError: the address can never be called, or has a query.

    """
    try:
        target = parse_target(url, tuple(map(ip_network, services().settings.webhook_networks)))
    except InvalidValue as error:
        raise ValidationError(str(error)) from error
    if "?" in target.target:
        raise ValidationError("Must be the address of the CRM without a query.")
    return url.rstrip("/")


def check_mapping(crm: Crm, chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the mapping."""
    try:
        return mapping.validate(crm, chosen)
    except InvalidValue as error:
        raise ValidationError(str(error), "mapping") from error


def check_constants(crm: Crm, mapped: Mapping[str, str], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the constants."""
    try:
        return mapping.validate_constants(crm, mapped, chosen)
    except InvalidValue as error:
        raise ValidationError(str(error), "constants") from error


def _mapping_field(**options: Any) -> fields.Dict:
    return fields.Dict(
        keys=fields.String(validate=validate.OneOf([field.value for field in CrmField])),
        values=fields.String(validate=validate.Length(max=201)),
        metadata={
            "example": MAPPING_EXAMPLE,
            "description": "The CRM's property for each field; a field without one is not pushed.",
        },
        **options,
    )


def _constants_field(**options: Any) -> fields.Dict:
    return fields.Dict(
        keys=fields.String(validate=validate.Length(max=201)),
        values=fields.String(validate=validate.Length(max=mapping.MAX_VALUE)),
        metadata={
            "example": {"leadsource": "Contact lookup"},
            "description": "Properties of the CRM with the value that is the same for all people.",
        },
        **options,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewConnection:
    """A connection with a token."""

    vendor: str
    token: str = field(repr=False)
    base_url: str | None
    mapping: dict[str, str]
    constants: dict[str, str]


class NewConnectionSchema(StrictSchema):
    """The CRM, and the token that it issued."""

    vendor = fields.String(required=True, validate=validate.OneOf(VENDORS), metadata={"example": "hubspot"})
    token = NonBlankString(2000, required=True, metadata={"example": "pat-eu1-…"})
    base_url = NonBlankString(
        MAX_URL,
        allow_none=True,
        load_default=None,
        metadata={
            "example": None,  # the default of the vendor in the example
            "description": "The address of the CRM if every customer has its own, as with Twenty: "
            "`https://crm.acme.example`.",
        },
    )
    mapping = _mapping_field(load_default=None, allow_none=True)
    constants = _constants_field(load_default=dict)

    @post_load
    def _connection(self, data: dict[str, Any], **_options: Any) -> NewConnection:
        crm = crm_named(data["vendor"])
        if not crm.takes_token:
            message = Message("{crm} is connected in the browser, on the page /crm.", crm=crm.title)
            raise ValidationError(message, "vendor")
        if crm.needs_url != (data["base_url"] is not None):
            message = (
                Message("The address of {crm} is required.", crm=crm.title)
                if crm.needs_url
                else Message("The address of {crm} is fixed: omit it.", crm=crm.title)
            )
            raise ValidationError(message, "base_url")
        if data["base_url"] is not None:
            try:
                data["base_url"] = check_url(data["base_url"])
            except ValidationError as error:
                raise ValidationError(error.messages, "base_url") from error
        defaults = {field.value: name for field, name in crm.mapping.items()}
        chosen = defaults if data["mapping"] is None else data["mapping"]
        data["mapping"] = check_mapping(crm, chosen)
        data["constants"] = check_constants(crm, data["mapping"], data["constants"])
        return NewConnection(**data)


def _new_people_field(**options: Any) -> fields.Enum[RecordKind]:
    return fields.Enum(
        RecordKind,
        by_value=True,
        metadata={
            "example": RecordKind.CONTACT.value,
            "description": "What pushes create of people whom the CRM does not have; leads in Salesforce.",
        },
        **options,
    )


def _stages_field(**options: Any) -> fields.List[Any]:
    return fields.List(
        fields.String(validate=validate.Length(min=1, max=MAX_STAGE)),
        metadata={
            "example": ["customer"],
            "description": "Whoever has a record with one of these stages in the CRM is excluded.",
        },
        **options,
    )


class ConnectionChangeSchema(StrictSchema):
    """A new mapping, constants, stages or a new token; without any, the credentials are checked again."""

    mapping = _mapping_field()
    constants = _constants_field()
    new_people = _new_people_field()
    excluded_stages = _stages_field(validate=validate.Length(max=MAX_STAGES))
    token = NonBlankString(2000, metadata={"example": "pat-eu1-…"})


class ReadingNoteSchema(ResponseSchema):
    """What of a CRM is not read."""

    code = fields.String(required=True, metadata={"example": "owners_unreadable"})
    message = fields.String(required=True, metadata={"description": "The same in a sentence."})


class ReadingSchema(ResponseSchema):
    """How far the people of a CRM have been read into the private index of the workspace."""

    records = fields.Integer(
        required=True, metadata={"example": 18_204, "description": "The contacts and leads in the index."}
    )
    read_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={
            "example": "2026-11-20T09:30:00.000Z",
            "description": "When the last changes were read; null before the first reading has ended.",
        },
    )
    in_progress = fields.Boolean(required=True)
    stages = fields.List(
        fields.String(),
        required=True,
        metadata={"example": ["customer", "lead"], "description": "The stages that were seen, 100 at most."},
    )
    error = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": "What stops the reading, as a code."},
    )
    error_message = fields.String(
        required=True, allow_none=True, metadata={"example": None, "description": "The same in a sentence."}
    )
    notes = fields.List(fields.Nested(ReadingNoteSchema), required=True)


class ConnectionSchema(ResponseSchema):
    """A connection, without its secrets."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["crm"]})
    vendor = fields.String(required=True, metadata={"example": "hubspot"})
    base_url = fields.String(required=True, allow_none=True, metadata={"example": None})
    status = fields.String(required=True, validate=validate.OneOf(list(ConnectionStatus)))
    error = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": "Why the CRM was last not usable, as a code."},
    )
    error_message = fields.String(
        required=True, allow_none=True, metadata={"example": None, "description": "The same in a sentence."}
    )
    mapping = _mapping_field(required=True)
    constants = _constants_field(required=True)
    new_people = _new_people_field(required=True)
    excluded_stages = _stages_field(required=True)
    created_by = fields.String(required=True, allow_none=True, metadata={"example": EXAMPLES["acc"]})
    created_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T09:30:00.000Z"})
    checked_at = fields.DateTime(
        required=True, allow_none=True, metadata={"example": "2026-11-20T09:30:01.000Z"}
    )
    reading = fields.Nested(
        ReadingSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Null before the first reading has begun."},
    )


class ConnectionResponseSchema(ResponseSchema):
    """A connection."""

    connection = fields.Nested(ConnectionSchema, required=True)


class ConnectionsResponseSchema(ResponseSchema):
    """The workspace's connections, oldest first."""

    connections = fields.List(fields.Nested(ConnectionSchema), required=True)


class OptionSchema(ResponseSchema):
    """A value that a property accepts."""

    value = fields.String(required=True, metadata={"example": "Web"})
    label = fields.String(required=True, metadata={"example": "Web"})


class PropertySchema(ResponseSchema):
    """A property of people in a CRM."""

    name = fields.String(required=True, metadata={"example": "leadsource"})
    label = fields.String(required=True, metadata={"example": "Lead source"})
    is_writable = fields.Boolean(required=True)
    options = fields.List(
        fields.Nested(OptionSchema),
        required=True,
        metadata={"description": "The values that it accepts; without any, it accepts every text."},
    )


class PropertiesResponseSchema(ResponseSchema):
    """The properties that were read from the CRM with the last check of the credentials."""

    properties = fields.List(fields.Nested(PropertySchema), required=True)


class VendorSchema(ResponseSchema):
    """A CRM that can be connected, and how."""

    name = fields.String(required=True, metadata={"example": "hubspot"})
    title = fields.String(required=True, metadata={"example": "HubSpot"})
    takes_token = fields.Boolean(required=True)
    offers_oauth = fields.Boolean(
        required=True, metadata={"description": "Whether an admin can connect it on the page /crm."}
    )
    needs_url = fields.Boolean(required=True)
    mapping = _mapping_field(required=True)


class VendorsResponseSchema(ResponseSchema):
    """The CRMs, and the fields of a contact that can be pushed."""

    vendors = fields.List(fields.Nested(VendorSchema), required=True)
    fields_ = fields.List(fields.String(), required=True, data_key="fields")


class NewPushSchema(StrictSchema):
    """The contacts to push: by id, or all of a list of saved profiles."""

    json_schema = exactly_one("contact_ids", "list")
    connection_id = NonBlankString(required=True, metadata={"example": EXAMPLES["crm"]})
    contact_ids = fields.List(
        NonBlankString(metadata={"example": EXAMPLES["con"]}),
        validate=validate.Length(min=1, max=MAX_CONTACTS),
        metadata={"example": [EXAMPLES["con"]]},
    )
    list_ = NonBlankString(data_key="list")
    dry_run = StrictBoolean(
        load_default=False,
        metadata={"description": "Only look what would be written; nothing is written."},
    )
    company_id = NonBlankString(
        64,
        allow_none=True,
        load_default=None,
        metadata={
            "example": None,
            "description": "The record of the company in the CRM, for one contact: one of `companies` of its "
            "receipt.",
        },
    )

    @post_load
    def _one_selection(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        if ("contact_ids" in data) == ("list_" in data):
            raise ValidationError("Send either contact_ids or list.", "contact_ids")
        return data


class PushProgressSchema(ResponseSchema):
    """How many contacts have an outcome."""

    done = fields.Integer(required=True, metadata={"example": 1})
    total = fields.Integer(required=True, metadata={"example": 1})


class PushSchema(ResponseSchema):
    """A push and the number of its contacts by outcome."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["psh"]})
    connection_id = fields.String(required=True, metadata={"example": EXAMPLES["crm"]})
    vendor = fields.String(required=True, metadata={"example": "hubspot"})
    dry_run = fields.Boolean(required=True)
    status = fields.String(required=True, validate=validate.OneOf(["waiting", "running", "finished"]))
    progress = fields.Nested(PushProgressSchema, required=True)
    outcomes = fields.Dict(
        keys=fields.String(validate=validate.OneOf(list(PushOutcome))),
        values=fields.Integer(),
        required=True,
        metadata={"example": {"created": 1}},
    )
    created_by = fields.String(required=True, metadata={"example": EXAMPLES["acc"]})
    created_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T09:30:00.000Z"})


class PushNoteSchema(ResponseSchema):
    """What the push of a contact did otherwise than asked."""

    code = fields.String(
        required=True,
        validate=validate.OneOf(list(NoteCode)),
        metadata={"example": NoteCode.PROPERTY_REFUSED.value},
    )
    property = fields.String(required=True, allow_none=True, metadata={"example": "country"})
    reason = fields.String(
        required=True,
        allow_none=True,
        validate=validate.OneOf(list(Refusal)),
        metadata={"example": Refusal.NOT_AN_OPTION.value, "description": "Why the property was refused."},
    )
    message = fields.String(
        required=True,
        metadata={
            "example": "The CRM refused the value of this property: it is not one of the options there."
        },
    )


class PushCompanySchema(ResponseSchema):
    """The record of a company in the CRM."""

    id = fields.String(required=True, metadata={"example": "0015g00000Xyz12"})
    name = fields.String(required=True, metadata={"example": "Acme Engines"})
    url = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "https://login.salesforce.com/0015g00000Xyz12", "description": "Its page."},
    )


class PushItemSchema(ResponseSchema):
    """The receipt of one contact."""

    contact_id = fields.String(required=True, metadata={"example": EXAMPLES["con"]})
    outcome = fields.String(
        required=True,
        allow_none=True,
        validate=validate.OneOf(list(PushOutcome)),
        metadata={"description": "Null while the contact waits; `would_…` in a dry run."},
    )
    error = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": None,
            "description": "Why it was skipped, failed, or has to be tried again, as a code.",
        },
    )
    error_message = fields.String(
        required=True, allow_none=True, metadata={"example": None, "description": "The same in a sentence."}
    )
    actions = fields.Dict(
        keys=fields.String(),
        values=fields.String(validate=validate.OneOf(list(Action))),
        required=True,
        metadata={
            "example": {"jobtitle": "fill"},
            "description": "What was done with each property of the CRM.",
        },
    )
    notes = fields.List(
        fields.Nested(PushNoteSchema),
        required=True,
        metadata={"description": "What was done otherwise than asked: refused properties, leads, the trash."},
    )
    companies = fields.List(
        fields.Nested(PushCompanySchema),
        required=True,
        metadata={
            "example": [],
            "description": "The companies in the CRM that fit, if there are several. The first is linked, "
            "unless `company_id` names another.",
        },
    )
    attempts = fields.Integer(required=True, metadata={"example": 1})
    finished_at = fields.DateTime(
        required=True, allow_none=True, metadata={"example": "2026-11-20T09:30:01.000Z"}
    )
    latency_ms = fields.Integer(required=True, allow_none=True, metadata={"example": 412})


class PushResponseSchema(ResponseSchema):
    """A push with a page of its receipts."""

    push = fields.Nested(PushSchema, required=True)
    items = fields.List(fields.Nested(PushItemSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True, metadata={"example": None})


class PushesResponseSchema(ResponseSchema):
    """The workspace's pushes, newest first."""

    pushes = fields.List(fields.Nested(PushSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True, metadata={"example": None})
