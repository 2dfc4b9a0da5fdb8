"""Questions: asking what may have been asked before; an equal question joins the job that asks it already."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from app.core.contacts import bounce_reports, emails, suppressions
from app.core.jobs import webhooks
from app.core.jobs.jobs import WITHDRAWN, Job, JobItem
from app.core.ledger import credits
from app.core.lists import import_runs
from app.core.lookups import reveal_prices
from app.core.lookups.reveal_prices import RevealPrice
from app.domain.errors import InsufficientCredits, ProviderFailed
from app.domain.ids import new_id
from app.domain.kinds import OPEN, QUEUES, Kind, Outcome, Status
from app.infra.database_clock import Moment, column
from app.infra.db import insert
from app.settings import load

_SAME_REQUEST = (Job.workspace_id == bindparam("workspace_id"), Job.question == bindparam("question"))
_OPEN_JOB = select(Job).where(*_SAME_REQUEST, Job.status.in_(OPEN))
_LAST_JOB = (
    select(Job).where(*_SAME_REQUEST, Job.status == Status.SUCCEEDED).order_by(Job.created_at.desc()).limit(1)
)
_RETRYABLE_CODES = frozenset({InsufficientCredits.code, ProviderFailed.code})


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What a workspace wants to know.

    `request` is what the worker needs; `identity` what makes two questions the same, without the caller's
    reference and webhook. `price` is held at once; that of a reveal is computed in the submitting
    transaction. With `allow_partial_hold` less will do, and the job says where its credits ran out. `items`
    are the requests of an enrichment.
    """

    kind: Kind
    workspace_id: str
    account_id: str | None
    request: dict[str, Any]
    dedup_key: dict[str, Any]
    price: int | RevealPrice = 0
    allow_partial_hold: bool = False
    items: tuple[dict[str, Any], ...] = ()
    webhook_url: str | None = None

    @property
    def digest(self) -> bytes:
        """Give the 32 bytes that equal questions share; keyed, since questions name people."""
        canonical = f"question\0{json.dumps([self.kind, self.dedup_key], sort_keys=True)}"
        return hmac.digest(load().secret_key.encode(), canonical.encode(), hashlib.sha256)


@dataclass(frozen=True, slots=True)
class Freshness:
    """How long a finished answer stands for the same question: for what was found, and for a miss."""

    found: timedelta
    not_found: timedelta

    def of(self, outcome: str | None) -> timedelta:
        """Give how long an answer with this outcome stands."""
        return self.found if outcome in {Outcome.FOUND, Outcome.PARTIAL} else self.not_found


@dataclass(frozen=True, slots=True)
class SubmitResult:
    """The job that answers a question: a new one to be sent, one that is open, or one that is over."""

    job: Job
    is_new: bool = False

    @property
    def is_over(self) -> bool:
        """Tell whether the answer is there already."""
        return self.job.finished_at is not None


def submit(
    session: Session, question: JobRequest, *, fresh: Freshness, deadline: timedelta, now: Moment
) -> SubmitResult:
    """Find the job that already answers the question, or add one and hold its price.

    The unique index on open questions decides between callers who ask at the same time: the loser waits
    for the winner's transaction and then finds its job.

    Raises:
        InsufficientCredits: the workspace cannot pay; nothing is kept of the question.

    """
    price = _price(session, question, now)
    job: Job | None = None
    while job is None:
        known = _open(session, question) or _finished(session, question, fresh=fresh, now=now)
        if known is not None:
            webhooks.subscribe(session, known, question.webhook_url, now=now)
            return SubmitResult(known)
        job = _add(session, question, deadline=deadline, now=now)
    for index, request in enumerate(question.items):
        session.add(JobItem(job_id=job.id, index=index, request=request, charged=0))
    if question.allow_partial_hold:
        job.held = credits.hold_up_to(session, job.workspace_id, job.id, price, now=now)
    else:
        credits.hold(session, job.workspace_id, job.id, price, now=now)
        job.held = price
    session.flush()
    webhooks.subscribe(session, job, question.webhook_url, now=now)
    return SubmitResult(job, is_new=True)


def _price(session: Session, question: JobRequest, now: Moment) -> int:
    if isinstance(question.price, int):
        return question.price
    return reveal_prices.current_price(session, question.workspace_id, question.price, now=now)


def _open(session: Session, question: JobRequest) -> Job | None:
    return session.scalar(_OPEN_JOB, _same_request(question))


def _finished(session: Session, question: JobRequest, *, fresh: Freshness, now: Moment) -> Job | None:
    """Find the last answer, unless it is too old, or what it says may have changed since.

    That is so if data has come in, people were suppressed, or one of its addresses bounced.
    """
    row = session.execute(_LAST_JOB.add_columns(column(now)), _same_request(question)).one_or_none()
    if row is None:
        return None
    job, current = row
    if job.finished_at is None or job.finished_at + fresh.of(job.outcome) <= current:
        return None
    changes = (import_runs.latest(session), suppressions.latest(session))
    if any(change is not None and change >= job.created_at for change in changes):
        return None
    items = session.scalars(select(JobItem).where(JobItem.job_id == job.id)).all()
    return None if _is_cut_short(items) or _has_bounced(session, job, items) else job


def _same_request(question: JobRequest) -> dict[str, Any]:
    return {"workspace_id": question.workspace_id, "question": question.digest}


def _is_cut_short(items: Sequence[JobItem]) -> bool:
    """Return whether asking again could do better.

    That is so if, for some item, credits ran out, a provider failed, or what was found was refunded.
    """
    return any(
        WITHDRAWN in item.request or (item.error is not None and item.error["code"] in _RETRYABLE_CODES)
        for item in items
    )


def _has_bounced(session: Session, job: Job, items: Sequence[JobItem]) -> bool:
    results = [result for result in (job.result, *(item.result for item in items)) if result]
    given = {email["email"] for result in results for email in result.get("emails", ())}
    return emails.any_bounced(session, given, since=job.created_at) or bounce_reports.any_bounced(
        session, job.workspace_id, given, since=job.created_at
    )


def _add(session: Session, question: JobRequest, *, deadline: timedelta, now: Moment) -> Job | None:
    """Insert the job; None if an equal question became open meanwhile."""
    values: dict[str, Any] = {
        "id": new_id("job"),
        "workspace_id": question.workspace_id,
        "account_id": question.account_id,
        "kind": question.kind.value,
        "queue": QUEUES[question.kind].value,
        "question": question.digest,
        "request": question.request,
        "status": Status.QUEUED.value,
        "trace": [],
        "held": 0,
        "charged": 0,
        "already_owned": False,
        "progress_done": 0,
        "progress_total": len(question.items) or 1,
        "attempts": 0,
        "crashes": 0,
        "run_after": now,
        "deadline_at": now + deadline,
        "publishes": 0,
        "created_at": now,
    }
    return session.scalar(insert(session, Job).values(**values).on_conflict_do_nothing().returning(Job))
