"""Waiting for a queued job: for how long (the Prefer header, RFC 7240), and its state afterwards."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event

from flask import request

from app.domain.errors import Unavailable
from app.domain.messages import Message
from app.engine.jobs import jobs
from app.engine.jobs.job_snapshots import JobSnapshot
from app.engine.jobs.stored_jobs import StoredJob
from app.infra.telemetry import metrics
from app.web import admission
from app.web.services import AppServices
from app.web.sign_in.auth import caller

DEFAULT_SECONDS = 10
MAX_SECONDS = 25
CHECK_SECONDS = 1.0
"""The time after which a waiting request first reads the job without a notification; it then doubles."""
_WAIT = re.compile(r'wait\s*=\s*"?(\d{1,9})"?', re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WaitPreference:
    """The wait in seconds, and the value of Preference-Applied; None without a preference."""

    seconds: int
    applied: str | None


def wait_preference(default: int = DEFAULT_SECONDS) -> WaitPreference:
    """Return the preference of this request; an invalid one is ignored, as the RFC requires.

    `respond-async` together with `wait` means a 202 after that time (RFC 7240, 4.3).
    """
    values = request.headers.getlist("Prefer")
    preferences = [p.partition(";")[0].strip() for value in values for p in value.split(",")]
    for wait in filter(None, map(_WAIT.fullmatch, preferences)):
        seconds = min(int(wait[1]), MAX_SECONDS)
        return WaitPreference(seconds, f"wait={seconds}")
    if "respond-async" in map(str.lower, preferences):
        return WaitPreference(0, "respond-async")
    return WaitPreference(default, None)


@contextmanager
def wait_budget(app: AppServices, default: int = DEFAULT_SECONDS) -> Iterator[WaitPreference]:
    """Yield how long this request waits: 0 s if its workspace has no free wait slot."""
    with app.bulkhead.wait_slot(caller().workspace_id) as has_slot:
        yield wait_preference(default) if has_slot else WaitPreference(0, None)


def wait_for(
    app: AppServices,
    job: StoredJob,
    finished: Event,
    preference: WaitPreference,
    *,
    is_new: bool = False,
    is_published: bool = True,
) -> JobSnapshot:
    """Return the job once its row says that it is finished, the wait is over or the process shuts down.

    A job that could not be published is published again while the request waits.
    """
    deadline = time.monotonic() + preference.seconds
    # No notification can have been missed for a new job: it was inserted after the subscription.
    if preference.seconds and (is_new or _is_open(app, job)):
        is_published = _sleep(app, job, finished, deadline, is_published=is_published)
    while True:
        finished.clear()
        with _name_job_on_error(job):
            snapshot = app.job_reader.read(job.workspace_id, job.id)
        is_over = time.monotonic() >= deadline
        if snapshot.job.finished_at is not None or is_over or app.listener.is_closed:
            metrics.WAITS.labels(outcome="over" if snapshot.job.finished_at else "not_yet").inc()
            return snapshot
        is_published = _sleep(app, job, finished, deadline, is_published=is_published)


@admission.suspended()
def _sleep(app: AppServices, job: StoredJob, finished: Event, deadline: float, *, is_published: bool) -> bool:
    """Sleep until the job is finished or the deadline has passed; return whether the job is published.

    Its notification may be lost, so its row is read after 1, 2, 4, … seconds. While the database is
    unavailable, the request continues to sleep.
    """
    pause = CHECK_SECONDS
    while (remaining := deadline - time.monotonic()) > 0 and not finished.wait(min(pause, remaining)):
        if not is_published:
            is_published = app.publisher.publish(job.kind, [job.id])
        with suppress(Unavailable):
            if not _is_open(app, job):
                break
        pause *= 2
    return is_published


def _is_open(app: AppServices, job: StoredJob) -> bool:
    """Return whether the job is unfinished; its notification may have been sent before the subscription."""
    if job.finished_at is not None:
        return False
    slot = app.bulkhead.db_slot(job.workspace_id)
    with _name_job_on_error(job), slot, app.database.reading() as session:
        return jobs.is_open(session, job.id)


@contextmanager
def _name_job_on_error(job: StoredJob) -> Iterator[None]:
    """Name the accepted job in the error if it cannot be read."""
    try:
        yield
    except Unavailable as error:
        raise Unavailable(
            Message(
                "The request was accepted as {id}, but its status is temporarily unavailable. Poll "
                "GET /api/ext/jobs?id={id}, or repeat the request with the same Idempotency-Key.",
                id=job.id,
            )
        ) from error
