"""Reveals an e-mail address or a phone number of a contact, and charges for it once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.core.jobs.claims import Claim
from app.core.jobs.leases import JobResult
from app.core.lookups.disclosure import ContactField, FieldRequest
from app.core.privacy import redaction
from app.domain.kinds import Kind, Outcome
from app.domain.records.subjects import Subject
from workers.execution.job_runner import job
from workers.execution.worker_services import WorkerServices
from workers.resolve import field_resolver
from workers.resolve.field_resolver import FieldResolution


@job(Kind.REVEAL_EMAIL)
def email(claim: Claim, services: WorkerServices) -> RevealResolution:
    """Resolve `reveal.email`."""
    return _resolve(claim, services, ContactField.EMAIL)


@job(Kind.REVEAL_PHONE)
def phone(claim: Claim, services: WorkerServices) -> RevealResolution:
    """Resolve `reveal.phone`."""
    return _resolve(claim, services, ContactField.PHONE)


def _resolve(claim: Claim, services: WorkerServices, field: ContactField) -> RevealResolution:
    subject = Subject(**claim.request["subject"])
    request = FieldRequest.parse(field, claim.request)
    price = services.settings.prices[claim.kind]
    resolved = field_resolver.resolve_field(claim, services, subject, request, price=price)
    return RevealResolution(claim, resolved, price)


@dataclass(frozen=True, slots=True)
class RevealResolution:
    """The resolved field of a reveal and its price."""

    claim: Claim
    resolved: FieldResolution
    price: int

    def settle(self, session: Session, now: datetime) -> JobResult:
        """Store the values, disclose the requested ones to the workspace, and charge for them."""
        stored = field_resolver.store(session, self.claim, self.resolved, price=self.price, now=now)
        disclosure, trace = stored.disclosure, self.resolved.result.trace
        if stored.suppressed:
            redaction.remove_subject(session, self.claim.job_id, self.claim.request)
            return JobResult(outcome=Outcome.SUPPRESSED, trace=trace)
        if disclosure is None:
            return JobResult(outcome=Outcome.NOT_FOUND, trace=trace)
        return JobResult(
            outcome=Outcome.FOUND,
            result={
                "contact_id": disclosure.contact_id,
                f"{self.resolved.request.field.value}s": disclosure.values,
            },
            charge=disclosure.charge,
            already_owned=disclosure.already_owned,
            trace=trace,
        )
