"""Delivers webhooks: URLs notified of events, and of jobs when they finish.

The row of a job becomes due when the job finishes, so code that ends jobs does not depend on webhooks. The
row of an event is due at once. Then it is claimed (a message is published), begun (a worker posts it), and
finished or retried.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, delete, exists, select, update

from app.domain.event_types import JOB_FINISHED, EventType
from app.engine.events import deliveries, endpoints, events
from app.engine.events.deliveries import DELIVERING, Webhook
from app.engine.events.endpoints import WebhookEndpoint
from app.engine.events.events import Event
from app.engine.jobs import jobs
from app.engine.jobs.jobs import Job, to_public
from app.engine.work import items, turns
from app.engine.work.items import WorkItem
from app.engine.work.turns import LeaseLost, Turn
from app.features.webhooks import attempts as webhook_attempts
from app.features.webhooks.message_formats import MessageFormat
from app.infra.clock import rfc3339
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.database_clock import Moment, column
from app.infra.database.session import Session
from app.infra.database.statements import IdRow, Statement

# The example schedule of the Standard Webhooks specification, "Deliverability and reliability": about three
# days, with "some level of random jitter"; 20 % either way avoids bursts and keeps the schedule recognisable.
RETRY_SCHEDULE = tuple(
    timedelta(seconds=seconds) for seconds in (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
JITTER = 0.2
MAX_RETRY_AFTER_SECONDS = 86_400.0

OK = range(200, 300)
GONE = {
    MessageFormat.STANDARD: frozenset({410}),
    MessageFormat.SLACK: frozenset({404, 410}),  # no_service, channel_is_archived
    MessageFormat.TEAMS: frozenset({404, 410}),  # the workflow was deleted
}
"""The statuses after which no attempt can succeed."""
THROTTLED = frozenset({429, 503})
NOT_STARTED = "internal_error"
"""The error of an attempt whose payload or signature could not be made."""
_FORMAT = select(WebhookEndpoint.format)
_BEGUN = (Webhook.workspace_id, Webhook.job_id, Webhook.event_id, Webhook.endpoint_id, Webhook.url)


@dataclass(frozen=True, slots=True)
class Delivery:
    """The payload, its form and URL of an attempt, and the secret and time (`signed_at`) of its signature.

    `endpoint_id` is None for a URL that the request of a job named.
    """

    id: str
    turn: Turn
    attempt_id: str
    endpoint_id: str | None
    url: str
    payload: dict[str, Any]
    form: MessageFormat
    secret: str
    signed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """Result of an attempt: the response status, or the error without one; `retry_after` is in seconds."""

    status: int | None = None
    error: str | None = None
    retry_after: float | None = None
    latency_ms: int


def any_finished(session: Session) -> bool:
    """Return whether the job of any delivery has finished that is not due yet; a cheap read."""
    return _ANY_FINISHED.first(session, {}) is not None


def wake_finished(session: Session, *, now: Moment) -> None:
    """Make the deliveries due whose job has finished."""
    finished = update(WorkItem).where(WorkItem.id.in_(_of_finished_jobs())).values(due_at=now)
    session.execute(finished.execution_options(synchronize_session=False))


def purge_deleted(session: Session) -> None:
    """Delete the work about deliveries that were deleted, with their endpoint or for an erased person."""
    is_left = exists().where(Webhook.id == WorkItem.id)
    deleted = delete(WorkItem).where(WorkItem.task == DELIVERING.task, ~is_left)
    session.execute(deleted.execution_options(synchronize_session=False))


def _of_finished_jobs() -> Select[str]:
    return (
        select(WorkItem.id)
        .join(Webhook, Webhook.id == WorkItem.id)
        .join(Job, Job.id == Webhook.job_id)
        .where(WorkItem.task == DELIVERING.task, WorkItem.due_at.is_(None), Job.finished_at.is_not(None))
    )


_ANY_FINISHED = Statement(IdRow, lambda _dialect: _of_finished_jobs().limit(1))


def begin(session: Session, webhook_id: str, *, now: Moment) -> Delivery | None:
    """Start an attempt and return what to post.

    Return None if the webhook is not due: leased by another worker, delivered, given up or deleted. Duplicate
    and late messages are therefore harmless. The last attempt is not repeated, even if its worker is lost.
    """
    turn = turns.begin(session, DELIVERING, webhook_id, now=now)
    if turn is None:
        return None
    if turn.is_exhausted:
        turns.end(session, turn)
        return None
    row = session.execute(
        update(Webhook)
        .where(Webhook.id == webhook_id, Webhook.delivered_at.is_(None))
        .values(attempts=Webhook.attempts + 1)
        .returning(*_BEGUN, column(now).label("at"))
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if row is None:  # deleted
        turns.end(session, turn)
        return None
    attempt_id = webhook_attempts.start(session, webhook_id, now=now)
    signing_secret = _secret(session.keys, row.workspace_id, row.endpoint_id)
    payload, form = _payload(session, row.job_id, row.event_id), _form(session, row.endpoint_id)
    return Delivery(
        webhook_id, turn, attempt_id, row.endpoint_id, row.url, payload, form, signing_secret, row.at
    )


def _payload(session: Session, job_id: str | None, event_id: str | None) -> dict[str, Any]:
    if event_id is not None:
        return events.to_public(session.get_one(Event, event_id))
    [job] = jobs.rows(session, select(*jobs.STORED).where(Job.id == job_id))
    return {"type": JOB_FINISHED, "timestamp": rfc3339(job.finished_at), "data": {"job": to_public(job)}}


def _form(session: Session, endpoint_id: str | None) -> MessageFormat:
    """Return the form of the endpoint; a URL that a request named receives the standard one."""
    if endpoint_id is None:
        return MessageFormat.STANDARD
    return MessageFormat(session.scalars(_FORMAT.where(WebhookEndpoint.id == endpoint_id)).one())


def _secret(keys: DigestKeys, workspace_id: str, endpoint_id: str | None) -> str:
    if endpoint_id is None:
        return endpoints.workspace_secret(keys, workspace_id)
    return endpoints.secret(keys, endpoint_id)


def finish(session: Session, delivery: Delivery, result: AttemptResult, *, now: Moment) -> None:
    """Store the result of the attempt and schedule the next, if any.

    After its lease expires a worker may still record success, but no longer schedules the retry.
    """
    delivered = result.status in OK
    error = result.error or (None if delivered else "http_status")
    webhook_attempts.complete(
        session, delivery.attempt_id, status=result.status, error=error, latency_ms=result.latency_ms
    )
    if delivery.endpoint_id is not None:  # locks the endpoint before the webhook
        endpoints.record_result(session, delivery.endpoint_id, delivered=delivered, now=now)
    query = select(Webhook).where(Webhook.id == delivery.id).with_for_update()
    webhook = session.scalar(query.execution_options(populate_existing=True))
    if webhook is None:
        return
    if delivered:
        webhook.delivered_at = now
        session.flush()
        items.remove(session, [webhook.id])
        return
    with suppress(LeaseLost):
        is_gone = result.status in GONE[delivery.form]
        is_over = is_gone or not _plan_retry(session, delivery.turn, result, now=now)
        if is_gone:
            turns.end(session, delivery.turn)
        if is_over and delivery.endpoint_id is not None:
            _disable(session, delivery.endpoint_id, is_gone=is_gone, now=now)


def fail(session: Session, webhook_id: str, *, now: Moment) -> None:
    """Count an attempt of a due webhook that could not be started, and schedule the next, if any."""
    turn = turns.begin(session, DELIVERING, webhook_id, now=now)
    if turn is None:
        return
    attempt_id = webhook_attempts.start(session, webhook_id, now=now)
    webhook_attempts.complete(session, attempt_id, status=None, error=NOT_STARTED, latency_ms=0)
    counted = update(Webhook).where(Webhook.id == webhook_id).values(attempts=Webhook.attempts + 1)
    session.execute(counted.execution_options(synchronize_session=False))
    _plan_retry(session, turn, AttemptResult(error=NOT_STARTED, latency_ms=0), now=now)


def _plan_retry(session: Session, turn: Turn, result: AttemptResult, *, now: Moment) -> bool:
    """Schedule the next attempt, or give up; return whether there is a next one."""
    delay = _retry_delay(turn.attempts, result)
    if delay is None:
        turns.end(session, turn)
        return False
    turns.retry(session, turn, due_at=now + delay)
    return True


def _disable(session: Session, endpoint_id: str, *, is_gone: bool, now: Moment) -> None:
    """Disable an endpoint that is gone or has failed too long, end its retries, and record it as an event."""
    endpoint = endpoints.disable_after_failure(session, endpoint_id, is_gone=is_gone, now=now)
    if endpoint is None:
        return
    deliveries.give_up(session, endpoint_id)
    events.record(
        session,
        endpoint.workspace_id,
        EventType.ENDPOINT_DISABLED,
        {"endpoint_id": endpoint_id, "reason": endpoint.disabled_reason},
        dedup_key=f"{EventType.ENDPOINT_DISABLED}:{endpoint_id}:{rfc3339(endpoint.disabled_at)}",
        now=now,
    )


def _retry_delay(attempts: int, result: AttemptResult) -> timedelta | None:
    """Return the delay before the next attempt, or None to give up because no attempts remain.

    The receiver's Retry-After (RFC 9110, section 10.2.3) is respected up to one day.
    """
    if attempts > len(RETRY_SCHEDULE):
        return None
    delay = RETRY_SCHEDULE[attempts - 1] * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 -- jitter
    if result.status not in THROTTLED or result.retry_after is None:
        return delay
    return max(delay, timedelta(seconds=min(result.retry_after, MAX_RETRY_AFTER_SECONDS)))
