"""Requests of queued endpoints: submit the job, wait for it, and respond."""

from __future__ import annotations

import threading
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from threading import Event

from flask import Response, g

from app.domain import kinds
from app.domain.kinds import KINDS, Queue
from app.engine.jobs import jobs
from app.engine.jobs.jobs import REQUEST_ID
from app.engine.jobs.stored_jobs import StoredJob
from app.engine.jobs.submission import JobRequest, Submission
from app.engine.jobs.submitter import Submitted
from app.web import admission
from app.web.bodies import idempotency_header
from app.web.bodies.idempotency_header import REPLAYED
from app.web.jobs.job_responses import job_response
from app.web.jobs.waiting import WaitPreference, wait_budget, wait_for
from app.web.services import AppServices, services
from app.web.sign_in.auth import caller

TURN_SECONDS = 0.1
"""The longest time for which an unfinished job delays the next submission of its workspace.

The reveal of a stored contact takes less; slow jobs are not worth waiting for.
"""


def submit_and_wait(
    request: JobRequest, *, private: bool = False, client_reference: str | None = None
) -> Response:
    """Submit the job, send it to the workers, wait as long as the caller prefers, and return the response.

    A private job is deleted once its result is sent, and no idempotency key is stored for it. The response
    carries this caller's `client_reference`, even if the job was first submitted with another one.
    """
    app = services()
    # Before the job exists: once it is committed, the message of another job may lead a worker to it.
    with app.listener.subscribe(request.job_id) as finished, wait_budget(app) as preference:
        submitted = _submit_in_turn(app, request, finished, preference, private=private)
        job, is_new = submitted.result.job, submitted.result.is_new
        with nullcontext(finished) if is_new else app.listener.subscribe(job.id) as ended:
            snapshot = wait_for(
                app, job, ended, preference, is_new=is_new, is_published=submitted.is_published
            )
    response = job_response(
        replace(snapshot, client_reference=client_reference),
        preference,
        repeated=submitted.result.is_finished and not submitted.replayed,
        headers=REPLAYED if submitted.replayed else None,
    )
    if private:
        _delete_if_private(snapshot.job)
    return response


def poll(job_id: str) -> Response:
    """Return the response with a job of the caller's workspace, after the wait that the caller prefers."""
    app = services()
    snapshot = app.job_reader.read(caller().workspace_id, job_id, kinds=kinds.visible_to(caller().scopes))
    with app.listener.subscribe(job_id) as finished, wait_budget(app, default=0) as preference:
        if preference.seconds and snapshot.job.finished_at is None:
            snapshot = wait_for(app, snapshot.job, finished, preference)
    response = job_response(snapshot, preference)
    _delete_if_private(snapshot.job)
    return response


def _submit_in_turn(
    app: AppServices, request: JobRequest, finished: Event, preference: WaitPreference, *, private: bool
) -> Submitted:
    """Submit the job; its workspace's next submission waits for it, too, if it is new."""
    submission = _submission(request, private=private)
    with admission.suspended() as holder, ExitStack() as turn:
        turn.enter_context(app.bulkhead.turn(caller().workspace_id, holder))
        submitted = app.submitter.submit(submission)
        is_awaited = submitted.result.is_new and submitted.is_published
        if not is_awaited or KINDS[request.kind].queue is not Queue.INTERACTIVE:
            return submitted
        if preference.seconds:
            finished.wait(TURN_SECONDS)
        else:
            threading.Thread(target=_end_turn, args=(app, request.job_id, turn.pop_all())).start()
        return submitted


def _submission(request: JobRequest, *, private: bool) -> Submission:
    """Return the submission of this request's job."""
    if private:
        idempotency_header.require_valid()
        return Submission(request)
    named = request.request | {REQUEST_ID: g.request_id}
    request = replace(request, key_id=caller().key_id, request=named)
    return Submission(request, idempotency_header.claim(request.job_id))


def _end_turn(app: AppServices, job_id: str, turn: ExitStack) -> None:
    """End the turn of a request that does not wait for its job."""
    with turn, app.listener.subscribe(job_id) as finished:
        finished.wait(TURN_SECONDS)


def _delete_if_private(job: StoredJob) -> None:
    """Delete a finished job that was requested by a prefix; its result is in the response."""
    if job.finished_at is not None and "prefix" in job.request:
        with admission.transaction() as session:
            jobs.remove(session, job.id)
