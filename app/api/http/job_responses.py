"""Answers: JSON out, and for queued questions: submit, wait, 200 or 202."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from threading import Event
from typing import Any

from flask import Response, current_app, json
from sqlalchemy.orm import Session

from app.api.http.auth import caller
from app.api.http.idempotency_header import REPLAYED, begin, finish
from app.api.http.prefer import DEFAULT_SECONDS, WaitPreference, wait_preference
from app.api.schemas.job_schemas import FREE_KINDS, JobSnapshot, job_body
from app.core.accounts import workspaces
from app.core.jobs import jobs, leases, provider_calls, submission
from app.core.jobs.jobs import Job
from app.core.jobs.submission import Freshness, JobRequest
from app.domain.errors import Unavailable
from app.domain.kinds import Kind
from app.infra import database_clock, metrics
from app.infra.database_clock import Moment
from app.infra.db import Database
from app.infra.job_notifications import JobListener
from app.infra.queue import JobPublisher
from app.server.bulkhead import Bulkhead
from app.settings import Settings

RETRY_AFTER_SECONDS = 1


@dataclass(frozen=True, slots=True)
class AppServices:
    """What the application was put together from."""

    settings: Settings
    database: Database
    publisher: JobPublisher
    listener: JobListener
    bulkhead: Bulkhead


def json_response(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer with a JSON object; a view returns this so that nothing is dumped twice."""
    return current_app.response_class(
        json.dumps(body), status=status, headers=headers, mimetype="application/json"
    )


def submit_and_wait(
    make: Callable[[Session], JobRequest], *, private: bool = False, client_reference: str | None = None
) -> Response:
    """Submit the question, send it to the workers, wait as long as the caller likes, and answer.

    `make` writes the question in the submitting transaction, so that its price is right. Nothing of a
    private question is kept once it is answered, and no account is written beside it. The caller's own
    reference comes back, also where the job was asked first under another one.

    Raises:
        InsufficientCredits, IdempotencyKeyReused: nothing was kept of the question.
        Unavailable: neither was it, or it says that it was taken in.

    """
    services = _services()
    now = database_clock.now()
    replayed = False
    with services.bulkhead.db_slot(to_write=True), services.database.transaction() as session:
        reference = begin(session, now=now, kept=not private)
        if reference:
            replayed, submitted = (
                True,
                submission.SubmitResult(jobs.get(session, caller().workspace_id, reference)),
            )
        else:
            submitted = _submit(session, make(session), services.settings, now)
            if not private:
                finish(session, submitted.job.id)
    with services.listener.subscribe(submitted.job.id) as bell, _wait_budget(services) as wanted:
        if submitted.is_new:
            services.publisher.publish(Kind(submitted.job.kind), [submitted.job.id])
        sight = _wait(services, submitted.job, bell, wanted, is_new=submitted.is_new)
    sight = replace(sight, client_reference=client_reference)
    repeated = submitted.is_over and not replayed
    return job_response(sight, wanted, repeated=repeated, headers=REPLAYED if replayed else None)


def poll(job_id: str) -> Response:
    """Answer a poll: the caller's workspace's job as it is, or as it is after the wait it prefers.

    Raises:
        JobNotFound: the workspace has no such job of a kind that the caller may see.

    """
    services = _services()
    with services.bulkhead.db_slot(), services.database.reading() as session:
        job = jobs.get(session, caller().workspace_id, job_id, kinds=caller().kinds)
    with services.listener.subscribe(job_id) as bell, _wait_budget(services, default=0) as wanted:
        return job_response(_wait(services, job, bell, wanted, is_new=False), wanted)


def job_response(
    sight: JobSnapshot,
    wanted: WaitPreference,
    *,
    repeated: bool = False,
    headers: dict[str, str] | None = None,
) -> Response:
    """Answer with a job: 200 if it is over, else 202 and where to look again (contract 2.3).

    `repeated` says that the job was over before it was asked: this request was charged nothing.
    """
    job = sight.job
    body = job_body(sight, repeated=repeated)
    all_headers = {
        "X-Credits-Charged": str(body["credits"]["charged"]),
        "X-Credits-Balance": str(sight.balance.available),
        **(headers or {}),
    }
    if wanted.applied:
        all_headers["Preference-Applied"] = wanted.applied
    if job.finished_at is None:
        all_headers["Location"] = f"/api/ext/jobs?id={job.id}"
        all_headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return json_response(body, 202, all_headers)
    if "prefix" in job.request:
        with _services().database.transaction() as session:
            jobs.remove(session, job.id)
    return json_response(body, 200, all_headers)


def load_snapshot(session: Session, workspace_id: str, job_id: str) -> JobSnapshot:
    """Read a job with its items and its workspace's balance.

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


def _submit(
    session: Session, question: JobRequest, settings: Settings, now: Moment
) -> submission.SubmitResult:
    return submission.submit(
        session,
        question,
        fresh=_freshness(question.kind, settings),
        deadline=timedelta(seconds=settings.job_deadline_seconds),
        now=now,
    )


@contextmanager
def _wait_budget(services: AppServices, default: int = DEFAULT_SECONDS) -> Iterator[WaitPreference]:
    """Say how long this caller waits: not at all where its workspace takes up too much room."""
    with services.bulkhead.wait_slot(caller().workspace_id) as is_seated:
        yield wait_preference(default) if is_seated else WaitPreference(0, None)


def _wait(
    services: AppServices, job: Job, bell: Event, wanted: WaitPreference, *, is_new: bool
) -> JobSnapshot:
    """Sleep until the bell rings and the row says that the job is over, or patience or the process ends."""
    until = time.monotonic() + wanted.seconds
    if wanted.seconds and (is_new or _is_open(services, job)):  # a new one's bell has not rung yet
        bell.wait(wanted.seconds)
    while True:
        bell.clear()
        sight = _reload(services, job)
        left = until - time.monotonic()
        if sight.job.finished_at is not None or left <= 0 or services.listener.is_closed:
            metrics.WAITS.labels(outcome="over" if sight.job.finished_at else "not_yet").inc()
            return sight
        bell.wait(left)


def _is_open(services: AppServices, job: Job) -> bool:
    """Look before the first sleep whether the bell has rung before anybody listened."""
    if job.finished_at is not None:
        return False
    with _name_job_on_error(job), services.bulkhead.db_slot(), services.database.reading() as session:
        return jobs.is_open(session, job.id)


def _reload(services: AppServices, job: Job) -> JobSnapshot:
    with _name_job_on_error(job), services.bulkhead.db_slot(), services.database.reading() as session:
        return load_snapshot(session, job.workspace_id, job.id)


@contextmanager
def _name_job_on_error(job: Job) -> Iterator[None]:
    """Let a caller whose question was taken in know it, whatever comes of looking at it."""
    try:
        yield
    except Unavailable as error:
        raise Unavailable(
            f"The question was taken in as {job.id}, but how far it is cannot be read now. Poll "
            f"GET /api/ext/jobs?id={job.id}, or ask again with the same Idempotency-Key."
        ) from error


def _freshness(kind: Kind, settings: Settings) -> Freshness:
    """Say how long an answer stands; what costs nothing is looked up anew."""
    if kind in FREE_KINDS:
        return Freshness(timedelta(0), timedelta(0))
    return Freshness(
        timedelta(seconds=settings.answer_fresh_seconds), timedelta(seconds=settings.not_found_fresh_seconds)
    )


def _services() -> AppServices:
    services: AppServices = current_app.extensions["services"]
    return services
