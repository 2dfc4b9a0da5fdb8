"""Submits job requests; an equal request joins the job that is open, or reuses a fresh result.

Locks: like a claim and a settlement, a submission locks the row of the job before the row of the workspace.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any

from sqlalchemy import bindparam, case, or_, select, update

from app.domain.errors import InsufficientCredits, PurposeRequired
from app.domain.ids import new_id
from app.domain.kinds import KINDS, OPEN, Status
from app.domain.records.subjects import Subject
from app.engine.events import deliveries, endpoints
from app.engine.jobs import jobs, quotes, result_reuse
from app.engine.jobs.idempotency import Claim
from app.engine.jobs.jobs import LIMITED_BY, Job, JobItem
from app.engine.jobs.quotes import Quote, RevealPrice
from app.engine.jobs.result_reuse import NO_REUSE, SAME_REQUEST, Freshness
from app.engine.jobs.stored_jobs import StoredJob
from app.engine.ledger import credits
from app.engine.matching import reverse_lookups
from app.infra.database.database_clock import Moment
from app.infra.database.db import insert_into
from app.infra.database.encrypted_columns import encrypted
from app.infra.database.session import Session
from app.infra.database.statements import Statement

NEW: Mapping[str, Any] = {
    "status": Status.QUEUED.value,
    "trace": [],
    "charged": 0,
    "already_owned": False,
    "progress_done": 0,
    "attempts": 0,
    "crashes": 0,
    "publishes": 0,
}
"""What all new jobs have in common."""
_OPEN_JOB = Statement(
    StoredJob,
    lambda _dialect: select(*jobs.STORED).where(
        *SAME_REQUEST, or_(*(Job.status == status for status in OPEN))
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """A request for a job.

    `request` is the input for the worker. `dedup_key` identifies equal requests; it does not contain the
    client reference and the webhook. `price` is held on submission; the price of a reveal is computed in the
    submitting transaction. With `allow_partial_hold`, fewer credits are enough, and the job reports the items
    for which credits ran out. `items` are the requests of an enrichment, `refusal` why it is not accepted
    unless it is free, or repeats an earlier use of its idempotency key. `job_id` is the id that a new job
    gets. One that `is_fresh` may join an open job, but reuses no finished one.
    """

    kind: str
    workspace_id: str
    account_id: str | None
    key_id: str | None = None
    request: dict[str, Any]
    dedup_key: dict[str, Any]
    price: int | RevealPrice = 0
    allow_partial_hold: bool = False
    items: tuple[dict[str, Any], ...] = ()
    refusal: PurposeRequired | None = None
    webhook_url: str | None = None
    is_fresh: bool = False
    job_id: str = field(default_factory=partial(new_id, "job"))


@dataclass(frozen=True, slots=True)
class Submission:
    """A request, with its idempotency key if it has one."""

    request: JobRequest
    claim: Claim | None = None


@dataclass(frozen=True, slots=True)
class SubmitResult:
    """The job of a request: a new one, to be published, or an existing open or finished one.

    `is_held` is whether the credits of a new job are held already, `has_endpoints` whether its workspace has
    webhook endpoints.
    """

    job: StoredJob
    is_new: bool = False
    is_held: bool = False
    has_endpoints: bool = False

    @property
    def is_finished(self) -> bool:
        """Return whether the job is finished."""
        return self.job.finished_at is not None


def submit(
    session: Session, job_request: JobRequest, *, freshness: Freshness, deadline: timedelta, now: Moment
) -> SubmitResult:
    """Return the existing job of an equal request, or insert a job and hold its price.

    A job of a free kind or of a fresh request is always run again: `freshness` says for how long others are
    reused.

    Raises:
        PurposeRequired: a purpose is required for everyone, and the request states none; nothing is stored.

    """
    quote = quotes.quote(session, job_request.workspace_id, job_request.price)
    if job_request.refusal is not None and not quote.is_free():
        raise job_request.refusal
    if job_request.is_fresh or KINDS[job_request.kind].is_free:
        freshness = NO_REUSE
    submitted = _insert_or_find(session, job_request, quote, freshness=freshness, deadline=deadline, now=now)
    job = submitted.job
    if submitted.is_new:
        session.add_all(
            JobItem(job_id=job.id, index=index, request=request, charged=0)
            for index, request in enumerate(job_request.items)
        )
        _hold(session, submitted, job_request, quote, now=now)
        session.flush()
        if submitted.has_endpoints:
            subscribe_endpoints(session, [job], now=now)
        reverse_lookups.admit(session, job.workspace_id, _tried(job_request), now=now)
    if (url := job_request.webhook_url) is not None:
        deliveries.subscribe_url(session, workspace_id=job.workspace_id, job_id=job.id, url=url, now=now)
    return submitted


def subscribe_endpoints(session: Session, new: Iterable[StoredJob], *, now: Moment) -> None:
    """Subscribe the workspaces' endpoints to the ends of jobs, except those as frequent as page views."""
    by_workspace = defaultdict[str, list[str]](list)
    for job in new:
        if not KINDS[job.kind].is_free:
            by_workspace[job.workspace_id].append(job.id)
    if by_workspace:
        deliveries.subscribe_endpoints(session, by_workspace, now=now)


