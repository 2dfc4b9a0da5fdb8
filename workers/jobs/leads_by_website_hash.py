"""Leads by a website's hash: nobody outside is asked, the answer is in the database."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from app.core.jobs.leases import Claim, JobResult
from app.core.lookups import leads
from app.domain.kinds import Kind, Outcome
from workers.execution.job_runner import Resolution, WorkerServices, job


@job(Kind.LEADS_BY_WEBSITE_HASH)
def leads_by_website_hash(claim: Claim, services: WorkerServices) -> Resolution:
    """Resolve `leads_by_website_hash`."""
    prices = services.settings.prices

    def settle(session: Session, _now: datetime) -> JobResult:
        result = leads.by_website_hash(session, claim.workspace_id, claim.request, prices=prices)
        return JobResult(outcome=Outcome.NOT_FOUND if result is None else Outcome.FOUND, result=result)

    return settle
