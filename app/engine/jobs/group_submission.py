"""Submits many requests in the statements of one: those that nothing distinguishes.

A request is left out, and must be submitted by itself, if an equal job is open or finished, its idempotency
key was used, its contact does not exist, or its workspace has spending limits or too few credits. So what
`submission` decides about these is decided there only.

Locks: the rows of each table are inserted or locked in one order, so that two groups do not wait for each
other; the tables are in the order of `submission`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Insert,
    LargeBinary,
    Select,
    String,
    and_,
    case,
    delete,
    literal,
    or_,
    select,
)
from sqlalchemy.types import TypeEngine

from app.domain.kinds import KINDS, Status
from app.domain.reverse_lookups import values_in
from app.engine.accounts.workspaces import Workspace
from app.engine.contacts.contacts import Contact
from app.engine.contacts.suppressions import suppression_checks
from app.engine.events import endpoints
from app.engine.exclusions import exclusion_checks
from app.engine.jobs import idempotency, jobs, quotes, submission
from app.engine.jobs.jobs import Job
from app.engine.jobs.quotes import RevealPrice
from app.engine.jobs.result_reuse import Freshness
from app.engine.jobs.stored_jobs import StoredJob
from app.engine.jobs.submission import JobRequest, Submission, SubmitResult
from app.engine.ledger import credits, ownership
from app.engine.ledger.credits import Hold
from app.engine.lookups import contact_data
from app.infra.database.database_clock import Moment, column
from app.infra.database.db import insert_into
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of, rows_of


def is_plain(request: JobRequest) -> bool:
    """Return whether the request may be submitted with others: it is for one person, and stores no more."""
    price = request.price
    has_values = isinstance(price, RevealPrice) and bool(values_in(price.subject))
    return not (has_values or request.items or request.webhook_url or request.refusal)


def submit_all(
    session: Session,
    submissions: Sequence[Submission],
    *,
    freshness: Freshness,
    deadline: timedelta,
    now: Moment,
) -> list[SubmitResult | None]:
    """Insert a job for each plain request and hold its price; None for a request that was left out."""
    claims = [submission.claim for submission in submissions if submission.claim is not None]
    claimed = idempotency.claim_all(session, claims, now=now)
    requests = [item.request for item in submissions if item.claim is None or item.claim in claimed]
    inserted = _insert(session, requests, freshness=freshness, deadline=deadline, now=now)
    submitted = _checked(session, inserted, freshness)
    holds = [Hold(job.id, job.workspace_id, job.held) for job in inserted if job.held and job.id in submitted]
    unpaid = {hold.job_id for hold in holds} - credits.hold_all(session, holds, now=now)
    results = {job_id: result for job_id, result in submitted.items() if job_id not in unpaid}
    if len(results) < len(inserted):
        session.execute(delete(Job).where(Job.id.in_({job.id for job in inserted} - results.keys())))
    if unused := [claim.reference for claim in claimed if claim.reference not in results]:
        idempotency.release_all(session, unused)
    subscribed = [result.job for result in results.values() if result.has_endpoints]
    submission.subscribe_endpoints(session, subscribed, now=now)
    return [results.get(item.request.job_id) for item in submissions]


def _insert(
    session: Session,
    requests: Sequence[JobRequest],
    *,
    freshness: Freshness,
    deadline: timedelta,
    now: Moment,
) -> list[StoredJob]:
    """Insert the jobs of the requests that nothing distinguishes, and return them."""
    if not requests:
        return []
    rows, listed = list[dict[str, Any]](), list[dict[str, Any]]()
    for request in requests:
        digest, price = submission.dedup_digest(session, request), request.price
        row = submission.row_of(session, request, digest, price if isinstance(price, int) else price.credits)
        rows.append(row | {"is_reused": _is_reused(request.kind, freshness)} | quotes.owned_parameters(price))
        listed += [{"id": request.job_id, "digest": value} for value in _digests(session, request)]
    return _insertion(tuple(rows[0]), deadline, now).all(session, {"asked": rows, "listed": listed})


def _is_reused(kind: str, freshness: Freshness) -> bool:
    """Return whether a finished job may answer an equal request."""
    return freshness.allows_reuse and not KINDS[kind].is_free


def _digests(session: Session, request: JobRequest) -> list[bytes]:
    """Return the digests by which what the caller has given may be suppressed or excluded."""
    if isinstance(request.price, int):
        return []
    subject = request.price.subject
    identifiers = contact_data.requested_identifiers(subject, names=False)
    excludable = contact_data.excludable_identifiers(subject)
    return [
        *suppression_checks.digests_of(session, identifiers),
        *exclusion_checks.digests_of(session, request.workspace_id, excludable),
    ]


@lru_cache(maxsize=8)
def _insertion(names: tuple[str, ...], deadline: timedelta, now: Moment) -> Statement[StoredJob]:
    return Statement(StoredJob, lambda dialect: _insert_all(names, deadline, now, dialect))


def _insert_all(names: Sequence[str], deadline: timedelta, now: Moment, dialect: str) -> Insert:
    """Return the statement that inserts the jobs of the requests that nothing distinguishes.

    The conditions are scalar subqueries in columns, which are evaluated for one request at a time: for EXISTS
    or a join, PostgreSQL could read whole tables.
    """
    columns = Job.__table__.c
    types: dict[str, TypeEngine[Any]] = {
        name: columns[name].type if name in columns else String() for name in names
    }
    types["is_reused"] = Boolean()
    asked = rows_of(dialect, "asked", types).c
    listed = rows_of(dialect, "listed", {"id": String(), "digest": LargeBinary()}).c
    is_free = or_(
        suppression_checks.is_any_of(listed.digest, listed.id == asked.id),
        exclusion_checks.is_any_of(listed.digest, listed.id == asked.id),
        ownership.is_field_owned(asked.workspace_id, {name: asked[name] for name in ownership.OWNED_FIELD}),
    )
    payer = select(Workspace.id).where(
        Workspace.id == asked.workspace_id, ~Workspace.is_limited, Workspace.available >= asked.held
    )
    stored = [name for name in names if name in columns]
    values: dict[str, ColumnElement[Any]] = {name: asked[name] for name in stored}
    values["held"] = case((is_free, 0), else_=asked.held)
    is_plain = and_(
        ~and_(asked.is_reused, _any(_finished(asked.workspace_id, asked.request_digest))),
        _any(payer),
        or_(
            asked.owned_contact_id.is_(None),
            _any(select(Contact.id).where(Contact.id == asked.owned_contact_id)),
        ),
    )
    named = (value.label(name) for name, value in values.items())
    checked = select(*named, is_plain.label("is_plain")).subquery().c
    common = (literal(value, columns[name].type) for name, value in submission.NEW.items())
    times = (column(now), column(now + deadline), column(now))
    source = (
        select(*(checked[name] for name in stored), *common, *times)
        .where(checked.is_plain)
        .order_by(checked.workspace_id, checked.request_digest)
    )
    return (
        insert_into(dialect, Job)
        .from_select([*stored, *submission.NEW, "run_after", "deadline_at", "created_at"], source)
        .on_conflict_do_nothing()
        .returning(*jobs.STORED)
    )


def _finished(workspace_id: ColumnElement[str], digest: ColumnElement[bytes]) -> Select[str]:
    """Return the query for the finished jobs of an equal request."""
    is_equal = (Job.workspace_id == workspace_id, Job.request_digest == digest)
    return select(Job.id).where(*is_equal, Job.status == Status.SUCCEEDED)


def _any(rows: Select[Any]) -> ColumnElement[bool]:
    return rows.limit(1).scalar_subquery().is_not(None)


def _checked(
    session: Session, inserted: Sequence[StoredJob], freshness: Freshness
) -> dict[str, SubmitResult]:
    """Return the results by id of the new jobs, except if an equal one was finished meanwhile."""
    if not inserted:
        return {}
    checks = {row.id: row for row in _CHECKS.all(session, {"job_ids": [job.id for job in inserted]})}
    return {
        job.id: SubmitResult(job, is_new=True, is_held=True, has_endpoints=checks[job.id].has_endpoints)
        for job in inserted
        if not (checks[job.id].has_finished and _is_reused(job.kind, freshness))
    }


class _Check(NamedTuple):
    id: str
    has_finished: bool
    has_endpoints: bool


def _check(dialect: str) -> Select[Any]:
    new = Job.__table__.alias("new").c
    return select(
        new.id,
        _any(_finished(new.workspace_id, new.request_digest)).label("has_finished"),
        endpoints.any_enabled(new.workspace_id).label("has_endpoints"),
    ).where(any_of(dialect, new.id, "job_ids"))


_CHECKS = Statement(_Check, _check)
