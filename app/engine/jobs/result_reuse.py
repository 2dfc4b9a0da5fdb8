"""Reuse of results: the last finished job of an equal request, unless its result may be outdated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any, NamedTuple

from sqlalchemy import Select, String, bindparam, false, literal, select, true

from app.domain.errors import InsufficientCredits, ProviderFailed, PurposeRequired, SpendingLimitReached
from app.domain.kinds import KINDS, Kind, Outcome, Status
from app.engine.call_registers import registers
from app.engine.contacts import bounce_reports, emails
from app.engine.contacts.suppressions import suppression_checks
from app.engine.exclusions import exclusions
from app.engine.jobs import jobs
from app.engine.jobs.jobs import WITHDRAWN, Job, JobItem
from app.engine.jobs.stored_jobs import StoredJob
from app.engine.ledger import credits
from app.engine.lists import import_runs
from app.infra.database.database_clock import Moment, column
from app.infra.database.session import Session
from app.infra.database.statements import Statement

SAME_REQUEST = (
    Job.workspace_id == bindparam("workspace_id"),
    Job.request_digest == bindparam("dedup_digest"),
)
"""The conditions for the jobs of an equal request."""
_RETRYABLE_CODES = frozenset(
    {InsufficientCredits.code, SpendingLimitReached.code, ProviderFailed.code, PurposeRequired.code}
)


@dataclass(frozen=True, slots=True)
class Freshness:
    """How long a finished job is reused for an equal request, for a find and for a miss."""

    found: timedelta
    not_found: timedelta

    @property
    def allows_reuse(self) -> bool:
        """Return whether a finished job is reused at all."""
        return bool(self.found or self.not_found)

    def for_outcome(self, outcome: str | None) -> timedelta:
        """Return how long a job with this outcome is reused."""
        return self.found if outcome in {Outcome.FOUND, Outcome.PARTIAL} else self.not_found


NO_REUSE = Freshness(timedelta(0), timedelta(0))


class _Beside(NamedTuple):
    """The columns beside the job."""

    last_import: datetime | None
    last_suppression: datetime | None
    last_exclusion: datetime | None
    last_register: datetime | None
    hides_by_role: bool
    now: datetime
    is_held: bool


def find_or_hold(
    session: Session,
    same_request: dict[str, Any],
    job: StoredJob | None,
    *,
    account_id: str | None,
    freshness: Freshness,
    now: Moment,
) -> tuple[StoredJob | None, bool]:
    """Return the last finished job, unless it is too old or its result may be outdated.

    A result may be outdated after an import, a new suppression, exclusion or do-not-call register, or a
    bounce of one of its addresses; that somebody is excluded or skipped may be at any time. While a register
    hides numbers by role, an account gets no result of another one's question about numbers. If no job was
    ever finished, PostgreSQL holds the credits of the new `job` in the same statement; return whether it did.
    """
    if not freshness.allows_reuse:
        return None, False
    parameters = same_request
    if job is not None:
        parameters = same_request | credits.hold_parameters(job.workspace_id, job.id, job.held, now=now)
    statement = _last_finished(now, holds=job is not None and job.held > 0)
    row = statement.first(session, parameters)
    if row is None:
        return None, False
    finished, beside = StoredJob._make(row[: len(jobs.STORED)]), _Beside._make(row[len(jobs.STORED) :])
    if finished.finished_at is None:  # only on PostgreSQL: without a job its columns are null
        return None, beside.is_held
    if finished.finished_at + freshness.for_outcome(finished.outcome) <= beside.now:
        return None, False
    if beside.hides_by_role and finished.account_id != account_id and _has_numbers(finished):
        return None, False
    return finished if _is_reusable(session, finished, beside) else None, False


def _has_numbers(job: StoredJob) -> bool:
    """Return whether the job was asked for numbers."""
    return job.kind == Kind.REVEAL_PHONE or "phone" in job.request.get("fields", ())


def _is_reusable(session: Session, job: StoredJob, beside: _Beside) -> bool:
    """Return whether the finished job answers an equal request."""
    changes = [beside.last_import, beside.last_suppression, beside.last_exclusion]
    if _has_numbers(job):
        changes.append(beside.last_register)
    if any(change is not None and change >= job.created_at for change in changes):
        return False
    if job.outcome == Outcome.EXCLUDED:
        return False
    items = jobs.items(session, job.id) if KINDS[job.kind].has_items else []
    return not _is_cut_short(items) and not _has_bounced(session, job, items)


@lru_cache(maxsize=8)
def _last_finished(now: Moment, *, holds: bool) -> Statement[tuple[Any, ...]]:
    """Return the query for the last finished job of a request, and the times that decide about its reuse.

    If it `holds`, on PostgreSQL it returns a row even without such a job, and then holds the credits of the
    new one.
    """
    return Statement(tuple, partial(_last_finished_on, now=now, holds=holds))


def _last_finished_on(dialect: str, *, now: Moment, holds: bool) -> Select[Any]:
    times = (
        import_runs.LATEST.label("last_import"),
        suppression_checks.LATEST.label("last_suppression"),
        exclusions.LATEST.label("last_exclusion"),
        registers.LAST_CHANGE.label("last_register"),
        registers.hides_by_role(bindparam("workspace_id", type_=String())).label("hides_by_role"),
        column(now).label("now"),
    )
    query = select(*jobs.STORED).where(*SAME_REQUEST, Job.status == Status.SUCCEEDED)
    query = query.order_by(Job.created_at.desc()).limit(1)
    if dialect == "sqlite" or not holds:
        return query.add_columns(*times, false().label("is_held"))
    finished = query.cte("finished")
    # With a finished job, Python decides whether it is reused, and only then whether credits must be held.
    held = credits.held_if(~select(finished.c.id).exists(), is_fixed=isinstance(now, datetime))
    is_held = select(held.c.id).exists().label("is_held")
    always = select(literal(1).label("one")).subquery("always").outerjoin(finished, true())
    return select(*finished.c, *times, is_held).select_from(always)


def _is_cut_short(items: Sequence[JobItem]) -> bool:
    """Return whether a new job could return more.

    True if, for any item, credits ran out, a provider failed, a purpose was required, the person was
    excluded or skipped, or the result was refunded.
    """
    return any(
        WITHDRAWN in item.request
        or item.outcome == Outcome.EXCLUDED
        or jobs.SKIPPED in (item.result or {})
        or (item.error is not None and item.error["code"] in _RETRYABLE_CODES)
        for item in items
    )


def _has_bounced(session: Session, job: StoredJob, items: Sequence[JobItem]) -> bool:
    results = [result for result in (job.result, *(item.result for item in items)) if result]
    returned = {email["email"] for result in results for email in result.get("emails", ())}
    return emails.any_bounced(session, returned, since=job.created_at) or bounce_reports.any_bounced(
        session, job.workspace_id, returned, since=job.created_at
    )
