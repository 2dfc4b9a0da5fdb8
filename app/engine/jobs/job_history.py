"""Job history: past jobs with the account that asked, the person concerned, and the cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select

from app.domain.kinds import KINDS, Outcome
from app.domain.records.subjects import Subject
from app.engine.accounts.accounts import Account
from app.engine.contacts.contacts import Contact
from app.engine.jobs import jobs
from app.engine.jobs.jobs import JobItem
from app.engine.jobs.stored_jobs import StoredJob
from app.engine.lookups import contact_data
from app.infra.database.session import Session


def describe(session: Session, workspace_id: str, page: Sequence[StoredJob]) -> list[dict[str, Any]]:
    """Return the list representation of the jobs; the number of queries does not depend on their number.

    `subject` is null for a suppressed person, for a job whose result has been deleted, and for an enrichment
    of several people. `upload_id` is that of the uploaded list whose rows the job enriches, if it does.
    """
    if not page:
        return []
    accounts = _accounts(session, page)
    subjects = _visible(session, workspace_id, _subjects(session, page))
    return [
        jobs.to_public(job)
        | {
            "asked_by": accounts.get(job.account_id or ""),
            "subject": subjects.get(job.id),
            "charged": job.charged,
            "upload_id": job.request.get("upload_id"),
        }
        for job in page
    ]


def describe_with_names(
    session: Session, workspace_id: str, page: Sequence[StoredJob]
) -> list[dict[str, Any]]:
    """Return what `describe` does; subjects that have an id only also get the stored name."""
    described = describe(session, workspace_id, page)
    subjects = [job["subject"] for job in described if job["subject"] and "contact_id" in job["subject"]]
    ids = {subject["contact_id"] for subject in subjects}
    rows = session.execute(select(Contact.id, Contact.full_name).where(Contact.id.in_(ids)))
    names = {row.id: row.full_name for row in rows if row.full_name}
    for subject in subjects:
        if subject["contact_id"] in names:
            subject.setdefault("full_name", names[subject["contact_id"]])
    return described


def _accounts(session: Session, page: Sequence[StoredJob]) -> dict[str, dict[str, str]]:
    """Return the id and name of the accounts that submitted the jobs, by account id."""
    ids = {job.account_id for job in page if job.account_id}
    rows = session.execute(select(Account.id, Account.name).where(Account.id.in_(ids)))
    return {row.id: {"id": row.id, "name": row.name} for row in rows}


def _subjects(session: Session, page: Sequence[StoredJob]) -> dict[str, Subject]:
    """Return the subject of each single-person job, with the id of the contact found, by job id."""
    single = [job for job in page if job.outcome != Outcome.SUPPRESSED and job.progress_total == 1]
    enrichments = [job.id for job in single if KINDS[job.kind].has_items]
    items = session.scalars(select(JobItem).where(JobItem.job_id.in_(enrichments)))
    sources: dict[str, tuple[Mapping[str, Any], Mapping[str, Any] | None]] = {
        job.id: (job.request, job.result) for job in single
    }
    sources |= {item.job_id: (item.request, item.result) for item in items if not _is_suppressed(item)}
    return {
        job_id: Subject(**request["subject"] | _found_contact(result or {}))
        for job_id, (request, result) in sources.items()
        if "subject" in request
    }


def _is_suppressed(item: JobItem) -> bool:
    return item.outcome == Outcome.SUPPRESSED


def _found_contact(result: Mapping[str, Any]) -> dict[str, str]:
    contact_id = result.get("contact_id") or (result.get("contact") or {}).get("id")
    return {"contact_id": contact_id} if contact_id else {}


def _visible(
    session: Session, workspace_id: str, subjects: Mapping[str, Subject]
) -> dict[str, dict[str, str]]:
    """Return the subjects with no suppressed identifier, neither stored nor given in the request."""
    ids = {subject.contact_id for subject in subjects.values() if subject.contact_id}
    contacts = {
        contact.id: contact for contact in session.scalars(select(Contact).where(Contact.id.in_(ids)))
    }
    stored = contact_data.load(session, workspace_id, contacts.values(), subjects.values())
    return {
        job_id: subject.as_dict()
        for job_id, subject in subjects.items()
        if not stored.is_suppressed(contacts.get(subject.contact_id or ""), subject)
    }
