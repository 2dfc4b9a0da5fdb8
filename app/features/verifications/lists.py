"""Verified lists as a workspace sees them: created with their jobs, read with the verdicts of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select

from app.domain.errors import InsufficientCredits, NotFound
from app.domain.findings import EmailStatus
from app.domain.ids import is_id, new_id
from app.domain.kinds import Kind, Outcome
from app.engine.accounts.workspaces import balance
from app.engine.jobs import submission
from app.engine.jobs.jobs import Job, JobItem
from app.engine.jobs.result_reuse import NO_REUSE
from app.engine.jobs.submission import JobRequest
from app.features.verifications import values as value_lists
from app.features.verifications import verdicts
from app.features.verifications.tables import VerificationJob, VerificationList
from app.features.verifications.values import Values
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

JOB_SIZE = 100
DEADLINE = timedelta(days=1)
"""A verdict that is not there by then is unknown, and not charged."""
RUNNING, FINISHED = "running", "finished"
PENDING = "pending"
"""The status of a value before its verdict."""
UNKNOWN = "List the workspace's verified lists with GET /api/verifications."


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRow:
    """A value of a list with its verdict; `position` is its place in the list, from 0."""

    position: int
    value: str
    status: str
    reasons: tuple[str, ...]
    country: str | None
    line_type: str | None
    credits: int | None
    verified_at: str | None
    job_id: str


def hold_of(values: Values, price: int, max_credits: int | None) -> int:
    """Return what the verification of the values costs at most."""
    cost = values.emails * price
    return cost if max_credits is None else min(cost, max_credits)


def create(
    session: Session,
    values: Values,
    *,
    workspace_id: str,
    account_id: str,
    key_id: str | None,
    price: int,
    max_credits: int | None,
    now: Moment,
) -> tuple[VerificationList, list[str]]:
    """Insert a list with its jobs, and hold what they cost at most; return it with the ids of its jobs.

    Raises:
        InsufficientCredits: the workspace has fewer; nothing is stored.

    """
    hold, available = hold_of(values, price, max_credits), balance(session, workspace_id).available
    if available < hold:
        raise InsufficientCredits(required=hold, balance=available)
    row = VerificationList(
        id=new_id("vrf"),
        workspace_id=workspace_id,
        account_id=account_id,
        total=len(values.found),
        duplicates=values.duplicates,
        unreadable=len(values.unreadable),
        created_at=now,
    )
    session.add(row)
    session.flush()
    job_ids = []
    for number, items in enumerate(value_lists.chunks(values, JOB_SIZE)):
        cost = min(hold, sum("email" in item for item in items) * price)
        hold -= cost
        request = JobRequest(
            kind=Kind.VERIFICATION,
            workspace_id=workspace_id,
            account_id=account_id,
            key_id=key_id,
            request={"max_credits": cost},
            dedup_key={"list": row.id, "number": number},
            price=cost,
            items=tuple(items),
        )
        job = submission.submit(session, request, freshness=NO_REUSE, deadline=DEADLINE, now=now).job
        session.add(VerificationJob(list_id=row.id, number=number, job_id=job.id))
        job_ids.append(job.id)
    session.flush()
    session.refresh(row)
    return row, job_ids


def get(session: Session, workspace_id: str, list_id: str) -> VerificationList:
    """Return the workspace's list.

    Raises:
        NotFound: the workspace has no list with this id.

    """
    query = select(VerificationList).where(
        VerificationList.id == list_id, VerificationList.workspace_id == workspace_id
    )
    row = session.scalar(query) if is_id(list_id, "vrf") else None
    if row is None:
        raise NotFound(UNKNOWN)
    return row


def latest(
    session: Session, workspace_id: str, *, before: str | None, limit: int
) -> Sequence[VerificationList]:
    """Return the workspace's lists that are older than `before`, newest first."""
    query = select(VerificationList).where(VerificationList.workspace_id == workspace_id)
    if before is not None:
        query = query.where(VerificationList.id < before)
    return session.scalars(query.order_by(VerificationList.id.desc()).limit(limit)).all()


def describe(session: Session, row: VerificationList) -> dict[str, Any]:
    """Return the representation of a list, with the progress and the cost of its jobs."""
    of_list = VerificationJob.list_id == row.id
    query = select(
        func.coalesce(func.sum(Job.progress_done), 0),
        func.coalesce(func.sum(Job.charged), 0),
        func.coalesce(func.sum(Job.held), 0),
        func.count(Job.id).filter(Job.finished_at.is_(None)),
        func.max(Job.finished_at),
    )
    done, charged, held, are_open, finished_at = session.execute(
        query.join(VerificationJob, VerificationJob.job_id == Job.id).where(of_list)
    ).one()
    open_held = select(func.coalesce(func.sum(Job.held - Job.charged), 0)).join(
        VerificationJob, VerificationJob.job_id == Job.id
    )
    reserved = session.scalar(open_held.where(of_list, Job.finished_at.is_(None)))
    return {
        "id": row.id,
        "status": RUNNING if are_open else FINISHED,
        "total": row.total,
        "done": int(done) if are_open else row.total,
        "duplicates": row.duplicates,
        "unreadable": row.unreadable,
        "credits": {"charged": int(charged), "reserved": int(reserved or 0), "at_most": int(held)},
        "created_at": row.created_at,
        "finished_at": None if are_open else finished_at,
    }


def rows(session: Session, row: VerificationList) -> list[ListRow]:
    """Return the values of a list in their order, each with its verdict.

    No address at a domain that accepts all mail is `valid`, whatever job found that out.
    """
    query = (
        select(
            *(JobItem.job_id, JobItem.request, JobItem.outcome, JobItem.result, JobItem.charged),
            (Job.finished_at.is_(None) & JobItem.outcome.is_(None) & JobItem.error.is_(None)).label(
                "is_open"
            ),
        )
        .join(VerificationJob, VerificationJob.job_id == JobItem.job_id)
        .join(Job, Job.id == JobItem.job_id)
        .where(VerificationJob.list_id == row.id)
    )
    found = session.execute(query).all()
    accept_all = {domain for item in found if (domain := verdicts.accept_all_domain(item.result))}
    read = [_row(item, verdicts.at_most_accept_all(item.result, accept_all)) for item in found]
    return sorted(read, key=lambda each: each.position)


def counts(read: Sequence[ListRow]) -> dict[str, int]:
    """Return how many values have each status."""
    return dict(Counter(each.status for each in read).most_common())


def _row(item: Any, result: dict[str, Any] | None) -> ListRow:  # noqa: ANN401 -- a row of several columns
    values = [*result["emails"], *result["phones"]] if result else []
    value: dict[str, Any] = values[0] if values else {}
    request = item.request
    return ListRow(
        position=request.get("position", 0),
        value=request.get("email") or request.get("phone") or "",
        status=PENDING if item.is_open else _status(item.outcome, result),
        reasons=tuple(value.get("status_reasons", ())),
        country=value.get("country"),
        line_type=value.get("line_type"),
        credits=item.charged,
        verified_at=value.get("verified_at"),
        job_id=item.job_id,
    )


def _status(outcome: str | None, result: dict[str, Any] | None) -> str:
    """Return the status of a value; a person who opted out is `suppressed`."""
    if outcome == Outcome.SUPPRESSED:
        return outcome
    return verdicts.status_of(result) if result else EmailStatus.UNKNOWN.value
