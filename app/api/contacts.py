"""/api/contacts: the people that the workspace revealed or saved, as pages and as files."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, post_load, validate

from app.domain.callers import Scope
from app.domain.errors import ContactNotFound, ValidationFailed
from app.domain.findings import EmailStatus
from app.domain.ids import EXAMPLES
from app.engine.owned import owned_contacts
from app.engine.owned.owned_contacts import OwnedContact
from app.engine.owned.owned_filters import Order, Selection, Sort
from app.web.bodies.body import json_response
from app.web.bodies.downloads import FORMATS, json_file
from app.web.bodies.idempotency_header import REPLAYED
from app.web.operations import Operation
from app.web.owned import owned_changes
from app.web.owned.owned_pages import download, may_see_values, parse_cursor, read_page
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import NonBlankString, ResponseSchema, UtcTime
from app.web.schemas.owned_schemas import NotesSchema, OwnedContactResponseSchema, OwnedContactSchema
from app.web.schemas.paging import page_size
from app.web.schemas.queries import QuerySchema
from app.web.services import services
from app.web.sign_in.admins import acts_as_admin
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("contacts", __name__, tag="Contacts and lists")

DEFAULT_LIMIT = 50
MAX_LIMIT = 100
ME = "me"


class ContactsQuery(QuerySchema):
    """Filters, order and page of the people; `format` returns all that match as a file."""

    list = NonBlankString(metadata={"description": "The id or the name of a list.", "example": "Prospects"})
    tag = NonBlankString(metadata={"example": "engines"})
    owner = NonBlankString(metadata={"description": "The id of an account, or `me`.", "example": ME})
    company = NonBlankString(
        metadata={"description": "A part of a company's name, or its domain.", "example": "acme.example"}
    )
    q = NonBlankString(
        metadata={
            "description": "Beginnings of words of a person's name, in any order.",
            "example": "Lovelace",
        }
    )
    status = fields.Enum(
        EmailStatus, by_value=True, metadata={"description": "Of a revealed address.", "example": "valid"}
    )
    revealed_since = UtcTime(metadata={"example": "2026-11-01T00:00:00Z"})
    sort = fields.Enum(Sort, by_value=True, load_default=Sort.REVEALED_AT)
    order = fields.Enum(
        Order, by_value=True, metadata={"description": "By default, latest or alphabetically first."}
    )
    limit = page_size(DEFAULT_LIMIT, MAX_LIMIT)
    cursor = fields.String(metadata={"description": "`next_cursor` of the previous page in the same order."})
    format = fields.String(
        validate=validate.OneOf(FORMATS),
        metadata={"description": "Return a file with everything that matches, without pages."},
    )

    @post_load
    def _selection(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        names = {"list": "list_name", "q": "name"}
        paging = {name: data.pop(name, None) for name in ("limit", "cursor", "format")}
        if "order" not in data:
            data["order"] = Order.ASCENDING if data["sort"] in {Sort.NAME, Sort.COMPANY} else Order.DESCENDING
        return paging | {"selection": {names.get(name, name): value for name, value in data.items()}}


class ContactsResponseSchema(ResponseSchema):
    """A page of people."""

    contacts = fields.List(fields.Nested(OwnedContactSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True, metadata={"example": None})


PERSON_ID = {
    "contact_id": {
        "schema": {"type": "string", "pattern": "^(con|prf)_[0-9a-v]{24}$"},
        "example": EXAMPLES["con"],
        "description": "The id of a contact or of a saved profile.",
    }
}


@blueprint.get("/api/contacts")
@Operation(errors=(ValidationFailed,), other_body=json_file("contacts"), sends_file=True)
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.READ)
@blueprint.input(ContactsQuery, location="query", arg_name="query")
@blueprint.output(ContactsResponseSchema)
def index(query: dict[str, Any]) -> Response:
    """List the people that the workspace revealed or saved.

    A person who was revealed and saved is one row. A page may be shorter than its limit, because suppressed
    people are left out. `format=csv` returns columns that `flask contacts import` recognises. A key needs the
    scope `reveal` to see the revealed values.
    """
    selection = _selection(query["selection"])
    if query["format"]:
        return download(selection, query["format"])
    after = parse_cursor(query["cursor"], selection)
    page = read_page(selection, after=after, limit=query["limit"])
    return json_response(
        {
            "contacts": [_public(person) for person in page.contacts],
            "next_cursor": page.next_cursor and page.next_cursor.text(selection),
        }
    )


@blueprint.get("/api/contacts/<contact_id>")
@Operation(errors=(ContactNotFound,), path_parameters=PERSON_ID)
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.READ)
@blueprint.output(OwnedContactResponseSchema)
def show(contact_id: str) -> Response:
    """Get one person that the workspace revealed or saved."""
    with services().database.reading() as session:
        who = caller()
        found = owned_contacts.get(
            session, who.workspace_id, contact_id, as_admin=acts_as_admin(session, who)
        )
        return json_response(_public(found))


@blueprint.post("/api/contacts/<contact_id>")
@Operation(errors=(ContactNotFound,), takes_idempotency_key=True, path_parameters=PERSON_ID)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.WRITE)
@blueprint.input(NotesSchema, arg_name="body")
@blueprint.output(OwnedContactResponseSchema)
def annotate(contact_id: str, body: dict[str, Any]) -> Response:
    """Replace the tags or the note of a person, free of charge.

    A stored contact that was not saved yet is saved by that.
    """
    person, replayed = owned_changes.annotate(contact_id, body)
    return json_response(_public(person), 200, REPLAYED if replayed else None)


def _selection(given: dict[str, Any]) -> Selection:
    if given.get("owner") == ME:
        given["owner"] = caller().account_id
    return Selection(**given)


def _public(person: OwnedContact) -> dict[str, Any]:
    return person.public(with_values=may_see_values())
