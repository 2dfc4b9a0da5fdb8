"""Companies by hash: nobody outside is asked, the answer is in the database."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from app.core import company_hashes
from app.core.leases import Answer, Claim
from app.domain.kinds import Kind, Outcome
from workers.base import Machines, Resolution, job


@job(Kind.COMPANY_BY_HASH)
def company_by_hash(claim: Claim, _machines: Machines) -> Resolution:
    """Resolve `company_by_hash`."""

    def settle(session: Session, _now: datetime) -> Answer:
        result = company_hashes.find(session, claim.workspace_id, claim.request)
        return Answer(outcome=Outcome.NOT_FOUND if result is None else Outcome.FOUND, result=result)

    return settle
