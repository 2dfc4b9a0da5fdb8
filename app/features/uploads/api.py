"""/api/uploads: upload a list, map its columns, see the price, start it, and download the result."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from apiflask import APIBlueprint
from flask import Response

from app.domain.audit_actions import Action
from app.domain.callers import Scope
from app.domain.errors import PurposeRequired, UploadNotFound, UploadNotReady, ValidationFailed
from app.features.uploads import actions, representations, results, uploads
from app.features.uploads.result_rows import ResultRow
from app.features.uploads.schemas import (
    FileSchema,
    MappingSchema,
    ResultQuery,
    ResultResponseSchema,
    StartSchema,
    UploadSchema,
    UploadsQuery,
    UploadsResponseSchema,
)
from app.features.uploads.tables import Upload
from app.infra.database.session import Session
from app.web import costs
from app.web.bodies import received_files
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.bodies.received_files import received_file
from app.web.export_records import record_export
from app.web.languages import negotiation
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.paging import split
from app.web.services import services
from app.web.sign_in.admins import acts_as_admin
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("uploads", __name__, tag="Uploads")

PATH = {"upload_id": id_parameter("upl")}
FILE_TYPES = (received_files.FORM, received_files.CSV, received_files.XLSX)
LIST = "Full name;Company;Website\nAda Example;Acme;acme.example\n"
REPLAY: dict[int | str, Any] = {
    200: {
        "description": "A replay of the creating request: the upload as it is now.",
        "content": {"application/json": {"schema": UploadSchema}},
    }
}
RESULT: dict[int | str, Any] = {
    200: {
        "description": "The columns and rows of the file in their order, and what was found for each row.",
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            received_files.XLSX: {"schema": {"type": "string", "format": "binary"}},
            "application/json": {"schema": ResultResponseSchema},
        },
    }
}


@blueprint.post("/api/uploads")
@Operation(
    errors=(UploadNotReady,),
    takes_idempotency_key=True,
    file_types=FILE_TYPES,
    file_examples={received_files.CSV: LIST},
)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.WRITE)
@blueprint.input(FileSchema, location="query", arg_name="query")
@blueprint.output(UploadSchema, status_code=201, description="The upload; a worker reads its file next.")
@blueprint.doc(responses=REPLAY)
def create_upload(query: dict[str, Any]) -> Response:
    """Upload a list of people, as a CSV file or an Excel workbook (XLSX).

    With `operation=verify`, a column of addresses, one of phone numbers, or both are verified, and the file
    comes back with the verdicts.

    Poll the upload until its status is `ready`: then it has a proposed mapping and a price. If it is
    `mapping`, no column was recognised. `format` says how the file was read; if that is wrong, upload it
    again with the encoding, the delimiter or `has_header`. The country of phone numbers without a country
    code can also be named with the mapping.
    """
    options = {name: option for name, option in query.items() if name != "name"}
    with received_file(services().settings.upload_max_mb) as file:
        upload, is_replay = actions.create(file, options)
    return json_response(upload, 200, REPLAYED) if is_replay else json_response(upload, 201)


@blueprint.get("/api/uploads")
@Operation(errors=(ValidationFailed,))
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.READ)
@blueprint.input(UploadsQuery, location="query", arg_name="query")
@blueprint.output(UploadsResponseSchema)
def list_uploads(query: dict[str, Any]) -> Response:
    """List the workspace's uploads, newest first."""
    with services().database.reading() as session:
        rows = uploads.latest(
            session, caller().workspace_id, before=query.get("cursor"), limit=query["limit"] + 1
        )
        page, next_cursor = split(rows, query["limit"])
        described = [representations.summary(session, upload) for upload in page]
    return json_response({"uploads": described, "next_cursor": next_cursor})


@blueprint.get("/api/uploads/<upload_id>")
@Operation(errors=(UploadNotFound,), path_parameters=PATH)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.READ)
@blueprint.output(UploadSchema)
def get_upload(upload_id: str) -> Response:
    """Return an upload: its columns, price, progress and cost."""
    with services().database.reading() as session:
        upload = uploads.get(session, caller().workspace_id, upload_id)
        return json_response(representations.describe(session, upload))


