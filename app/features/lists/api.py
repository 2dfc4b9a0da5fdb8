"""/api/lists: the lists of the workspace, and who is on them."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, post_load, validate

from app.domain.callers import Scope
from app.domain.errors import ContactNotFound, NotAProfileUrl, NotFound, ValidationFailed
from app.domain.ids import EXAMPLES
from app.engine.contacts.saved import contact_lists
from app.features.lists import changes
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import NestedObject, ResponseSchema, StrictSchema
from app.web.schemas.owned_schemas import ContactListResponseSchema, ContactListSchema, NamedListSchema
from app.web.schemas.paging import page_size, split
from app.web.schemas.queries import QuerySchema
from app.web.schemas.saved_profile_schemas import ProfileSchema, snapshot_of
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("lists", __name__, tag="Contacts and lists")

DEFAULT_LIMIT = 50
MAX_LIMIT = 100
MAX_CHANGES = 100
LIST_ID = {"list_id": id_parameter("lst")}


class ListsQuery(QuerySchema):
    """The page of the lists."""

    limit = page_size(DEFAULT_LIMIT, MAX_LIMIT)
    cursor = fields.String(metadata={"description": "`next_cursor` of the previous page."})


class ListsResponseSchema(ResponseSchema):
    """A page of lists, by name."""

    lists = fields.List(fields.Nested(ContactListSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True, metadata={"example": None})


class MembersSchema(StrictSchema):
    """People to add to a list and to remove from it, by the id of the contact or of the saved profile.

    Those in `profiles` are saved first, as by `POST /api/ext/linkedin-save`, and then added.
    """

    add = fields.List(
        fields.String(),
        load_default=list,
        validate=validate.Length(max=MAX_CHANGES),
        metadata={"example": [EXAMPLES["con"]]},
    )
    remove = fields.List(
        fields.String(),
        load_default=list,
        validate=validate.Length(max=MAX_CHANGES),
        metadata={"example": []},
    )
    profiles = fields.List(
        NestedObject(ProfileSchema),
        load_default=list,
        validate=validate.Length(max=MAX_CHANGES),
        metadata={
            "example": [],
            "description": "People to save and to add. Who is suppressed is neither saved nor added.",
        },
    )

    @post_load
    def _snapshots(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        return data | {"profiles": [snapshot_of(profile) for profile in data["profiles"]]}


class MembersResponseSchema(ResponseSchema):
    """What a change of a list did."""

    added = fields.Integer(required=True, metadata={"example": 1, "description": "People new to the list."})
    removed = fields.Integer(required=True, metadata={"example": 0})
    suppressed = fields.Integer(
        required=True,
        metadata={"example": 0, "description": "People of `profiles` who are suppressed, and left out."},
    )


KNOWN_LIST: dict[int | str, dict[str, str | dict[str, dict[str, Any]]]] = {
    200: {
        "description": "The workspace has a list of this name.",
        "content": {"application/json": {"schema": ContactListResponseSchema}},
    }
}


@blueprint.get("/api/lists")
@Operation(errors=(ValidationFailed,))
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.READ)
@blueprint.input(ListsQuery, location="query", arg_name="query")
@blueprint.output(ListsResponseSchema)
def index(query: dict[str, Any]) -> Response:
    """List the lists of the workspace, by name."""
    limit = query["limit"]
    with services().database.reading() as session:
        after = query.get("cursor")
        rows = contact_lists.page(session, caller().workspace_id, after=after, limit=limit + 1)
    page, next_cursor = split(rows, limit, "name")
    return json_response({"lists": list(map(contact_lists.public, page)), "next_cursor": next_cursor})


@blueprint.post("/api/lists")
@Operation(takes_idempotency_key=True)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.WRITE)
@blueprint.input(NamedListSchema, arg_name="body")
@blueprint.output(ContactListResponseSchema, status_code=201, description="The list is new.")
@blueprint.doc(responses=KNOWN_LIST)
def create(body: dict[str, Any]) -> Response:
    """Create a list; if the workspace has one of this name, that one is returned."""
    created = changes.create(body["name"])
    return json_response(
        created.shown, 201 if created.is_new else 200, REPLAYED if created.replayed else None
    )


@blueprint.post("/api/lists/<list_id>")
@Operation(errors=(NotFound,), takes_idempotency_key=True, path_parameters=LIST_ID)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.WRITE)
@blueprint.input(NamedListSchema, arg_name="body")
@blueprint.output(ContactListResponseSchema)
def rename(list_id: str, body: dict[str, Any]) -> Response:
    """Rename a list."""
    renamed = changes.rename(list_id, body["name"])
    return json_response(renamed.shown, 200, REPLAYED if renamed.replayed else None)


@blueprint.delete("/api/lists/<list_id>")
@Operation(errors=(NotFound,), path_parameters=LIST_ID)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def delete(list_id: str) -> Response:
    """Delete a list; the people on it stay saved."""
    changes.delete(list_id)
    return Response(status=204)


@blueprint.post("/api/lists/<list_id>/contacts")
@Operation(
    errors=(NotFound, ContactNotFound, NotAProfileUrl), takes_idempotency_key=True, path_parameters=LIST_ID
)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.WRITE)
@blueprint.input(MembersSchema, arg_name="body")
@blueprint.output(MembersResponseSchema)
def change_members(list_id: str, body: dict[str, Any]) -> Response:
    """Add people to a list and remove others, free of charge.

    A stored contact that was not saved yet is saved by that, and so is a profile in `profiles`. Repeating a
    change is harmless: a list has each person once.
    """
    change = changes.change_members(list_id, **body)
    counts = {"added": change.added, "removed": change.removed, "suppressed": change.suppressed}
    return json_response(counts, 200, REPLAYED if change.replayed else None)
