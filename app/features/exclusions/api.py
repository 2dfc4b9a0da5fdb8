"""/api/exclusions: whom the members of the workspace must not reveal."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from app.domain.callers import Scope
from app.domain.errors import AdminRequired, NotFound, ValidationFailed
from app.domain.exclusions import Reason
from app.engine.exclusions import exclusions
from app.engine.exclusions.exclusions import Entry
from app.features.exclusions import changes
from app.features.exclusions.schemas import (
    AddedSchema,
    EntriesSchema,
    ExclusionsQuery,
    ExclusionsResponseSchema,
    ImportedSchema,
    ListQuery,
)
from app.web.bodies import received_files
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.paging import split
from app.web.services import services
from app.web.sign_in.admins import admin_caller
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("exclusions", __name__, tag="Exclusions")


@blueprint.get("/api/exclusions")
@Operation(errors=(ValidationFailed,))
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.READ)
@blueprint.input(ExclusionsQuery, location="query", arg_name="query")
@blueprint.output(ExclusionsResponseSchema)
def index(query: dict[str, Any]) -> Response:
    """List the exclusions of the workspace, newest first."""
    limit = query["limit"]
    with services().database.reading() as session:
        rows = exclusions.page(session, caller().workspace_id, before=query.get("cursor"), limit=limit + 1)
    page, next_cursor = split(rows, limit)
    return json_response({"exclusions": list(map(changes.to_public, page)), "next_cursor": next_cursor})


@blueprint.post("/api/exclusions")
@Operation(errors=(AdminRequired,), takes_idempotency_key=True)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(EntriesSchema, arg_name="body")
@blueprint.output(AddedSchema)
def add(body: dict[str, list[Entry]]) -> Response:
    """Exclude companies, addresses and profiles; it requires a session of an admin.

    What is excluded already stays as it is. A workspace has at most 100,000.
    """
    added = changes.add(body["entries"])
    return json_response(changes.counts(added), 200, REPLAYED if added.replayed else None)


@blueprint.post("/api/exclusions/import")
@Operation(
    errors=(AdminRequired,),
    takes_idempotency_key=True,
    file_types=(received_files.FORM, received_files.CSV),
    file_examples={received_files.CSV: "domain,reason\nacme.example,customer\n"},
)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(ListQuery, location="query", arg_name="query")
@blueprint.output(ImportedSchema)
def import_list(query: dict[str, Any]) -> Response:
    """Exclude what a CSV file names; it requires a session of an admin.

    Its columns are `domain` or `website`, `email`, `linkedin_url`, `reason` and `note`, in any order. Each
    cell that names a company or a person is an entry. What cannot be read is left out and reported.
    """
    with services().database.reading() as session:
        admin_caller(session)  # before the file is received
    found, same = changes.read_list(Reason(query["reason"]))
    added = changes.add(found.entries, same, part=received_files.PART)
    return json_response(changes.imported(added, found), 200, REPLAYED if added.replayed else None)


@blueprint.delete("/api/exclusions/<exclusion_id>")
@Operation(errors=(AdminRequired, NotFound), path_parameters={"exclusion_id": id_parameter("exc")})
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def remove(exclusion_id: str) -> Response:
    """Remove an exclusion; it requires a session of an admin."""
    changes.remove(exclusion_id)
    return Response(status=204)