@blueprint.put("/api/uploads/<upload_id>/mapping")
@Operation(errors=(UploadNotFound, UploadNotReady), path_parameters=PATH)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.WRITE)
@blueprint.input(MappingSchema, arg_name="body")
@blueprint.output(UploadSchema)
def map_upload(upload_id: str, body: dict[str, Any]) -> Response:
    """Set the field of each column and what to find; the upload is then priced again.

    Without `country`, the one that was named before stays; null removes it.
    """
    return json_response(actions.map_columns(upload_id, body))


@blueprint.post("/api/uploads/<upload_id>/start")
@Operation(
    errors=(UploadNotFound, UploadNotReady, PurposeRequired), takes_idempotency_key=True, path_parameters=PATH
)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.SPEND)
@blueprint.input(StartSchema, arg_name="body")
@blueprint.output(UploadSchema)
def start_upload(upload_id: str, body: dict[str, Any]) -> Response:
    """Start an upload, or continue a paused one; started again while it runs, it stays as it is.

    Workers enrich its people in jobs of 100, a few at a time. It pauses when the credits run out,
    `max_credits` is reached, or a purpose must be stated for some of them.
    """
    upload, replayed = actions.start(upload_id, body)
    return json_response(upload, 200, REPLAYED if replayed else None)


@blueprint.post("/api/uploads/<upload_id>/cancel")
@Operation(errors=(UploadNotFound,), takes_idempotency_key=True, path_parameters=PATH)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.WRITE)
@blueprint.output(UploadSchema)
def cancel_upload(upload_id: str) -> Response:
    """Cancel an upload: open jobs finish, and no further ones are submitted."""
    upload, replayed = actions.cancel(upload_id)
    return json_response(upload, 200, REPLAYED if replayed else None)


@blueprint.get("/api/uploads/<upload_id>/result")
@Operation(errors=(UploadNotFound, UploadNotReady, ValidationFailed), path_parameters=PATH, sends_file=True)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.READ)
@blueprint.input(ResultQuery, location="query", arg_name="query")
@blueprint.doc(responses=RESULT)
def get_upload_result(upload_id: str, query: dict[str, Any]) -> Response:
    """Return the result as a file, or a page of it as JSON; also of an upload that is not finished.

    A workbook comes back as a workbook, and a text file with its separator and its encoding. The cells of
    the file come back as they were. The notes are in the language of the account, in JSON in that of
    `Accept-Language`. In the columns that are added to a text file, what a spreadsheet program
    might run as a formula has an apostrophe in front of it.
    """
    with services().database.reading() as session:
        upload = uploads.get(session, caller().workspace_id, upload_id)
        if not upload.header:
            raise UploadNotReady
    if query["format"] != "json":
        return actions.download_result(upload, query["format"])
    record_export(Action.EXPORT_UPLOAD, upload.id)
    with services().database.reading() as session:
        response = json_response(_page(session, upload, query["cursor"], query["limit"]))
    return negotiation.depends_on_language(response)


@blueprint.delete("/api/uploads/<upload_id>")
@Operation(errors=(UploadNotFound,), path_parameters=PATH)
@blueprint.auth_required(bearer, roles=[Scope.ENRICH])
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def delete_upload(upload_id: str) -> Response:
    """Delete an upload with its rows and its result at once; its open jobs finish."""
    actions.delete(upload_id)
    return Response(status=204)


def _page(session: Session, upload: Upload, first: int, limit: int) -> dict[str, Any]:
    rows = results.rows(session, upload, first=first, limit=limit, as_admin=acts_as_admin(session, caller()))
    is_last = not rows or rows[-1].number + 1 >= upload.row_count
    shown = results.without_costs(rows) if costs.are_hidden() else rows
    translated = results.in_language(shown, negotiation.language())
    return {"rows": list(map(_to_json, translated)), "next_cursor": None if is_last else rows[-1].number + 1}


def _to_json(row: ResultRow) -> dict[str, Any]:
    values = asdict(row)
    return {"row": values.pop("number") + 1, **values}
