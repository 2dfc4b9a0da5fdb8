"""Responses of queued endpoints: submit the job, wait for it, and respond with 200 or 202."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any

from flask import Response

from app.api.http import admission, waiting
from app.api.http.auth import caller
from app.api.http.body import json_response
from app.api.http.idempotency_header import REPLAYED, begin, finish
from app.api.http.services import AppServices, services
from app.api.http.waiting import JobSnapshot, WaitPreference, wait_budget, wait_for
from app.core.jobs import jobs, submission
from app.core.jobs.jobs import Job, JobItem
from app.core.jobs.submission import Freshness, JobRequest, SubmitResult
from app.domain.kinds import Kind, Outcome
from app.infra import database_clock
from app.settings import Settings

RETRY_AFTER_SECONDS = 1
FREE_KINDS = frozenset({Kind.COMPANY_BY_HASH, Kind.LEADS_BY_WEBSITE_HASH})
EMPTY_RESULT: dict[str, Any] = {
    "contact": None,
    "company": None,
    "emails": [],
    "phones": [],
    "sources": {"contact": {}, "company": {}},
    "conflicts": [],
}


def submit_and_wait(
    request: JobRequest, *, private: bool = False, client_reference: str | None = None
) -> Response:
    """Submit the job, send it to the workers, wait as long as the caller prefers, and return the response.

    A private job is deleted once its result is sent, and no idempotency key is stored for it. The response
    carries this caller's `client_reference`, even if the job was first submitted with another one.

    Raises:
        InsufficientCredits, IdempotencyKeyReused: nothing was stored.
        Unavailable: nothing was stored, or the detail names the job that was accepted.

    """
    app = services()
    with ExitStack() as subscriptions, wait_budget(app) as preference:
        # Before the job exists: once it is committed, the message of another job may lead a worker to it.
        finished = subscriptions.enter_context(app.listener.subscribe(request.job_id))
        submitted, replayed = _submit(app, request, private=private)
        job, is_new = submitted.job, submitted.is_new
        if not is_new:
            finished = subscriptions.enter_context(app.listener.subscribe(job.id))
        is_published = not is_new or app.publisher.publish(Kind(job.kind), [job.id])
        snapshot = wait_for(app, job, finished, preference, is_new=is_new, is_published=is_published)
    response = job_response(
        replace(snapshot, client_reference=client_reference),
        preference,
        repeated=submitted.is_finished and not replayed,
        headers=REPLAYED if replayed else None,
    )
    _delete_if_private(snapshot.job)
    return response


def poll(job_id: str) -> Response:
    """Return the response with a job of the caller's workspace, after the wait that the caller prefers.

    Raises:
        JobNotFound: the workspace has no such job of a kind that is visible to the caller.

    """
    app = services()
    snapshot = waiting.read(app, caller().workspace_id, job_id, kinds=caller().kinds)
    with app.listener.subscribe(job_id) as finished, wait_budget(app, default=0) as preference:
        if preference.seconds and snapshot.job.finished_at is None:
            snapshot = wait_for(app, snapshot.job, finished, preference)
    response = job_response(snapshot, preference)
    _delete_if_private(snapshot.job)
    return response


def _submit(app: AppServices, request: JobRequest, *, private: bool) -> tuple[SubmitResult, bool]:
    """Return the job for the request, and whether its idempotency key had been used for the same request."""
    now = database_clock.now()
    slot = app.bulkhead.db_slot(caller().workspace_id, to_write=True)
    with admission.suspended(), slot, app.database.transaction() as session:
        reference = begin(session, now=now, store=not private)
        if reference:
            return SubmitResult(jobs.get(session, caller().workspace_id, reference)), True
        submitted = submission.submit(
            session,
            request,
            freshness=_freshness(request.kind, app.settings),
            deadline=timedelta(seconds=app.settings.job_deadline_seconds),
            now=now,
        )
        if not private:
            finish(session, submitted.job.id)
        return submitted, False


def _freshness(kind: Kind, settings: Settings) -> Freshness:
    """Return for how long a finished job answers an equal request; free kinds are always run again."""
    if kind in FREE_KINDS:
        return Freshness(timedelta(0), timedelta(0))
    return Freshness(
        timedelta(seconds=settings.answer_fresh_seconds), timedelta(seconds=settings.not_found_fresh_seconds)
    )


def _delete_if_private(job: Job) -> None:
    """Delete a finished job that was requested by a prefix; its result is in the response."""
    if job.finished_at is not None and "prefix" in job.request:
        with admission.transaction() as session:
            jobs.remove(session, job.id)


def job_response(
    snapshot: JobSnapshot,
    preference: WaitPreference,
    *,
    repeated: bool = False,
    headers: dict[str, str] | None = None,
) -> Response:
    """Return 200 with a finished job, or 202 with where to poll an unfinished one (contract 2.3).

    `repeated` means that the job had finished before this request, which was therefore charged nothing.
    """
    job = snapshot.job
    body = job_body(snapshot, repeated=repeated)
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


def job_body(snapshot: JobSnapshot, *, repeated: bool) -> dict[str, Any]:
    """Return the response body of a queued endpoint (contract 2.3)."""
    job = snapshot.job
    owned = repeated and job.outcome == Outcome.FOUND and job.kind not in FREE_KINDS
    return {
        "job": _job(snapshot),
        "result": _items_result(snapshot.items) if snapshot.items else _result(snapshot),
        "trace": snapshot.trace,
        "credits": {
            "charged": 0 if repeated else job.charged,
            "reserved": 0 if job.finished_at else job.held - job.charged,
            "balance": snapshot.balance.available,
            "already_owned": job.already_owned or owned,
        },
    }


def _job(snapshot: JobSnapshot) -> dict[str, Any]:
    body = jobs.to_public(snapshot.job)
    body.pop("client_reference", None)
    if snapshot.asking:
        body["progress"] |= {"asking": snapshot.asking}
    reference = snapshot.client_reference
    return body if reference is None else body | {"client_reference": reference}


def _result(snapshot: JobSnapshot) -> dict[str, Any] | None:
    result = snapshot.job.result
    if result is None or snapshot.client_reference is None:
        return result
    return {**result, "client_reference": snapshot.client_reference}


def _items_result(items: list[JobItem]) -> dict[str, Any]:
    """Return the results of an enrichment; those of unfinished items are empty."""
    return {
        "items": [
            {
                "index": item.index,
                "client_reference": item.request.get("client_reference"),
                "outcome": item.outcome,
                **(item.result or EMPTY_RESULT),
                "credits_charged": item.charged,
                "error": item.error,
            }
            for item in items
        ],
        "next_cursor": None,
    }
