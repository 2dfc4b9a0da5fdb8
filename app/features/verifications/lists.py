"""Verified lists as a workspace sees them: created with their jobs, read with the verdicts of these."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, cast

from sqlalchemy import Table, delete, func, insert, select

from app.domain.errors import InsufficientCredits, NotFound
from app.domain.ids import is_id, new_id
from app.domain.kinds import VERIFICATION_DEADLINE, Kind
from app.domain.messages import Message
from app.engine.accounts.workspaces import balance
from app.engine.jobs import group_submission, item_rows, submission
from app.engine.jobs.item_rows import ItemRow
from app.engine.jobs.jobs import Job
from app.engine.jobs.result_reuse import NO_REUSE
from app.engine.jobs.submission import JobRequest, Submission
from app.engine.ledger import next_grants
from app.features.verifications import values as value_lists
from app.features.verifications.tables import VerificationJob, VerificationList, VerificationValue
from app.features.verifications.values import Values
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

JOB_SIZE = 100
RUNNING, FINISHED = "running", "finished"
_DIGEST_BYTES = 16
_JOBS = cast("Table", VerificationJob.__table__)
_VALUES = cast("Table", VerificationValue.__table__)
UNKNOWN = Message("List the workspace's verified lists with GET /api/verifications.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The price of an address and what a verification may cost.

    The verdicts on the `known` addresses are repeated, free; if it `is_fresh`, none is.
    """

    price: int
    max_credits: int | None
    known: Collection[str] = ()
    is_fresh: bool = False

    @property
    def request(self) -> dict[str, Any]:
        """Return what the request of a job has of it, beside its own credits."""
        return {"fresh": True} if self.is_fresh else {}


def hold_of(values: Values, terms: Terms) -> int:
    """Return what the verification of the values costs at most."""
    cost = (values.emails - len(terms.known)) * terms.price
    return cost if terms.max_credits is None else min(cost, terms.max_credits)


@dataclass(frozen=True, slots=True)
class NewList:
    """A list that is ready to be stored: its row, the requests of its jobs, and the rows of its values."""

    row: VerificationList
    hold: int
    jobs: tuple[JobRequest, ...]
    items: tuple[ItemRow, ...]
    values: tuple[dict[str, Any], ...]


def prepare(
    keys: DigestKeys,
    values: Values,
    terms: Terms,
    *,
    workspace_id: str,
    account_id: str,
    key_id: str | None,
) -> NewList:
    """Return a new list; what takes time is done here, before the transaction that stores it."""
    list_id, hold = new_id("vrf"), hold_of(values, terms)
    jobs, rows, left = list[JobRequest](), list[dict[str, Any]](), hold
    digest = cache(partial(_digest, keys))
    for number, part in enumerate(value_lists.chunks(values, JOB_SIZE)):
        new = sum(bool(each.domain) and each.value.text not in terms.known for each in part)
        cost = min(left, new * terms.price)
        left -= cost
        job = JobRequest(
            kind=Kind.VERIFICATION,
            workspace_id=workspace_id,
            account_id=account_id,
            key_id=key_id,
            request={"max_credits": cost, **terms.request},
            dedup_key={"list": list_id, "number": number},
            price=cost,
            items=tuple(each.value.request() for each in part),
        )
        jobs.append(job)
        rows += [
            {
                "list_id": list_id,
                "position": each.position,
                "line": each.line,
                "job_id": job.job_id,
                "item": item,
                "domain": digest(each.domain),
            }
            for item, each in enumerate(part)
        ]
    row = VerificationList(
        id=list_id,
        workspace_id=workspace_id,
        account_id=account_id,
        total=len(values.found),
        duplicates=values.duplicates,
        unreadable=len(values.unreadable),
    )
    items = item_rows.encrypted(keys.ring, ((job.job_id, job.items) for job in jobs))
    return NewList(row, hold, tuple(jobs), tuple(items), tuple(rows))


def create(session: Session, new: NewList, *, now: Moment) -> VerificationList:
    """Insert a list with its jobs, and hold what they cost at most; the statements are few and large.

    Raises:
        InsufficientCredits: the workspace has fewer; nothing is stored.
        SpendingLimitReached: a limit of the account or key allows less; nothing is stored.

    """
    row = new.row
    available = balance(session, row.workspace_id).available
    if available < new.hold:
        raise InsufficientCredits(new.hold, available, next_grants.of_workspace(session, row.workspace_id))
    row.created_at = now
    session.add(row)
    session.flush()
    together = group_submission.submit_all(
        session,
        [Submission(job) for job in new.jobs],
        freshness=NO_REUSE,
        deadline=VERIFICATION_DEADLINE,
        now=now,
    )
    alone = {job.job_id for job, result in zip(new.jobs, together, strict=True) if result is None}
    for job in new.jobs:
        if job.job_id in alone:  # spending limits are checked for one job at a time
            submission.submit(session, job, freshness=NO_REUSE, deadline=VERIFICATION_DEADLINE, now=now)
    item_rows.add(session, [item for item in new.items if item["job_id"] not in alone])
    jobs = [
        {"list_id": row.id, "number": number, "job_id": job.job_id} for number, job in enumerate(new.jobs)
    ]
    session.execute(insert(_JOBS), jobs)
    session.execute(insert(_VALUES), list(new.values))
    session.refresh(row)
    return row


def _digest(keys: DigestKeys, domain: str) -> bytes | None:
    return keys.digest("verified domain", domain)[:_DIGEST_BYTES] if domain else None


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


def purge_expired(session: Session, *, before: Moment) -> int:
    """Delete the oldest list that was created before then, with the places of its values; return how many.

    Its jobs, which have ended long before, are redacted at that age, too, and keep what they cost.
    """
    oldest = select(VerificationList.id).where(VerificationList.created_at < before)
    list_id = session.scalar(oldest.order_by(VerificationList.created_at).limit(1))
    if list_id is None:
        return 0
    session.execute(delete(VerificationList).where(VerificationList.id == list_id))
    return 1
