"""Looks up leads by the hash of their company's website in the database; calls no provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.kinds import Kind, Outcome
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.engine.lookups import leads
from app.infra.database.session import Session
from workers.execution.job_runner import job
from workers.execution.worker_services import WorkerServices


def _from_stored(session: Session, claims: Sequence[Claim], services: WorkerServices) -> list[JobResult]:
    return [
        LeadsLookup(claim, services.settings.prices).settle(session, claim.claimed_at) for claim in claims
    ]


@job(Kind.LEADS_BY_WEBSITE_HASH, from_stored=_from_stored)
def leads_by_website_hash(claim: Claim, services: WorkerServices) -> LeadsLookup:
    """Resolve `leads_by_website_hash`."""
    return LeadsLookup(claim, services.settings.prices)


@dataclass(frozen=True, slots=True)
class LeadsLookup:
    """A look-up, made while the job is settled."""

    claim: Claim
    prices: Mapping[str, int]

    def settle(self, session: Session, _now: datetime) -> JobResult:
        """Look up the leads."""
        claim = self.claim
        result = leads.by_website_hash(session, claim.workspace_id, claim.request, prices=self.prices)
        return JobResult(outcome=Outcome.NOT_FOUND if result is None else Outcome.FOUND, result=result)
