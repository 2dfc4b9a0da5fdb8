"""Responses with jobs: 200 with a finished one, 202 with an unfinished one."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.domain.kinds import KINDS, Kind, Outcome
from app.engine.call_registers import listed_answers
from app.engine.contacts import hidden_values, value_reports
from app.engine.jobs import jobs, shown_results
from app.engine.jobs.job_snapshots import JobSnapshot
from app.engine.jobs.jobs import JobItem
from app.engine.jobs.shown_results import Show
from app.engine.jobs.stored_jobs import StoredJob
from app.web.bodies.body import json_response
from app.web.errors import localized
from app.web.jobs.waiting import WaitPreference
from app.web.languages.texts import in_response
from app.web.services import services
from app.web.sign_in.admins import reads_as_admin

RETRY_AFTER_SECONDS = 1
EMPTY_RESULT: dict[str, Any] = {
    "contact": None,
    "company": None,
    "emails": [],
    "phones": [],
    "sources": {"contact": {}, "company": {}},
    "conflicts": [],
}


def job_response(
    snapshot: JobSnapshot,
    preference: WaitPreference,
    *,
    repeated: bool = False,
    headers: dict[str, str] | None = None,
) -> Response:
    """Return 200 with a finished job, or 202 with where to poll an unfinished one.

    `repeated` means that the job had finished before this request, which was therefore charged nothing.
    """
    job = snapshot.job
    body = job_body(snapshot, repeated=repeated, as_admin=reads_as_admin())
    all_headers = {
        "X-Credits-Charged": str(body["credits"]["charged"]),
        "X-Credits-Balance": str(snapshot.balance.available),
        **(headers or {}),
    }
    if preference.applied:
        all_headers["Preference-Applied"] = preference.applied
    if job.finished_at is not None:
        return json_response(body, 200, all_headers)
    all_headers["Location"] = f"/api/ext/jobs?id={job.id}"
    all_headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return json_response(body, 202, all_headers)


def job_body(snapshot: JobSnapshot, *, repeated: bool, as_admin: bool = False) -> dict[str, Any]:
    """Return the response body of a queued endpoint, for an admin or a member."""
    job = snapshot.job
    owned = repeated and job.outcome == Outcome.FOUND and not KINDS[job.kind].is_free
    return {
        "job": _job(snapshot),
        "result": _items_result(snapshot, as_admin=as_admin)
        if snapshot.items
        else _result(snapshot, as_admin=as_admin),
        "trace": snapshot.trace,
        "credits": {
            "charged": 0 if repeated else job.charged,
            "reserved": 0 if job.finished_at else job.held - job.charged,
            "balance": snapshot.balance.available,
            "already_owned": job.already_owned or owned,
        },
    }


def localized_job(job: dict[str, Any]) -> dict[str, Any]:
    """Return a represented job with its sentences in the language of the request."""
    shown = dict(job)
    if "error" in job:
        shown["error"] = localized(job["error"])
    if jobs.EXCLUDED in job:
        shown[jobs.EXCLUDED] = _with_message(job[jobs.EXCLUDED])
    return shown


def _job(snapshot: JobSnapshot) -> dict[str, Any]:
    body = localized_job(jobs.to_public(snapshot.job))
    body.pop("client_reference", None)
    if snapshot.asking:
        body["progress"] |= {"asking": snapshot.asking}
    reference = snapshot.client_reference
    return body if reference is None else body | {"client_reference": reference}


def _result(snapshot: JobSnapshot, *, as_admin: bool) -> dict[str, Any] | None:
    if (show := shown_results.by_kind().get(snapshot.job.kind)) is not None:
        return _with_reference(snapshot, _shown_now(snapshot.job, show))
    result = _shown(snapshot.job.result, snapshot, as_admin=as_admin)
    if result is None or jobs.EXCLUDED in result:
        return None
    if snapshot.job.kind == Kind.LEADS_BY_WEBSITE_HASH:
        # Not stored with the job: it would be there when the CRM is disconnected.
        result = services().lookups.with_parts_of_leads(snapshot.job.workspace_id, result)
    return _with_reference(snapshot, result)


def _shown_now(job: StoredJob, show: Show) -> dict[str, Any] | None:
    app = services()
    with app.bulkhead.db_slot(job.workspace_id), app.database.reading() as session:
        return show(session, job, app.settings.prices)


def _with_reference(snapshot: JobSnapshot, result: dict[str, Any] | None) -> dict[str, Any] | None:
    if result is None or snapshot.client_reference is None:
        return result
    return {**result, "client_reference": snapshot.client_reference}


def _items_result(snapshot: JobSnapshot, *, as_admin: bool) -> dict[str, Any]:
    """Return the results of an enrichment; results of unfinished items are empty."""
    return {
        "items": [
            {
                "index": item.index,
                "client_reference": item.request.get("client_reference"),
                "outcome": item.outcome,
                **_item_result(item, snapshot, as_admin=as_admin),
                "credits_charged": item.charged,
                "error": item.error and localized(jobs.public_error(snapshot.job, item.error)),
            }
            for item in snapshot.items
        ],
        "next_cursor": None,
    }


def _shown(answer: dict[str, Any] | None, snapshot: JobSnapshot, *, as_admin: bool) -> dict[str, Any] | None:
    """Return an answer as the reader may see it now: without what rules hide, with registers and reports."""
    visible = hidden_values.without(answer, snapshot.hidden)
    listed = listed_answers.shown(visible, snapshot.listings, as_admin=as_admin)
    return value_reports.marked(listed, snapshot.reports)


def _item_result(item: JobItem, snapshot: JobSnapshot, *, as_admin: bool) -> dict[str, Any]:
    result = _shown(item.result, snapshot, as_admin=as_admin) or EMPTY_RESULT
    if jobs.EXCLUDED in result:
        return EMPTY_RESULT | {jobs.EXCLUDED: _with_message(jobs.public_exclusion(result))}
    if jobs.SKIPPED in result:
        skipped = _with_message(jobs.public_skip(item.outcome, result))
        return EMPTY_RESULT | result | {jobs.SKIPPED: skipped}
    return result


def _with_message(reason: dict[str, Any]) -> dict[str, Any]:
    """Return why nothing was done, with its message in the language of the request."""
    return reason | {"message": in_response(reason["message"])}
