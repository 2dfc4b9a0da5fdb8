"""The receipts of one contact: what each request cost for that person, also if it was about many."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from app.domain.kinds import KINDS
from app.engine.jobs import job_receipts
from app.engine.jobs.jobs import JobItem
from app.engine.jobs.stored_jobs import StoredJob
from app.engine.ledger.reveals import Reveal
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True)
class ContactReceipt:
    """A receipt of a job (see `job_receipts.receipt`), with the cost and the trace of one person.

    `people` is how many the job was about.
    """

    receipt: dict[str, Any]
    charged: int
    trace: list[dict[str, Any]]
    people: int


def of_contact(
    session: Session, workspace_id: str, contact_id: str, job_ids: Collection[str]
) -> list[ContactReceipt]:
    """Return the receipts of the workspace's jobs with these ids for the contact, newest first."""
    jobs = job_receipts.of_contact(session, workspace_id, job_ids)
    many = [job.id for job in jobs if KINDS[job.kind].has_items and job.progress_total > 1]
    items = _items(session, contact_id, many)
    paid = _paid(session, workspace_id, contact_id, many)
    return [_receipt(job, items.get(job.id), paid.get(job.id, 0), is_one=job.id not in many) for job in jobs]


def _receipt(job: StoredJob, item: JobItem | None, paid: int, *, is_one: bool) -> ContactReceipt:
    receipt = job_receipts.receipt(job)
    if is_one:
        return ContactReceipt(receipt, job.charged, job.trace, 1)
    if item is None:  # its result is deleted
        return ContactReceipt(receipt, paid, [], job.progress_total)
    trace = [line for line in job.trace if line.get("item") == item.index]
    return ContactReceipt(receipt | {"outcome": item.outcome}, item.charged, trace, job.progress_total)


def _items(session: Session, contact_id: str, job_ids: Sequence[str]) -> dict[str, JobItem]:
    """Return the item of each job that found the contact."""
    if not job_ids:
        return {}
    items = session.scalars(select(JobItem).where(JobItem.job_id.in_(job_ids)))
    return {item.job_id: item for item in items if _found(item) == contact_id}


def _found(item: JobItem) -> str | None:
    result = item.result or {}
    found: str | None = result.get("contact_id") or (result.get("contact") or {}).get("id")
    return found


def _paid(session: Session, workspace_id: str, contact_id: str, job_ids: Sequence[str]) -> dict[str, int]:
    """Return what was paid for fields of the contact by each job."""
    query = select(Reveal.job_id, func.sum(Reveal.credits)).where(
        Reveal.workspace_id == workspace_id, Reveal.contact_id == contact_id, Reveal.job_id.in_(job_ids)
    )
    return {job_id: int(paid) for job_id, paid in session.execute(query.group_by(Reveal.job_id))}
