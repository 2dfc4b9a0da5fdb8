"""Looks up a company by hash in the database; calls no provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.kinds import Kind, Outcome
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.engine.lookups import company_hashes
from app.infra.crypto import oprf
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution.job_runner import job
from workers.execution.worker_services import WorkerServices


def _from_stored(session: Session, claims: Sequence[Claim], services: WorkerServices) -> list[JobResult]:
    return [CompanyLookup(claim, services.settings).settle(session, claim.claimed_at) for claim in claims]


@job(Kind.COMPANY_BY_HASH, from_stored=_from_stored)
def company_by_hash(claim: Claim, services: WorkerServices) -> CompanyLookup:
    """Resolve `company_by_hash`."""
    return CompanyLookup(claim, services.settings)


@dataclass(frozen=True, slots=True)
class CompanyLookup:
    """A look-up, made while the job is settled."""

    claim: Claim
    settings: Settings

    def settle(self, session: Session, _now: datetime) -> JobResult:
        """Look up the company."""
        request = self.claim.request
        oprf_key = oprf.of_public_key(self.settings, request["key"]) if "key" in request else None
        result = company_hashes.find(session, self.claim.workspace_id, request, oprf_key)
        return JobResult(outcome=Outcome.NOT_FOUND if result is None else Outcome.FOUND, result=result)
