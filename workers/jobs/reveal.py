"""Reveals: an e-mail or phone of one person, handed over and charged once."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from app.core.jobs.leases import Claim, JobResult
from app.core.lookups.disclosure import ContactField, FieldRequest
from app.core.privacy import redaction
from app.domain.kinds import Kind, Outcome
from app.domain.records.subjects import Subject
from workers.execution.job_runner import Resolution, WorkerServices, job
from workers.resolve import field_resolver
from workers.resolve.field_resolver import FieldResolution


@job(Kind.REVEAL_EMAIL)
def email(claim: Claim, services: WorkerServices) -> Resolution:
    """Resolve `reveal.email`."""
    return _reveal(claim, services, ContactField.EMAIL)


@job(Kind.REVEAL_PHONE)
def phone(claim: Claim, services: WorkerServices) -> Resolution:
    """Resolve `reveal.phone`."""
    return _reveal(claim, services, ContactField.PHONE)


def _reveal(claim: Claim, services: WorkerServices, field: ContactField) -> Resolution:
    subject = Subject(**claim.request["subject"])
    price = services.settings.prices[claim.kind]
    found = field_resolver.resolve_field(
        claim, services, subject, FieldRequest.of(field, claim.request), price=price
    )
    return lambda session, now: _settle(session, claim, found, price, now)


def _settle(session: Session, claim: Claim, found: FieldResolution, price: int, now: datetime) -> JobResult:
    kept = field_resolver.store(session, claim, found, price=price, now=now)
    handed = kept.disclosure
    if kept.suppressed:
        redaction.forget_subject(session, claim.job_id, claim.request)
        return JobResult(outcome=Outcome.SUPPRESSED, trace=found.result.trace)
    if handed is None:
        return JobResult(outcome=Outcome.NOT_FOUND, trace=found.result.trace)
    return JobResult(
        outcome=Outcome.FOUND,
        result={"contact_id": handed.contact_id, f"{found.request.field.value}s": handed.values},
        charge=handed.charge,
        already_owned=handed.already_owned,
        trace=found.result.trace,
    )
