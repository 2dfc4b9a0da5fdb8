"""/history: the requests of the workspace, and the receipt of each with what it found."""

from __future__ import annotations

from typing import Any

from flask import Response, flash, request

from app.domain import kinds
from app.domain.errors import PurposeRequired, ValidationFailed
from app.domain.kinds import Status
from app.engine.jobs import job_history, jobs
from app.engine.jobs.job_receipts import JobFilter
from app.engine.jobs.jobs import PURPOSE
from app.pages import job_pages, repeats
from app.web.jobs import receipt_files
from app.web.pages import forms, paging, purpose_choices, value_words
from app.web.pages.access import signed_in
from app.web.pages.blueprint import PageBlueprint
from app.web.pages.rendering import go_to, page
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import caller

blueprint = PageBlueprint("history", __name__)

STATUSES = [(status.value, value_words.result(status.value, None).text) for status in Status]


@blueprint.get("/history")
@signed_in
@limited(Policy.READ)
def index() -> Response:
    """List the requests of the workspace, newest first."""
    chosen = request.args.get("status", "")
    status = chosen if chosen in set(Status) else None
    before = paging.cursor("job")
    with services().database.reading() as session:
        rows = jobs.latest(
            session,
            caller().workspace_id,
            status=status,
            before=before,
            limit=paging.ROWS + 1,
            kinds=kinds.charged(),  # not what the extension asks about each website that someone visits
        )
        shown, older = paging.split(rows, lambda job: job.id)
        described = job_history.describe_with_names(session, caller().workspace_id, shown)
    return page("history.html", jobs=described, older=older, chosen=status or "", statuses=STATUSES)


@blueprint.get("/history.csv", defaults={"file_format": "csv"})
@blueprint.get("/history.xlsx", defaults={"file_format": "xlsx"})
@signed_in
@limited(Policy.READ)
def download(file_format: str) -> Response:
    """Download the receipts of all requests, which name no person."""
    job_filter = JobFilter(kinds=kinds.charged())
    return receipt_files.table(caller().workspace_id, job_filter, file_format, for_spreadsheet=True)


@blueprint.get("/history/<job_id>")
@signed_in
@limited(Policy.READ)
def receipt(job_id: str) -> Response:
    """Show what a request found, which providers were asked, and what it cost."""
    return page("receipt.html", shown=job_pages.read(job_id), purposes=purpose_choices.offered())


@blueprint.post("/history/<job_id>/again")
@signed_in
@limited(Policy.SPEND)
def again(job_id: str) -> Response:
    """Submit the request again, as a new one; for the same purpose, unless the form has another one."""
    place = "search.revealed" if forms.text("place") == "person" else "history.receipt"
    snapshot = job_pages.snapshot_of(job_id)
    if not repeats.is_repeatable(snapshot.job, snapshot.items):
        flash(
            "This request cannot be repeated: it found something, or its details have been deleted.",
            "failure",
        )
        return go_to(place, job_id=job_id)
    stored = snapshot.job.request.get(PURPOSE)
    purpose = forms.text("purpose") or (stored if stored in services().settings.purposes else None)
    try:
        answer: dict[str, Any] = repeats.repeat(snapshot.job, snapshot.items, purpose)
    except (ValidationFailed, PurposeRequired):
        flash(purpose_choices.MISSING, "failure")
        return go_to(place, job_id=job_id)
    if answer["job"]["id"] == job_id:
        flash("The answer is still fresh, so no one was asked again. Nothing was charged.")
    return go_to(place, job_id=answer["job"]["id"])
