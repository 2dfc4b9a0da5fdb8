"""What a workspace has itself of a requested field: found in its systems, and verified at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import update

from app.domain.kinds import Queue
from app.engine.contacts import bulk, switchboards
from app.engine.exclusions import exclusion_checks
from app.engine.exclusions.exclusion_checks import Wanted
from app.engine.jobs.claims import Claim
from app.engine.jobs.jobs import OWN_RECORDS, USE_OWN_RECORDS, Job
from app.engine.lookups import contact_data, known_people
from app.engine.lookups.field_requests import FieldRequest
from app.engine.lookups.known_people import KnownPerson
from app.engine.own_records import own_values, own_verifications
from app.engine.own_records.own_values import OwnField, Question
from app.engine.own_records.own_verifications import Verdict
from app.infra.database.encrypted_columns import encrypted
from app.infra.database.session import Session
from workers.execution.retries import MoveToQueue, RetryLater
from workers.execution.worker_services import WorkerServices
from workers.providers.base import ProviderField, ProviderRequest
from workers.resolve import configured_waterfall
from workers.resolve.waterfall import SHORT_WAIT_SECONDS


@dataclass(frozen=True, slots=True)
class OwnResolution:
    """The field as far as the workspace has it, and the trace of its verification."""

    field: OwnField
    trace: tuple[dict[str, Any], ...] = ()


def may_have(claim: Claim, known: KnownPerson) -> bool:
    """Return whether the workspace's own systems are searched for the job.

    They are not if the caller does without, if the person is barred, and if the workspace owns what is
    requested; nor if the job looked behind what the workspace is told: that is told by a sale only.
    """
    is_owned = known.owned and known.has_fresh_value
    return claim.request.get(USE_OWN_RECORDS, True) and not (known.is_barred or known.is_sold or is_owned)


def find_all(
    session: Session,
    services: WorkerServices,
    asked: Sequence[tuple[Claim, KnownPerson, FieldRequest]],
    *,
    now: datetime,
) -> list[OwnField]:
    """Return what each job's workspace has itself of the requested field."""
    found = [OwnField(field_request=field_request) for _claim, _known, field_request in asked]
    searched = [index for index, (claim, known, _request) in enumerate(asked) if may_have(claim, known)]
    questions = [
        Question(known, field_request) for _claim, known, field_request in map(asked.__getitem__, searched)
    ]
    fields = own_values.find_all(
        session, services.own_records, questions, default_max_age=services.settings.default_max_age, now=now
    )
    for index, own in zip(searched, fields, strict=True):
        found[index] = own
    return found


def verify(
    claim: Claim, services: WorkerServices, known: KnownPerson, own: OwnField, *, item: int | None
) -> OwnResolution:
    """Return the field with its addresses verified, by verifiers that cost nothing; keep their verdicts.

    Nothing is verified if there are values that fulfil the request already.

    Raises:
        MoveToQueue: an address must be verified, which the queue of the claim does not do.
        RetryLater: the verdict is pending, and ready soon.

    """
    if own.values or not own.unverified:
        return OwnResolution(own)
    request = ProviderRequest(
        field=ProviderField.VERIFICATION,
        subject=known.subject,
        country=known.country,
        attempt=claim.attempts,
    )
    verifiers = configured_waterfall.free_verifiers(services, request)
    if not verifiers:
        return OwnResolution(replace(own, unverified=()))
    if claim.queue is Queue.INTERACTIVE:
        raise MoveToQueue(Queue.PROVIDERS)
    result = configured_waterfall.verify_privately(
        claim, services, request, own.as_found(), verifiers, item=item
    )
    verdicts = {
        one.email: Verdict(one.status.value, one.verified_at) for one in result.verified if one.verified_at
    }
    with services.database.transaction() as session:
        if not is_suppressed(session, claim, known, own):
            own_verifications.store(session, claim.workspace_id, verdicts)
    verified = own.with_verdicts(verdicts)
    if not verified.values and result.waiting is not None and result.waiting <= SHORT_WAIT_SECONDS:
        raise RetryLater(result.trace, after=result.waiting, snooze=True)
    return OwnResolution(verified, result.trace)


def is_suppressed(session: Session, claim: Claim, known: KnownPerson, own: OwnField) -> bool:
    """Return whether the person is suppressed by now; none is, nor erased, until the transaction ends."""
    bulk.lock_resolution(session)
    stored = known_people.identifiers(session, claim.workspace_id, known)
    return bool(switchboards.suppressed_people(session, [*stored, *own.identifiers]))


def is_excluded(session: Session, claim: Claim, known: KnownPerson, own: OwnField) -> bool:
    """Return whether the workspace excludes the person or one of the values by now."""
    people = [known.contact] if known.contact else []
    data = contact_data.load(session, claim.workspace_id, people, [known.provided])
    if data.exclusion_of_any(people, known.provided) is not None:
        return True
    _suppressed, [excluded] = exclusion_checks.check(
        session, (), [Wanted(claim.workspace_id, own.identifiers)]
    )
    return bool(excluded)


def remember(session: Session, claim: Claim, own: OwnField) -> None:
    """Store with the job whom the records with the values name, so that an erasure of them finds it."""
    request = encrypted(session, Job.request, claim.job_id, {**claim.request, OWN_RECORDS: own.named})
    session.execute(update(Job).where(Job.id == claim.job_id).values(request=request))
