"""Companies by hash: nobody outside is asked, the answer is in the database."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from app.core.jobs.leases import Claim, JobResult
from app.core.lookups import company_hashes
from app.domain.kinds import Kind, Outcome
from workers.execution.job_runner import Resolution, WorkerServices, job


@job(Kind.COMPANY_BY_HASH)
def company_by_hash(claim: Claim, _machines: WorkerServices) -> Resolution:
    """Resolve `company_by_hash`."""

    def settle(session: Session, _now: datetime) -> JobResult:
        result = company_hashes.find(session, claim.workspace_id, claim.request)
        return JobResult(outcome=Outcome.NOT_FOUND if result is None else Outcome.FOUND, result=result)

    return settle
