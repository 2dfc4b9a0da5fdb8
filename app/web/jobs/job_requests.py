"""Requests of queued endpoints: submit the job, wait for it, and respond."""

from __future__ import annotations

import threading
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from threading import Event

from flask import Response, g

from app.domain import kinds
from app.domain.kinds import KINDS, Queue
from app.engine.jobs import jobs, submission
from app.engine.jobs.jobs import REQUEST_ID
from app.engine.jobs.result_reuse import Freshness
from app.engine.jobs.stored_jobs import StoredJob
from app.engine.jobs.submission import JobRequest, SubmitResult
from app.infra.database import database_clock
from app.infra.telemetry import trace_links
from app.web import admission
from app.web.bodies.idempotency_header import REPLAYED, begin, finish
from app.web.jobs.job_responses import job_response
from app.web.jobs.waiting import WaitPreference, wait_budget, wait_for
from app.web.services import AppServices, services
from app.web.sign_in.auth import caller

TURN_SECONDS = 0.1
"""The longest time for which an unfinished job delays the next submission of its workspace.

The reveal of a stored contact takes less; slow jobs are not worth waiting for.
"""


@dataclass(slots=True)
class _Submitted:
    """A submitted job; `replayed` means that an earlier use of the idempotency key submitted it."""

    result: SubmitResult
    replayed: bool = False
    is_published: bool = True


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
) -> _Submitted:
    """Submit the job, and publish it if it is new; its workspace's next submission waits for it, too."""
    with admission.suspended() as holder, ExitStack() as turn:
        turn.enter_context(app.bulkhead.turn(caller().workspace_id, holder))
        submitted = _submit(app, request, private=private)
        if not submitted.result.is_new:
            return submitted
        job = submitted.result.job
        trace_links.remember(app.settings.redis_url, job.id)
        submitted.is_published = app.publisher.publish(request.kind, [job.id])
        if KINDS[request.kind].queue is not Queue.INTERACTIVE or not submitted.is_published:
            return submitted
        if preference.seconds:
            finished.wait(TURN_SECONDS)
        else:
            threading.Thread(target=_end_turn, args=(app, job.id, turn.pop_all())).start()
        return submitted


def _end_turn(app: AppServices, job_id: str, turn: ExitStack) -> None:
    """End the turn of a request that does not wait for its job."""
    with turn, app.listener.subscribe(job_id) as finished:
        finished.wait(TURN_SECONDS)


def _submit(app: AppServices, request: JobRequest, *, private: bool) -> _Submitted:
    """Store the job in a transaction, unless an equal one or its idempotency key exists."""
    now = database_clock.now()
    slot = app.bulkhead.db_slot(caller().workspace_id, to_write=True)
    with slot, app.database.transaction() as session:
        reference = begin(session, now=now, store=not private)
        if reference:
            earlier = jobs.get(session, caller().workspace_id, reference)
            return _Submitted(SubmitResult(earlier), replayed=True)
        if not private:
            named = request.request | {REQUEST_ID: g.request_id}
            request = replace(request, key_id=caller().key_id, request=named)
        result = submission.submit(
            session,
            request,
            freshness=Freshness(
                found=timedelta(seconds=app.settings.answer_fresh_seconds),
                not_found=timedelta(seconds=app.settings.not_found_fresh_seconds),
            ),
            deadline=timedelta(seconds=app.settings.job_deadline_seconds),
            now=now,
        )
        if not private:
            finish(session, result.job.id)
        return _Submitted(result)


def _delete_if_private(job: StoredJob) -> None:
    """Delete a finished job that was requested by a prefix; its result is in the response."""
    if job.finished_at is not None and "prefix" in job.request:
        with admission.transaction() as session:
            jobs.remove(session, job.id)
