"""Reveals an e-mail address or a phone number of a contact, and charges for it once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from app.domain.errors import PurposeRequired
from app.domain.kinds import Kind, Outcome
from app.domain.records.subjects import Subject
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.engine.lookups import disclosure, offers
from app.engine.lookups.disclosure import Disclosure
from app.engine.lookups.field_requests import ContactField, FieldRequest
from app.engine.lookups.offers import Offer
from app.engine.privacy import redaction
from app.infra.database.session import Session
from app.settings import Settings
from workers.execution import retries
from workers.execution.job_runner import job
from workers.execution.worker_services import WorkerServices
from workers.resolve import field_resolver
from workers.resolve.field_resolver import FieldResolution


def _from_stored(field: ContactField, session: Session, claim: Claim, settings: Settings) -> JobResult | None:
    """Disclose fresh stored values; return None if a provider may find better ones, or the hold is too small.

    The result is an error if a purpose must be stated for the person.
    """
    request = FieldRequest.parse(field, claim.request)
    purchase = field_resolver.purchase_of(claim, price=settings.prices[claim.kind], now=claim.claimed_at)
    known = offers.assess(
        session,
        claim.workspace_id,
        Subject(**claim.request["subject"]),
        request,
        Offer(purchase.is_affordable, claim.purpose),
        default_max_age=settings.default_max_age,
        now=claim.claimed_at,
    )
    if known.needs_purpose and claim.purpose is None and (known.is_hidden or not known.suppressed):
        return JobResult(outcome=None, error=settings.purpose_rule.refusal())
    if known.suppressed:
        return _suppressed(session, claim, is_told=not known.is_hidden)
    is_paid = known.owned or purchase.is_affordable
    if known.contact is None or not known.has_fresh_value or not is_paid:
        return None
    purchase = replace(purchase, countries=known.countries)
    disclosed = disclosure.disclose(session, purchase, known.contact, request, known.data)
    if disclosed is None:
        return None
    offers.remember_sale(session, claim.workspace_id, known, disclosed.contact_id, now=claim.claimed_at)
    return _found(disclosed, field)


@job(Kind.REVEAL_EMAIL, from_stored=partial(_from_stored, ContactField.EMAIL))
def email(claim: Claim, services: WorkerServices) -> RevealResolution:
    """Resolve `reveal.email`."""
    return _resolve(claim, services, ContactField.EMAIL)


@job(Kind.REVEAL_PHONE, from_stored=partial(_from_stored, ContactField.PHONE))
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
        """Store the values, disclose the requested ones to the workspace, and charge for them.

        If it turns out now that a purpose must be stated, the values remain stored for a request with one.

        Raises:
            RetryLater: the contact was deleted during the provider calls, or the owned value was refunded.

        """
        trace = self.resolved.result.trace
        try:
            with retries.after_deletion(trace):
                stored = field_resolver.store(session, self.claim, self.resolved, price=self.price, now=now)
        except PurposeRequired as problem:
            return JobResult(outcome=None, error=problem, trace=trace)
        if stored.suppressed:
            known = self.resolved.known
            return _suppressed(session, self.claim, trace, is_told=not (known.suppressed and known.is_hidden))
        if stored.disclosure is None:
            return JobResult(outcome=Outcome.NOT_FOUND, trace=trace)
        return _found(stored.disclosure, self.resolved.request.field, trace)


def _suppressed(
    session: Session, claim: Claim, trace: Sequence[dict[str, Any]] = (), *, is_told: bool
) -> JobResult:
    redaction.remove_subject(session, claim.job_id, claim.request)
    return JobResult(outcome=Outcome.SUPPRESSED if is_told else Outcome.NOT_FOUND, trace=trace)


def _found(disclosed: Disclosure, field: ContactField, trace: Sequence[dict[str, Any]] = ()) -> JobResult:
    return JobResult(
        outcome=Outcome.FOUND,
        result={"contact_id": disclosed.contact_id, f"{field.value}s": disclosed.values},
        charge=disclosed.charge,
        already_owned=disclosed.already_owned,
        trace=trace,
    )
