"""GET /api/jobs: the jobs of the workspace by filters, and their receipts as a file."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, post_load, validate

from app.domain import kinds
from app.domain.errors import ValidationFailed
from app.domain.kinds import KINDS, Outcome, Status
from app.engine.jobs import job_history, job_receipts
from app.engine.jobs.job_receipts import JobFilter
from app.web.bodies.body import json_response
from app.web.bodies.downloads import FORMATS, json_file
from app.web.jobs import receipt_files
from app.web.jobs.job_responses import localized_job
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import NonBlankString, ResponseSchema, UtcTime
from app.web.schemas.job_schemas import JobSchema, TraceSchema
from app.web.schemas.paging import IdCursor, page_size
from app.web.schemas.queries import QuerySchema
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("workspace_jobs", __name__, tag="Jobs")

DEFAULT_LIMIT = 50
MAX_LIMIT = 100
ME = "me"


class WorkspaceJobsQuery(QuerySchema):
    """Filters and page of the jobs; `format` returns the receipts of all that match as a file."""

    kind = fields.String(validate=validate.OneOf(KINDS))
    status = fields.Enum(Status, by_value=True)
    outcome = fields.Enum(Outcome, by_value=True)
    account = NonBlankString(metadata={"description": "The id of an account, or `me`.", "example": ME})
    since = UtcTime(metadata={"description": "Created since then.", "example": "2026-11-01T00:00:00Z"})
    limit = page_size(DEFAULT_LIMIT, MAX_LIMIT)
    cursor = IdCursor("job")
    format = fields.String(
        validate=validate.OneOf(FORMATS),
        metadata={"description": "Return a file of receipts, which name no person, without pages."},
    )

    @post_load
    def _filter(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        paging = {name: data.pop(name, None) for name in ("limit", "cursor", "format")}
        return paging | {"filter": data}


class ListedJobSchema(JobSchema):
    """A job with its receipt."""

    already_owned = fields.Boolean(required=True, metadata={"example": False})
    trace = fields.List(fields.Nested(TraceSchema), required=True)


class WorkspaceJobsSchema(ResponseSchema):
    """A page of jobs, newest first."""

    jobs = fields.List(fields.Nested(ListedJobSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True, metadata={"example": None})


@blueprint.get("/api/jobs")
@Operation(errors=(ValidationFailed,), other_body=json_file("jobs"), sends_file=True)
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.input(WorkspaceJobsQuery, location="query", arg_name="query")
@blueprint.output(WorkspaceJobsSchema)
def index(query: dict[str, Any]) -> Response:
    """List the jobs of the workspace with their receipts, newest first.

    A key sees only the kinds of jobs that its scopes allow. The file of `format` contains no personal data.
    """
    given = query["filter"]
    if given.get("account") == ME:
        given["account"] = caller().account_id
    job_filter = JobFilter(kinds=kinds.visible_to(caller().scopes), **given)
    workspace_id = caller().workspace_id
    if query["format"] == "json":
        return receipt_files.in_json(workspace_id, job_filter)
    if query["format"]:
        return receipt_files.table(workspace_id, job_filter, query["format"])
    limit = query["limit"]
    with services().database.reading() as session:
        page = job_receipts.page(session, workspace_id, job_filter, before=query["cursor"], limit=limit + 1)
        described = job_history.describe(session, workspace_id, page[:limit])
    shown = [
        localized_job(entry) | {"already_owned": job.already_owned, "trace": job.trace}
        for entry, job in zip(described, page, strict=False)
    ]
    return json_response({"jobs": shown, "next_cursor": page[limit - 1].id if len(page) > limit else None})
