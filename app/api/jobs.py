"""GET /api/ext/jobs: poll one job, or list the latest jobs of the workspace."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema
from flask import Response
from marshmallow import fields, validate

from app.domain import ids, kinds
from app.domain.errors import JobNotFound, ValidationFailed
from app.domain.kinds import KINDS, Status
from app.engine.jobs import job_history, jobs
from app.web.bodies.body import json_response
from app.web.jobs.job_requests import poll
from app.web.jobs.job_responses import localized_job
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.job_schemas import JobResponseSchema
from app.web.schemas.paging import IdCursor, page_size, split
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("jobs", __name__, tag="Jobs")

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


class JobsQuery(Schema):
    """The id of one job, or the filter and page of a list."""

    id = fields.String(metadata={"description": "Poll this job.", "example": ids.EXAMPLES["job"]})
    kind = fields.List(
        fields.String(validate=validate.OneOf(KINDS)),
        metadata={"description": "List jobs of this kind; may be repeated."},
    )
    status = fields.String(validate=validate.OneOf([status.value for status in Status]))
    limit = page_size(DEFAULT_LIMIT, MAX_LIMIT)
    cursor = IdCursor("job")


JOB_LIST: dict[str, Any] = {
    "title": "The latest jobs",
    "type": "object",
    "required": ["jobs", "next_cursor"],
    "properties": {
        "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/JobSchema"}},
        "next_cursor": {"type": ["string", "null"]},
    },
}
"""The schema of a 200 response without `id`."""


@blueprint.get("/api/ext/jobs")
@Operation(errors=(JobNotFound, ValidationFailed), other_body=JOB_LIST)
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.input(JobsQuery, location="query", arg_name="query")
@blueprint.output(JobResponseSchema)
def list_jobs(query: dict[str, Any]) -> Response:
    """Poll a job, or list the latest jobs.

    With `id`: 200 once the job has finished, 202 before; `Prefer: wait=N` waits for it. Without `id`: the
    workspace's jobs, newest first. An API key needs the scope of the job's kind: `reveal` for reveals,
    `enrich` for enrichments, `lookup` for hash lookups. Other jobs are reported as not found (404).
    """
    if "id" in query:
        if not ids.is_id(query["id"], "job"):
            raise JobNotFound
        return poll(query["id"])
    return json_response(_page(query))


def _page(query: dict[str, Any]) -> dict[str, Any]:
    """Return the jobs of the page that the query asks for, and the cursor of the next one."""
    visible = kinds.visible_to(caller().scopes)
    with services().database.reading() as session:
        rows = jobs.latest(
            session,
            caller().workspace_id,
            status=query.get("status"),
            before=query.get("cursor"),
            limit=query["limit"] + 1,
            kinds=visible & set(query.get("kind", visible)),
        )
        page, next_cursor = split(rows, query["limit"])
        described = job_history.describe(session, caller().workspace_id, page)
    return {"jobs": list(map(localized_job, described)), "next_cursor": next_cursor}
