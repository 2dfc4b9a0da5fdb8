"""/admin/jobs: the requests of the workspace, how they were worked on, and those to ask again."""

from __future__ import annotations

from flask import Response, request

from app.domain import kinds
from app.domain.kinds import Status
from app.domain.messages import Message
from app.engine.jobs import job_history, jobs
from app.pages import repeats
from app.web.pages import paging
from app.web.pages.access import admin_only
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("admin_jobs", __name__)


@blueprint.get("/admin/jobs")
@admin_only
@limited(Policy.READ)
def index() -> Response:
    """List the requests with their attempts, provider calls and costs, newest first."""
    chosen = request.args.get("status", "")
    before = paging.cursor("job")
    with services().database.reading() as session:
        rows = jobs.latest(
            session,
            caller().workspace_id,
            status=chosen if chosen in set(Status) else None,
            before=before,
            limit=paging.ROWS + 1,
            kinds=kinds.charged(),
        )
        shown, older = paging.split(rows, lambda job: job.id)
        described = job_history.describe_with_names(session, caller().workspace_id, shown)
    return page(
        "admin/jobs.html",
        jobs=[
            (job, body, repeats.is_repeatable(job, ())) for job, body in zip(shown, described, strict=True)
        ],
        older=older,
        chosen=chosen,
        statuses=[(status.value, Message(status.value)) for status in Status],
    )
