"""Receipts: the jobs of a workspace that a filter selects, with their trace and their cost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from app.domain.kinds import Outcome, Status
from app.engine.jobs import jobs
from app.engine.jobs.jobs import PURPOSE, Job
from app.engine.jobs.stored_jobs import StoredJob
from app.infra.clock import rfc3339
from app.infra.database.session import Session

COLUMNS = (
    "id", "kind", "status", "outcome", "error", "account_id", "created_at", "finished_at", "items", "done",
    "charged", "already_owned", "providers", "provider_cost", "purpose",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs are listed; None is no filter. `kinds` are those that the caller may see."""

    kinds: Collection[str]
    kind: str | None = None
    status: Status | None = None
    outcome: Outcome | None = None
    account: str | None = None
    since: datetime | None = None


def page(
    session: Session, workspace_id: str, job_filter: JobFilter, *, before: str | None, limit: int
) -> list[StoredJob]:
    """Return the workspace's jobs that the filter selects and that are older than `before`, newest first."""
    kinds = [kind for kind in job_filter.kinds if job_filter.kind in {None, kind}]
    equal = {Job.outcome: job_filter.outcome, Job.account_id: job_filter.account}
    query = jobs.latest_query(workspace_id, status=job_filter.status, before=before, limit=limit, kinds=kinds)
    query = query.where(*(column == value for column, value in equal.items() if value is not None))
    if job_filter.since is not None:
        query = query.where(Job.created_at >= job_filter.since)
    return jobs.rows(session, query)


def of_contact(session: Session, workspace_id: str, job_ids: Collection[str]) -> Sequence[StoredJob]:
    """Return the workspace's jobs with these ids, newest first."""
    is_own = (Job.workspace_id == workspace_id, Job.id.in_(job_ids))
    query = select(*jobs.STORED).where(*is_own).order_by(Job.created_at.desc(), Job.id.desc())
    return jobs.rows(session, query)


def receipt(job: StoredJob) -> dict[str, Any]:
    """Return the receipt of a job, which contains no personal data."""
    return {
        "id": job.id,
        "kind": job.kind,
        "status": job.status,
        "outcome": job.outcome,
        "error": job.error["code"] if job.error else None,
        "account_id": job.account_id,
        "created_at": rfc3339(job.created_at),
        "finished_at": rfc3339(job.finished_at),
        "items": job.progress_total,
        "done": job.progress_done,
        "charged": job.charged,
        "already_owned": job.already_owned,
        "purpose": job.request.get(PURPOSE),
        "trace": job.trace,
    }


def row(job: StoredJob) -> dict[str, str | float]:
    """Return the receipt as cells of a table: the trace as the names and outcomes of the providers."""
    cells = receipt(job)
    lines: list[dict[str, Any]] = cells.pop("trace")
    cells["providers"] = "; ".join(f"{line.get('provider')} {line.get('outcome')}" for line in lines)
    cells["provider_cost"] = sum(line.get("cost") or 0 for line in lines)
    cells["already_owned"] = "yes" if job.already_owned else "no"
    return {
        name: value if isinstance(value, int | float) else str(value)
        for name, value in cells.items()
        if value is not None
    }
