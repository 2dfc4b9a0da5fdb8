"""Reveals an e-mail address or a phone number of a contact, and charges for it once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from app.domain.errors import PurposeRequired
from app.domain.kinds import Kind, Outcome
from app.domain.records.subjects import Subject
from app.engine.exclusions.exclusion_checks import Excluded
from app.engine.jobs import jobs
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.engine.lookups import disclosure, offers
from app.engine.lookups.disclosure import Disclosure, Sale
from app.engine.lookups.field_requests import ContactField, FieldRequest
from app.engine.lookups.known_people import KnownPerson, Question
from app.engine.lookups.offers import Offer
from app.engine.privacy import redaction
from app.infra.database.session import Session
from workers.execution import retries
from workers.execution.job_runner import job
from workers.execution.worker_services import WorkerServices
from workers.resolve import field_resolver, own_fields
from workers.resolve.field_resolver import FieldResolution

_FIELDS: dict[str, ContactField] = {
    Kind.REVEAL_EMAIL: ContactField.EMAIL,
    Kind.REVEAL_PHONE: ContactField.PHONE,
}


def _from_stored(
    session: Session, claims: Sequence[Claim], services: WorkerServices
) -> list[JobResult | None]:
    """Disclose fresh stored values, for many jobs in the statements of one.

    The result is an error if a purpose must be stated for the person, and None if a provider may find better
    values, the hold is too small, the workspace may have a value itself, or a job before it reveals the same
    field.
    """
    settings, now = services.settings, claims[0].claimed_at
    requests = [FieldRequest.parse(_FIELDS[claim.kind], claim.request) for claim in claims]
    purchases = [
        field_resolver.purchase_of(claim, price=settings.prices[claim.kind], now=now) for claim in claims
    ]
    questions = [
        (
            Question(claim.workspace_id, Subject(**claim.request["subject"]), request),
            Offer(purchase.is_affordable, claim.purpose),
        )
        for claim, request, purchase in zip(claims, requests, purchases, strict=True)
    ]
    people = offers.assess_all(session, questions, default_max_age=settings.default_max_age, now=now)
    results: list[JobResult | None] = [None] * len(claims)
    sales: dict[int, Sale] = {}
    for index, (claim, known) in enumerate(zip(claims, people, strict=True)):
        if known is None:
            continue
        if known.needs_purpose and claim.purpose is None and (known.is_hidden or not known.is_barred):
            results[index] = JobResult(outcome=None, error=settings.purpose_rule.refusal())
        elif known.suppressed:
            results[index] = _suppressed(session, claim, is_told=not known.is_hidden)
        elif known.exclusion is not None:
            results[index] = _excluded(known.exclusion, is_told=not known.is_hidden)
        elif known.contact and known.has_fresh_value and (known.owned or purchases[index].is_affordable):
            purchase = replace(purchases[index], countries=known.countries)
            sales[index] = Sale(purchase, known.contact, requests[index], known.data)
    for index in _without_need(session, services, claims, people, sales, now=now):
        del sales[index]
    disclosed = disclosure.disclose_all(session, list(sales.values()))
    for index, one in zip(sales, disclosed, strict=True):
        known = people[index]
        if one is not None and known is not None:
            offers.remember_sale(session, claims[index].workspace_id, known, sales[index].contact, now=now)
            results[index] = _found(one, requests[index].field)
    return results


def _without_need(
    session: Session,
    services: WorkerServices,
    claims: Sequence[Claim],
    people: Sequence[KnownPerson | None],
    sales: Mapping[int, Sale],
    *,
    now: datetime,
) -> list[int]:
    """Return the numbers of the sales of what the workspace may have itself."""
    asked = [
        (index, (claims[index], known, sale.field_request))
        for index, sale in sales.items()
        if (known := people[index]) is not None
    ]
    found = own_fields.find_all(session, services, [question for _index, question in asked], now=now)
    return [
        index for (index, _question), own in zip(asked, found, strict=True) if own.values or own.unverified
    ]


@job(Kind.REVEAL_EMAIL, from_stored=_from_stored)
def email(claim: Claim, services: WorkerServices) -> RevealResolution:
    """Resolve `reveal.email`."""
    return _resolve(claim, services)


@job(Kind.REVEAL_PHONE, from_stored=_from_stored)
def phone(claim: Claim, services: WorkerServices) -> RevealResolution:
    """Resolve `reveal.phone`."""
    return _resolve(claim, services)


def _resolve(claim: Claim, services: WorkerServices) -> RevealResolution:
    subject = Subject(**claim.request["subject"])
    request = FieldRequest.parse(_FIELDS[claim.kind], claim.request)
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
        if stored.exclusion is not None:
            return _excluded(stored.exclusion, trace, is_told=not self.resolved.known.is_hidden)
        if stored.disclosure is None:
            return JobResult(outcome=Outcome.NOT_FOUND, trace=trace)
        if self.resolved.own is not None:
            own_fields.remember(session, self.claim, self.resolved.own)
        return _found(stored.disclosure, self.resolved.request.field, trace)


def _suppressed(
    session: Session, claim: Claim, trace: Sequence[dict[str, Any]] = (), *, is_told: bool
) -> JobResult:
    redaction.remove_subject(session, claim.job_id, claim.request)
    return JobResult(outcome=Outcome.SUPPRESSED if is_told else Outcome.NOT_FOUND, trace=trace)


def _excluded(exclusion: Excluded, trace: Sequence[dict[str, Any]] = (), *, is_told: bool) -> JobResult:
    if not is_told:
        return JobResult(outcome=Outcome.NOT_FOUND, trace=trace)
    result = {jobs.EXCLUDED: exclusion.to_public()}
    return JobResult(outcome=Outcome.EXCLUDED, result=result, trace=trace)


def _found(disclosed: Disclosure, field: ContactField, trace: Sequence[dict[str, Any]] = ()) -> JobResult:
    return JobResult(
        outcome=Outcome.FOUND,
        result={"contact_id": disclosed.contact_id, f"{field.value}s": disclosed.values},
        charge=disclosed.charge,
        already_owned=disclosed.already_owned,
        trace=trace,
    )