def _tried(job_request: JobRequest) -> list[Subject]:
    """Return the person that a request is about; lists are not counted, and told what they buy only.

    Counted last, so that neither the price nor a refusal depends on what is stored about a new value.
    """
    if isinstance(job_request.price, RevealPrice):
        return [job_request.price.subject]
    subjects = [item["subject"] for item in job_request.items if "subject" in item]
    return [Subject(**subjects[0])] if len(subjects) == 1 else []


def _hold(
    session: Session, submitted: SubmitResult, job_request: JobRequest, quote: Quote, *, now: Moment
) -> None:
    """Reserve the credits of a new job, or less if the request allows it, or none if it is free after all."""
    job, amount = submitted.job, 0 if submitted.is_held else submitted.job.held
    changes: dict[str, Any] = {}
    if job_request.allow_partial_hold:
        held, limit = credits.hold_up_to(session, job.workspace_id, job.id, amount, now=now)
        if limit is not None:
            request = {**job_request.request, LIMITED_BY: limit.as_dict()}
            changes = {"request": encrypted(session, Job.request, job.id, request)}
    else:
        try:
            credits.hold(session, job.workspace_id, job.id, amount, now=now)
        except InsufficientCredits:
            if not quote.is_free():
                raise
            held = 0
        else:
            return
    session.execute(update(Job).where(Job.id == job.id).values(held=held, **changes))


def _insert_or_find(
    session: Session,
    job_request: JobRequest,
    quote: Quote,
    *,
    freshness: Freshness,
    deadline: timedelta,
    now: Moment,
) -> SubmitResult:
    """Insert the job, unless an equal one is open or its result can be reused.

    A unique index decides between concurrent equal requests: the second waits for the first transaction and
    then finds its job. A finished job is searched after the insertion, since an equal one may be submitted
    and finished at any moment before; the index excludes open jobs only.
    """
    digest = dedup_digest(session, job_request)
    same_request = {"workspace_id": job_request.workspace_id, "dedup_digest": digest}
    while True:
        inserted, has_endpoints = _insert(session, job_request, digest, quote, deadline=deadline, now=now)
        if inserted is None and (opened := _OPEN_JOB.first(session, same_request)) is not None:
            return SubmitResult(opened)
        to_hold = None if job_request.allow_partial_hold else inserted
        finished, is_held = result_reuse.find_or_hold(
            session, same_request, to_hold, account_id=job_request.account_id, freshness=freshness, now=now
        )
        if finished is not None:
            if inserted is not None:
                jobs.remove(session, inserted.id)
            return SubmitResult(finished)
        if inserted is not None:
            return SubmitResult(inserted, is_new=True, is_held=is_held, has_endpoints=has_endpoints)
        # The open job was finished since the insertion, and its result cannot be reused.


def dedup_digest(session: Session, job_request: JobRequest) -> bytes:
    """Return the 32-byte digest of kind and dedup key; keyed, since requests name people.

    With regional rules it is another one, so that no answer from before the rules is returned again.
    """
    parts: list[Any] = [job_request.kind, job_request.dedup_key]
    if rules := session.settings.regional_rules:
        parts.append(rules.key)
    return session.keys.digest("job request", json.dumps(parts, sort_keys=True))


def _insert(
    session: Session,
    job_request: JobRequest,
    digest: bytes,
    quote: Quote,
    *,
    deadline: timedelta,
    now: Moment,
) -> tuple[StoredJob | None, bool]:
    """Insert the job and return it, or None if a concurrent request has opened an equal one.

    Return also whether the workspace has webhook endpoints.
    """
    values = {**NEW, **row_of(session, job_request, digest, quote.credits)}
    statement = _insertion(tuple(values), deadline, now)
    parameters = {f"new_{name}": value for name, value in values.items()}
    row = statement.first(session, parameters | quote.parameters)
    return (None, False) if row is None else (StoredJob._make(row[:-1]), row[-1])


def row_of(session: Session, job_request: JobRequest, digest: bytes, price: int) -> dict[str, Any]:
    """Return the columns of a new job that depend on the request."""
    return {
        "id": job_request.job_id,
        "workspace_id": job_request.workspace_id,
        "account_id": job_request.account_id,
        "key_id": job_request.key_id,
        "kind": job_request.kind,
        "queue": KINDS[job_request.kind].queue.value,
        "request_digest": digest,
        "request": encrypted(session, Job.request, job_request.job_id, job_request.request),
        "held": price,
        "progress_total": len(job_request.items) or 1,
    }


@lru_cache(maxsize=8)
def _insertion(names: tuple[str, ...], deadline: timedelta, now: Moment) -> Statement[tuple[Any, ...]]:
    """Return the statement that inserts a job and returns it, unless an equal one is open."""
    columns = Job.__table__.c
    values: dict[str, Any] = {name: bindparam(f"new_{name}", type_=columns[name].type) for name in names}
    is_free = quotes.is_free_by_key(values["workspace_id"])
    values["held"] = case((is_free, 0), else_=values["held"])
    values |= {"run_after": now, "deadline_at": now + deadline, "created_at": now}
    has_endpoints = endpoints.any_enabled(values["workspace_id"]).label("has_endpoints")
    return Statement(
        tuple,
        lambda dialect: (
            insert_into(dialect, Job)
            .values(values)
            .on_conflict_do_nothing()
            .returning(*jobs.STORED, has_endpoints)
        ),
    )
