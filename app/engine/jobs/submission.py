"""Submits job requests; an equal request joins the job that is open, or reuses a fresh result.

Locks: like a claim and a settlement, a submission locks the row of the job before that of the workspace.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any, cast

from sqlalchemy import bindparam, case, or_, select, update
from sqlalchemy.orm import Session

from app.domain.errors import ContactNotFound, InsufficientCredits, PurposeRequired
from app.domain.ids import new_id
from app.domain.kinds import OPEN, QUEUES, Kind, Status
from app.domain.records.subjects import Subject
from app.engine.contacts import hidden_values, purpose_rules
from app.engine.contacts.suppressions import suppression_checks
from app.engine.events import endpoints
from app.engine.jobs import jobs, result_reuse, webhooks
from app.engine.jobs.jobs import LIMITED_BY, PURPOSE, Job, JobItem
from app.engine.jobs.result_reuse import SAME_REQUEST, Freshness
from app.engine.ledger import credits, ownership
from app.engine.lookups import contact_data, known_people
from app.engine.lookups.field_requests import FieldRequest
from app.engine.matching import candidates, reverse_lookups
from app.infra.crypto.digest_keys import digest_keys
from app.infra.database.database_clock import Moment
from app.infra.database.db import insert_into
from app.infra.database.encrypted_columns import encrypted
from app.infra.database.statements import Statement

_OPEN_JOB = Statement(
    lambda _dialect: select(Job.__table__).where(
        *SAME_REQUEST, or_(*(Job.status == status for status in OPEN))
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealPrice:
    """What the price of a reveal depends on; `credits` is the price of a field that is not yet owned."""

    subject: Subject
    field_request: FieldRequest
    credits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """A request for a job.

    `request` is the input for the worker. `dedup_key` identifies equal requests; it does not contain the
    client reference and the webhook. `price` is held on submission; that of a reveal is computed in the
    submitting transaction. With `allow_partial_hold`, fewer credits are enough, and the job reports the items
    for which credits ran out. `items` are the requests of an enrichment, `refusal` why it is not accepted, if
    it is not that of an earlier use of its idempotency key. `job_id` is that of a new job.
    """

    kind: Kind
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
    job_id: str = field(default_factory=partial(new_id, "job"))


@dataclass(frozen=True, slots=True)
class SubmitResult:
    """The job of a request: a new one, to be published, or an existing open or finished one.

    `has_endpoints` is whether the workspace of a new job has webhook endpoints.
    """

    job: Job
    is_new: bool = False
    has_endpoints: bool = False

    @property
    def is_finished(self) -> bool:
        """Return whether the job is finished."""
        return self.job.finished_at is not None


def submit(
    session: Session, job_request: JobRequest, *, freshness: Freshness, deadline: timedelta, now: Moment
) -> SubmitResult:
    """Return the existing job of an equal request, or insert a job and hold its price.

    Raises:
        InsufficientCredits: the workspace cannot pay, or a spending limit is reached; nothing is stored.
        PurposeRequired: a purpose is required for everyone, and the request states none; nothing is stored.
        ContactNotFound: the subject of a reveal has a contact id that does not exist.

    """
    _check_purpose(session, job_request)
    price = _price(session, job_request)
    submitted, is_held = _insert_or_find(
        session, job_request, price, freshness=freshness, deadline=deadline, now=now
    )
    job = submitted.job
    if submitted.is_new:
        _add_items(session, job, job_request)
        _hold(session, job, job_request, 0 if is_held else job.held, now=now)
        session.flush()
        if submitted.has_endpoints:
            webhooks.subscribe_endpoints(session, job, now=now)
        reverse_lookups.admit(session, job.workspace_id, _tried(job_request), now=now)
    webhooks.subscribe(session, job, job_request.webhook_url, now=now)
    return submitted


def _tried(job_request: JobRequest) -> list[Subject]:
    """Return the person that a request is about; lists are not counted, and told what they buy only.

    Counted last, so that neither the price nor a refusal depends on what is stored about a new value.
    """
    if isinstance(job_request.price, RevealPrice):
        return [job_request.price.subject]
    subjects = [item["subject"] for item in job_request.items if "subject" in item]
    return [Subject(**subjects[0])] if len(subjects) == 1 else []


def _check_purpose(session: Session, job_request: JobRequest) -> None:
    """Raise PurposeRequired if a purpose is required for everyone, and a request with a price has none.

    If it is required for some countries only, the worker decides, because it knows the person's country.
    """
    if job_request.refusal is not None:
        raise job_request.refusal
    price, rule = job_request.price, purpose_rules.rule_of(session)
    if isinstance(price, int) or not rule.is_everywhere or PURPOSE in job_request.request:
        return
    if not _is_free(session, job_request.workspace_id, price):
        raise rule.refusal()


def _hold(session: Session, job: Job, job_request: JobRequest, amount: int, *, now: Moment) -> None:
    """Reserve this amount of credits for a new job, or less if the request allows it.

    A reveal that cannot be paid is read more closely: it may be free, because the workspace owns
    the values under another name or contact, or because the person is suppressed.

    Raises:
        InsufficientCredits: the workspace cannot pay, or a spending limit is reached.

    """
    price = job_request.price
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
            if isinstance(price, int) or not _is_free(session, job.workspace_id, price):
                raise
            held = 0
        else:
            return
    session.execute(update(Job).where(Job.id == job.id).values(held=held, **changes))


def _is_free(session: Session, workspace_id: str, price: RevealPrice) -> bool:
    """Return whether a reveal costs nothing: the values are owned, or the person is suppressed."""
    is_owned, identifiers = known_people.is_owned(session, workspace_id, price.subject, price.field_request)
    return is_owned or bool(suppression_checks.suppressed(session, identifiers))


def _insert_or_find(
    session: Session,
    job_request: JobRequest,
    price: _Price,
    *,
    freshness: Freshness,
    deadline: timedelta,
    now: Moment,
) -> tuple[SubmitResult, bool]:
    """Insert the job, unless an equal one is open or its result can be reused; return whether it is held.

    A unique index decides between concurrent equal requests: the second waits for the first transaction and
    then finds its job. A finished job is searched after the insertion, since an equal one may be submitted
    and finished at any moment before; the index excludes open jobs only.
    """
    digest = _dedup_digest(session, job_request)
    same_request = {"workspace_id": job_request.workspace_id, "dedup_digest": digest}
    while True:
        inserted = _insert(session, job_request, digest, price, deadline=deadline, now=now)
        if inserted is None and (opened := _OPEN_JOB.first(session, same_request)) is not None:
            return SubmitResult(opened), False
        to_hold = None if job_request.allow_partial_hold else inserted
        finished, is_held = result_reuse.find_or_hold(
            session, same_request, to_hold, freshness=freshness, now=now
        )
        if finished is not None:
            if inserted is not None:
                jobs.remove(session, inserted.id)
            return SubmitResult(finished), False
        if inserted is not None:
            has_endpoints = inserted.has_endpoints  # type: ignore[attr-defined]  # a column of the insertion
            return SubmitResult(inserted, is_new=True, has_endpoints=has_endpoints), is_held
        # The open job was finished since the insertion, and its result cannot be reused.


@dataclass(frozen=True, slots=True)
class _Price:
    """The credits to hold, and the parameters of the conditions under which the job is free instead."""

    credits: int
    parameters: dict[str, Any]


def _price(session: Session, job_request: JobRequest) -> _Price:
    """Return the credits to hold. A reveal is free if the contact's field is owned or the person suppressed.

    Neither is read here: the statement that inserts the job looks for the contact by id or profile and for
    the identifiers that the caller has given. The worker, which reads all that is stored, charges nothing
    where more turns out to be owned or suppressed.

    Raises:
        ContactNotFound: the subject of a reveal has a contact id that does not exist.

    """
    price = job_request.price
    if isinstance(price, int):
        return _Price(price, suppression_checks.parameters() | ownership.field_parameters())
    subject, field = price.subject, price.field_request.field.value
    if subject.contact_id is not None and not candidates.by_ids(session, [subject.contact_id]):
        raise ContactNotFound
    (told,) = reverse_lookups.visible(session, job_request.workspace_id, [subject])
    listed = suppression_checks.request_parameters(
        session, contact_data.requested_identifiers(told, names=False)
    )
    profile = subject.linkedin_url if subject.contact_id is None else None
    owned = ownership.field_parameters(field, contact_id=subject.contact_id, linkedin_url=profile)
    return _Price(price.credits, listed | owned)


def _dedup_digest(session: Session, job_request: JobRequest) -> bytes:
    """Return the 32-byte digest of kind and dedup key; keyed, since requests name people.

    With regional rules it is another one, so that no answer from before the rules is returned again.
    """
    parts: list[Any] = [job_request.kind, job_request.dedup_key]
    if rules := hidden_values.rules_of(session):
        parts.append(rules.key)
    return digest_keys(session).digest("job request", json.dumps(parts, sort_keys=True))


def _insert(
    session: Session,
    job_request: JobRequest,
    digest: bytes,
    price: _Price,
    *,
    deadline: timedelta,
    now: Moment,
) -> Job | None:
    """Insert the job; return None if a concurrent request has opened an equal one."""
    values: dict[str, Any] = {
        "id": job_request.job_id,
        "workspace_id": job_request.workspace_id,
        "account_id": job_request.account_id,
        "key_id": job_request.key_id,
        "kind": job_request.kind.value,
        "queue": QUEUES[job_request.kind].value,
        "request_digest": digest,
        "request": encrypted(session, Job.request, job_request.job_id, job_request.request),
        "status": Status.QUEUED.value,
        "trace": [],
        "held": price.credits,
        "charged": 0,
        "already_owned": False,
        "progress_done": 0,
        "progress_total": len(job_request.items) or 1,
        "attempts": 0,
        "crashes": 0,
        "publishes": 0,
    }
    statement = _insertion(tuple(values), deadline, now)
    parameters = {f"new_{name}": value for name, value in values.items()}
    row = statement.first(session, parameters | price.parameters)
    return cast("Job | None", row)


@lru_cache(maxsize=8)
def _insertion(names: tuple[str, ...], deadline: timedelta, now: Moment) -> Statement:
    """Return the statement that inserts a job and returns it, unless an equal one is open."""
    columns = Job.__table__.c
    values: dict[str, Any] = {name: bindparam(f"new_{name}", type_=columns[name].type) for name in names}
    is_free = or_(suppression_checks.IS_ANY_OF_FEW, ownership.is_field_owned(values["workspace_id"]))
    values["held"] = case((is_free, 0), else_=values["held"])
    values |= {"run_after": now, "deadline_at": now + deadline, "created_at": now}
    has_endpoints = endpoints.any_enabled(values["workspace_id"]).label("has_endpoints")
    return Statement(
        lambda dialect: (
            insert_into(dialect, Job)
            .values(values)
            .on_conflict_do_nothing()
            .returning(*columns, has_endpoints)
        )
    )


def _add_items(session: Session, job: Job, job_request: JobRequest) -> None:
    for index, request in enumerate(job_request.items):
        session.add(JobItem(job_id=job.id, index=index, request=request, charged=0))
