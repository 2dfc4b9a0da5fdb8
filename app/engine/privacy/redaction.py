"""Removes personal data from jobs, and keeps what explains their charges.

A redacted job keeps its id, workspace, kind, status, outcome, times, credits and receipt. Its dedup digest is
replaced by 32 random bytes, since the subject could be guessed from the digest.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Update, delete, select, update

from app.domain.kinds import Outcome, Status
from app.domain.records.person_matcher import PersonMatcher
from app.domain.records.profile_links import spellings
from app.domain.records.subjects import Subject
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.jobs import provider_calls
from app.engine.jobs.idempotency import IdempotencyKey
from app.engine.jobs.jobs import RETAINED, Job, JobItem
from app.engine.jobs.provider_calls import ProviderCall
from app.engine.ledger import credits
from app.engine.lookups import contact_data
from app.engine.mentions.mention_tables import JobMention
from app.infra.database.database_clock import Moment
from app.infra.database.encrypted_columns import encrypted, row_name
from app.infra.database.session import Session

_ID = re.compile(r"[\w.:#-]+")
_REFERENCE = "client_reference"
_SENSITIVE_FIELDS = ("detail", "errors")
"""The fields of a problem that may repeat the caller's input."""
EXPIRED_JOBS = 50
"""The most jobs that one batch of `redact_expired` redacts; an enrichment has up to 100 items."""


def redact(session: Session, job: Job, matcher: PersonMatcher, *, now: datetime) -> None:
    """Remove the person from a job that the caller has locked; end it as suppressed if it is open.

    Its held credits are released. An open enrichment continues with its other items: a worker that runs it
    loses the lease, and the job returns to the queue. A job about someone else that mentions the person only
    in a client reference loses that field, and stays as it is.
    """
    items = session.scalars(select(JobItem).where(JobItem.job_id == job.id)).all()
    _delete_references(job, items, matcher)
    matching_items = [item for item in items if matcher.matches([item.request, item.result, item.error])]
    if not matching_items and not matcher.matches([job.request, job.result, job.error, job.trace]):
        return
    job.request_digest = secrets.token_bytes(32)
    if job.finished_at is None:
        if items:
            _requeue(job, now)
        else:
            _end(session, job, now)
    for item in matching_items:
        if item.outcome is None and item.error is None:
            item.outcome = Outcome.SUPPRESSED.value
            job.progress_done += job.finished_at is None
        item.request, item.result, item.error = {}, None, _without_details(item.error)
    if not items:
        job.request, job.result, job.error = {}, None, _without_details(job.error)
    job.trace = [line for line in job.trace if not matcher.matches(line)]
    session.flush()
    _redact_calls(session, job.id, [item.index for item in matching_items] if items else None)


def without_references(content: object) -> object:
    """Return the content of a job without the client references, which are notes of the workspace."""
    if isinstance(content, dict):
        return {name: without_references(value) for name, value in content.items() if name != _REFERENCE}
    return [without_references(element) for element in content] if isinstance(content, list) else content


def delete_lookups(session: Session, job_ids: Sequence[str]) -> None:
    """Delete free jobs with their idempotency keys."""
    delete_idempotency_keys(session, job_ids)
    session.execute(delete(Job).where(Job.id.in_(job_ids)))


def delete_idempotency_keys(session: Session, references: Sequence[str]) -> int:
    """Delete the idempotency keys of these records, so that a replay is a new request; return how many."""
    deletion = delete(IdempotencyKey).where(IdempotencyKey.reference.in_(references))
    return len(session.scalars(deletion.returning(IdempotencyKey.key)).all())


def remove_subject(session: Session, job_id: str, request: dict[str, Any]) -> None:
    """Remove the subject from a job that turned out to concern a suppressed person."""
    session.execute(
        update(Job)
        .where(Job.id == job_id)
        .values(
            request=encrypted(session, Job.request, job_id, without_subject(request)),
            request_digest=secrets.token_bytes(32),
        )
        .execution_options(synchronize_session=False)
    )


