"""Responses of queued endpoints: submit the job, wait for it, and answer 200 or 202."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from threading import Event

from flask import Response
from sqlalchemy.orm import Session

from app.api.http.auth import caller
from app.api.http.idempotency_header import REPLAYED, begin, finish
from app.api.http.prefer import DEFAULT_SECONDS, WaitPreference, wait_preference
from app.api.http.responses import json_response
from app.api.http.services import AppServices, services
from app.api.schemas.job_schemas import FREE_KINDS, JobSnapshot, job_body
from app.core.accounts import workspaces
from app.core.jobs import jobs, leases, provider_calls, submission
from app.core.jobs.jobs import Job
from app.core.jobs.submission import Freshness, JobRequest, SubmitResult
from app.domain.errors import Unavailable
from app.domain.kinds import Kind
from app.infra import database_clock, metrics
from app.settings import Settings

RETRY_AFTER_SECONDS = 1


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
    submitted, replayed = _submit(app, request, private=private)
    with app.listener.subscribe(submitted.job.id) as finished, _wait_budget(app) as preference:
        if submitted.is_new:
            app.publisher.publish(Kind(submitted.job.kind), [submitted.job.id])
        snapshot = _wait(app, submitted.job, finished, preference, is_new=submitted.is_new)
    return job_response(
        replace(snapshot, client_reference=client_reference),
        preference,
        repeated=submitted.is_finished and not replayed,
        headers=REPLAYED if replayed else None,
    )


def poll(job_id: str) -> Response:
    """Return the response with a job of the caller's workspace, after the wait that the caller prefers.

    Raises:
        JobNotFound: the workspace has no such job of a kind that is visible to the caller.

    """
    app = services()
    with app.bulkhead.db_slot(), app.database.reading() as session:
        job = jobs.get(session, caller().workspace_id, job_id, kinds=caller().kinds)
    with app.listener.subscribe(job_id) as finished, _wait_budget(app, default=0) as preference:
        snapshot = _wait(app, job, finished, preference, is_new=False)
        return job_response(snapshot, preference)


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
    if job.finished_at is None:
        all_headers["Location"] = f"/api/ext/jobs?id={job.id}"
        all_headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return json_response(body, 202, all_headers)
    if "prefix" in job.request:
        with services().database.transaction() as session:
            jobs.remove(session, job.id)
    return json_response(body, 200, all_headers)


def load_snapshot(session: Session, workspace_id: str, job_id: str) -> JobSnapshot:
    """Return a job with its items and the balance of its workspace.

    Raises:
        JobNotFound: the workspace has no such job.

    """
    job = jobs.get(session, workspace_id, job_id)
    items = jobs.items(session, job_id) if job.kind == Kind.ENRICHMENT_REQUEST else []
    balance = workspaces.balance(session, workspace_id)
    trace, asking = job.trace, list[str]()
    if job.finished_at is None:
        lines, asking = provider_calls.progress(session, job_id, now=database_clock.now())
        trace = leases.merge_trace(trace, lines)
    return JobSnapshot(job, items, balance, job.request.get("client_reference"), trace, asking)


def _submit(app: AppServices, request: JobRequest, *, private: bool) -> tuple[SubmitResult, bool]:
    """Return the job for the request, and whether its idempotency key had been used for the same request."""
    now = database_clock.now()
    with app.bulkhead.db_slot(to_write=True), app.database.transaction() as session:
        reference = begin(session, now=now, kept=not private)
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


@contextmanager
def _wait_budget(app: AppServices, default: int = DEFAULT_SECONDS) -> Iterator[WaitPreference]:
    """Yield how long this request waits: 0 s if its workspace has no free wait slot."""
    with app.bulkhead.wait_slot(caller().workspace_id) as has_slot:
        yield wait_preference(default) if has_slot else WaitPreference(0, None)


def _wait(
    app: AppServices, job: Job, finished: Event, preference: WaitPreference, *, is_new: bool
) -> JobSnapshot:
    """Return the job once its row says that it is finished, the wait is over or the process shuts down."""
    deadline = time.monotonic() + preference.seconds
    # No notification can have been missed for a new job: it was published after the subscription.
    if preference.seconds and (is_new or _is_open(app, job)):
        finished.wait(preference.seconds)
    while True:
        finished.clear()
        snapshot = _reload(app, job)
        remaining = deadline - time.monotonic()
        if snapshot.job.finished_at is not None or remaining <= 0 or app.listener.is_closed:
            metrics.WAITS.labels(outcome="over" if snapshot.job.finished_at else "not_yet").inc()
            return snapshot
        finished.wait(remaining)


def _is_open(app: AppServices, job: Job) -> bool:
    """Return whether the job is unfinished; its notification may have been sent before the subscription."""
    if job.finished_at is not None:
        return False
    with _name_job_on_error(job), app.bulkhead.db_slot(), app.database.reading() as session:
        return jobs.is_open(session, job.id)


def _reload(app: AppServices, job: Job) -> JobSnapshot:
    with _name_job_on_error(job), app.bulkhead.db_slot(), app.database.reading() as session:
        return load_snapshot(session, job.workspace_id, job.id)


@contextmanager
def _name_job_on_error(job: Job) -> Iterator[None]:
    """Name the accepted job in the error if it cannot be read."""
    try:
        yield
    except Unavailable as error:
        raise Unavailable(
            f"The request was accepted as {job.id}, but its status is temporarily unavailable. Poll "
            f"GET /api/ext/jobs?id={job.id}, or repeat the request with the same Idempotency-Key."
        ) from error


def _freshness(kind: Kind, settings: Settings) -> Freshness:
    """Return for how long a finished job answers an equal request; free kinds are always run again."""
    if kind in FREE_KINDS:
        return Freshness(timedelta(0), timedelta(0))
    return Freshness(
        timedelta(seconds=settings.answer_fresh_seconds), timedelta(seconds=settings.not_found_fresh_seconds)
    )
