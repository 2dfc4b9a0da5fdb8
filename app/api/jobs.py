"""GET /api/ext/jobs: poll one job, or list the latest jobs of the workspace."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema
from flask import Response
from marshmallow import fields, validate

from app.api.docs.operations import documented
from app.api.http.auth import bearer, caller
from app.api.http.body import json_response
from app.api.http.job_requests import poll
from app.api.http.rate_limits import Policy, limited
from app.api.http.services import services
from app.api.schemas.fields import AsciiInteger
from app.api.schemas.job_schemas import JobResponseSchema
from app.core.jobs import job_history, jobs
from app.domain import ids
from app.domain.errors import FieldError, JobNotFound, ValidationFailed
from app.domain.kinds import Status

blueprint = APIBlueprint("jobs", __name__, tag="Jobs")

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


class JobsQuery(Schema):
    """The id of one job, or the filter and page of a list."""

    id = fields.String(metadata={"description": "Poll this job.", "example": ids.EXAMPLES["job"]})
    status = fields.String(validate=validate.OneOf([status.value for status in Status]))
    limit = AsciiInteger(load_default=DEFAULT_LIMIT, validate=validate.Range(min=1, max=MAX_LIMIT))
    cursor = fields.String(
        metadata={"description": "`next_cursor` of the previous page.", "pattern": "^job_[0-9a-v]{24}$"}
    )


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
@documented(JobNotFound, ValidationFailed, other_body=JOB_LIST)
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
    cursor = query.get("cursor")
    if cursor is not None and not ids.is_id(cursor, "job"):
        raise ValidationFailed(errors=(FieldError("/cursor", "Use next_cursor of the previous page."),))
    limit = query["limit"]
    with services().database.reading() as session:
        page = jobs.latest(
            session,
            caller().workspace_id,
            status=query.get("status"),
            before=cursor,
            limit=limit + 1,
            kinds=caller().kinds,
        )
        described = job_history.describe(session, caller().workspace_id, page[:limit])
    next_cursor = page[limit - 1].id if len(page) > limit else None
    return {"jobs": described, "next_cursor": next_cursor}