def without_subject(request: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of a request about a suppressed person: a client reference of one word, like an id.

    A longer one may be a name, which cannot be checked: only digests of the person's identifiers are stored.
    """
    reference = request.get(_REFERENCE, "")
    matcher = person_matcher(contact_data.given_identifiers(Subject(**request["subject"])))
    is_id = _ID.fullmatch(reference) and not matcher.matches(reference)
    return {_REFERENCE: reference} if is_id else {}


def redact_expired(session: Session, *, before: Moment) -> int:
    """Redact all jobs that ended before then, at most one batch; return how many.

    Their idempotency keys and the period of deduplication have expired long before. Requests and results are
    replaced without being read: the items of a batch may be many. Jobs that another transaction locks, such
    as an erasure, are left to a later batch.
    """
    old = select(Job.id).where(RETAINED, Job.finished_at < before).order_by(Job.finished_at)
    locked = old.limit(EXPIRED_JOBS).with_for_update(key_share=True, skip_locked=True)
    job_ids = session.scalars(locked).all()
    if job_ids:
        _redact_errors(session, job_ids)
        _redact_contents(session, job_ids)
        session.execute(delete(JobMention).where(JobMention.job_id.in_(job_ids)))
    return len(job_ids)


def _redact_errors(session: Session, job_ids: Sequence[str]) -> None:
    """Remove the details from the errors of the jobs and of their items; few have any."""
    jobs = select(Job.id, Job.error).where(Job.id.in_(job_ids), Job.error.is_not(None))
    for row in session.execute(jobs).all():
        error = encrypted(session, Job.error, row.id, _without_details(row.error))
        session.execute(_core_update(Job).where(Job.id == row.id).values(error=error))
    items = select(JobItem.job_id, JobItem.index, JobItem.error)
    failed = items.where(JobItem.job_id.in_(job_ids), JobItem.error.is_not(None))
    for row in session.execute(failed).all():
        key = (row.job_id, row.index)
        error = encrypted(session, JobItem.error, row_name(*key), _without_details(row.error))
        is_item = (JobItem.job_id == row.job_id, JobItem.index == row.index)
        session.execute(_core_update(JobItem).where(*is_item).values(error=error))


def _redact_contents(session: Session, job_ids: Sequence[str]) -> None:
    empty: dict[str, Any] = {"request": {}, "result": None}
    for job_id in job_ids:
        values = empty | {"request_digest": secrets.token_bytes(32)}
        session.execute(_core_update(Job).where(Job.id == job_id).values(values))
    session.execute(_core_update(JobItem).where(JobItem.job_id.in_(job_ids)).values(empty))


def _core_update(table: type[Job | JobItem]) -> Update:
    return update(table).execution_options(synchronize_session=False)


def person_matcher(
    identifiers: Iterable[Identifier],
    *,
    contact_ids: Collection[str] = (),
    names: Collection[tuple[str, str]] = (),
) -> PersonMatcher:
    """Return a matcher for the person with these identifiers."""
    values: dict[str, set[str]] = {"email": set(), "linkedin_url": set(), "phone": set()}
    for identifier in identifiers:
        values.setdefault(identifier.kind, set()).update(spellings(identifier.value))
    return PersonMatcher(
        contact_ids=frozenset(contact_ids),
        emails=frozenset(values["email"]),
        linkedin_urls=frozenset(values["linkedin_url"]),
        phones=frozenset(values["phone"]),
        names=frozenset(names),
    )


def _delete_references(job: Job, items: Sequence[JobItem], matcher: PersonMatcher) -> None:
    """Delete client references that mention the person, and the digest of the items with theirs."""
    rows: list[Job | JobItem] = [job, *items]
    for row in rows:
        if matcher.matches(row.request.get(_REFERENCE)):
            row.request = {name: value for name, value in row.request.items() if name != _REFERENCE}
            if items:
                job.request_digest = secrets.token_bytes(32)


def _end(session: Session, job: Job, now: datetime) -> None:
    job.status, job.outcome = Status.SUCCEEDED.value, Outcome.SUPPRESSED.value
    job.progress_done, job.finished_at = job.progress_total, now
    job.lease_token = job.lease_until = None
    credits.close(session, job.workspace_id, job.id, held=job.held, charged=job.charged, now=now)
    job.trace = [*job.trace, *provider_calls.time_out_open(session, job.id, now=now)]


def _requeue(job: Job, now: datetime) -> None:
    """Requeue a running job for its remaining items; the interrupted run does not count as an attempt."""
    if job.status == Status.RUNNING:
        job.status, job.attempts = Status.QUEUED.value, job.attempts - 1
        job.lease_token = job.lease_until = job.published_at = None
        job.run_after, job.publishes = now, max(job.publishes, 1)


def _without_details(error: dict[str, Any] | None) -> dict[str, Any] | None:
    return error and {name: value for name, value in error.items() if name not in _SENSITIVE_FIELDS}


def _redact_calls(session: Session, job_id: str, items: Sequence[int] | None) -> None:
    """Remove subject, reply and ticket from the calls of these items; None means all calls of the job."""
    session.execute(
        update(ProviderCall)
        .where(ProviderCall.job_id == job_id, *([] if items is None else [ProviderCall.item.in_(items)]))
        .values(subject_digest=secrets.token_bytes(32), reply=None, ticket=None)
        .execution_options(synchronize_session=False)
    )
