"""/api/address-books: send, replace, list and delete the address books of the workspace."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from app.domain.callers import Scope
from app.domain.errors import NotFound
from app.features.address_books import books, changes
from app.features.address_books.schemas import (
    AddressBookSchema,
    AddressBooksResponseSchema,
    NewBookSchema,
    ReplacementSchema,
)
from app.web.bodies import received_files
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("address_books", __name__, tag="Address books")

PATH = {"book_id": id_parameter("adb")}
FILE_TYPES = (received_files.FORM, *changes.CONTACTS.types)
EXPORT = "Name,E-mail 1 - Value\nAda Example,ada@acme.example\n"
NEWER_EXPORT = EXPORT + "Max Example,max@acme.example\n"
KNOWN: dict[int | str, Any] = {
    200: {
        "description": "The workspace has an address book of this file: the book as it is.",
        "content": {"application/json": {"schema": AddressBookSchema}},
    }
}


@blueprint.post("/api/address-books")
@Operation(
    takes_idempotency_key=True,
    file_types=FILE_TYPES,
    file_examples={received_files.CSV: EXPORT},
)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.WRITE)
@blueprint.input(NewBookSchema, location="query", arg_name="query")
@blueprint.output(AddressBookSchema, status_code=201, description="The book; a worker reads its file next.")
@blueprint.doc(responses=KNOWN)
def create(query: dict[str, Any]) -> Response:
    """Send an export of contacts: vCard, or CSV of Google Contacts, Outlook or another program.

    Its people are found by lookups of your workspace, free, and never shared. Poll the book until its status
    is `ready`. A file that the workspace has sent before changes nothing.
    """
    sent = changes.create(query)
    return json_response(sent.book, 201 if sent.is_new else 200, REPLAYED if sent.replayed else None)


@blueprint.get("/api/address-books")
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.READ)
@blueprint.output(AddressBooksResponseSchema)
def index() -> Response:
    """List the address books of the workspace, oldest first."""
    with services().database.reading() as session:
        found = books.of_workspace(session, caller().workspace_id)
        return json_response({"address_books": list(map(changes.describe, found))})


@blueprint.get("/api/address-books/<book_id>")
@Operation(errors=(NotFound,), path_parameters=PATH)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.READ)
@blueprint.output(AddressBookSchema)
def show(book_id: str) -> Response:
    """Return an address book: how far its file is read, or what it has."""
    with services().database.reading() as session:
        return json_response(changes.describe(books.get(session, caller().workspace_id, book_id)))


@blueprint.put("/api/address-books/<book_id>/file")
@Operation(
    errors=(NotFound,),
    path_parameters=PATH,
    file_types=FILE_TYPES,
    file_examples={received_files.CSV: NEWER_EXPORT},
)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.WRITE)
@blueprint.input(ReplacementSchema, location="query", arg_name="query")
@blueprint.output(AddressBookSchema)
def replace(book_id: str, query: dict[str, Any]) -> Response:
    """Send a newer export of an address book; its people take the place of those before once all are read."""
    return json_response(changes.replace(book_id, query).book)


@blueprint.delete("/api/address-books/<book_id>")
@Operation(errors=(NotFound,), path_parameters=PATH)
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def remove(book_id: str) -> Response:
    """Delete an address book with its people at once."""
    changes.remove(book_id)
    return Response(status=204)
