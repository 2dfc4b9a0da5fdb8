"""Verifies e-mail addresses again after a bounce or when their verdict expires, with free verifiers only.

Then confirms or refutes the reported bounces of the addresses that have a new verdict.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta

from app.domain.errors import ContactNotFound, Unavailable
from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.engine.providers import provider_throttles
from app.features.quality import due_verifications, feedback, verifications
from app.features.quality.due_verifications import DueVerification
from app.features.quality.schedule import REVERIFY
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from workers.execution import maintenance
from workers.execution.feature import WorkPart
from workers.execution.worker_services import WorkerServices
from workers.providers.base import (
    Pending,
    Provider,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
)
from workers.resolve import call_gateway, provider_order

MAX_ADDRESSES = 100
SECONDS_PER_ADDRESS = 8.0
TOTAL_SECONDS = 300.0


@maintenance.task(REVERIFY)
def reverify(services: WorkerServices) -> None:
    """Verify the addresses that are due; scheduled by Celery beat."""
    verifiers = provider_order.configured_order(services.settings, ProviderField.VERIFICATION)
    verify_due(services, free(verifiers))
    decide_bounces(services)


def free(verifiers: Sequence[Provider]) -> list[Provider]:
    """Return the verifiers that charge nothing for a verification."""
    return [verifier for verifier in verifiers if not verifier.terms.prices.get(ProviderField.VERIFICATION)]


def verify_due(services: WorkerServices, verifiers: Sequence[Provider]) -> None:
    """Verify the addresses that are due, one by one, with no transaction open during the calls.

    Addresses left over when the time is up, or that no verifier could check, are due again when their lease
    expires.
    """
    if not verifiers:
        return
    with services.database.transaction() as session:
        due = due_verifications.claim(
            session,
            default_max_age=services.settings.default_max_age,
            now=database_clock.now(),
            limit=MAX_ADDRESSES,
        )
    deadline = time.monotonic() + TOTAL_SECONDS
    verified = 0
    for address in due:
        if time.monotonic() > deadline:
            break
        verified += _verified(services, address, verifiers)
    if due:
        log.info("addresses reverified", due=len(due), verified=verified)


def decide_bounces(services: WorkerServices) -> None:
    """Confirm or refute bounces whose address has been verified since, by any job, and pay refunds."""
    with services.database.reading() as session:
        contact_ids = feedback.verified_since(session, limit=MAX_ADDRESSES)
    decided = sum(_decide(services, contact_id) for contact_id in contact_ids)
    if decided:
        log.info("bounces decided", bounces=decided)


def _decide(services: WorkerServices, contact_id: str) -> int:
    """Decide the bounces of one contact in a transaction of its own, so that a failure delays no other."""
    try:
        with services.database.transaction() as session:
            return feedback.decide(session, contact_id, now=database_clock.value(session))
    except ContactNotFound:  # erased meanwhile
        return 0
    except Unavailable:
        log.warning("database unavailable, bounces of a contact are decided later")
        return 0
    except Exception as error:  # noqa: BLE001 -- the bounces of the others are decided
        log.error("bounces of a contact not decided", contact=contact_id, exc_info=error)
        return 0


def _verified(services: WorkerServices, due: DueVerification, verifiers: Sequence[Provider]) -> bool:
    """Return whether a verdict was stored; an address whose verification fails is postponed."""
    try:
        return _verify(services, due, verifiers)
    except Unavailable:
        raise
    except Exception as error:  # noqa: BLE001 -- the others are verified
        log.error("address not verified", email_id=due.email_id, exc_info=error)
        with services.database.transaction() as session:
            verifications.give_up(session, due.email_id, now=database_clock.now())
        return False


def _verify(services: WorkerServices, due: DueVerification, verifiers: Sequence[Provider]) -> bool:
    """Call the verifiers in order until one gives a verdict or needs time; return whether one was stored."""
    missed = False
    for verifier in verifiers:
        reply = _throttled_call(services, verifier, due)
        if isinstance(reply, Pending):
            _schedule_poll(services, due, verifier, reply)
            return False
        if reply.emails and reply.emails[0].status is not EmailStatus.UNKNOWN:
            with services.database.transaction() as session:
                return verifications.record(session, due.email_id, reply.emails[0])
        missed = missed or reply.outcome in {TraceOutcome.HIT, TraceOutcome.MISS}
    if missed:
        with services.database.transaction() as session:
            verifications.give_up(session, due.email_id, now=database_clock.now())
    return False


def _throttled_call(
    services: WorkerServices, verifier: Provider, due: DueVerification
) -> ProviderResponse | Pending:
    """Call the verifier within the rate limit and circuit breaker that all workers share."""
    poll_token = due.ticket if due.provider == verifier.name else None
    request = ProviderRequest(
        field=ProviderField.VERIFICATION, subject=Subject(email=due.email), poll_token=poll_token
    )
    if reason := verifier.unavailability(request):
        return ProviderResponse(outcome=reason)
    if verifier.terms.is_free:
        return _call(verifier, request)
    with services.database.transaction() as session:
        terms, now = verifier.terms, database_clock.now()
        permit = provider_throttles.admit(session, verifier.name, terms.rates, breaker=terms.breaker, now=now)
    if permit.refused is not None:
        return ProviderResponse(outcome=permit.refused)
    time.sleep(permit.wait)  # less than a second
    reply = _call(verifier, request)
    with services.database.transaction() as session:
        if reply.outcome is TraceOutcome.SUPPRESSED:
            call_gateway.record_opt_out(session, verifier, request, now=database_clock.value(session))
        after = reply.after if isinstance(reply, Pending) else reply.retry_after
        provider_throttles.report(
            session, verifier.name, reply.outcome, retry_after=after, now=database_clock.now()
        )
    return reply


def _call(verifier: Provider, request: ProviderRequest) -> ProviderResponse | Pending:
    try:
        return verifier.call(request, seconds=SECONDS_PER_ADDRESS)
    except ProviderTimeout:
        return ProviderResponse(outcome=TraceOutcome.TIMEOUT)
    except Exception as error:  # noqa: BLE001 -- an adapter's bug must not end the run
        log.warning("provider failed", provider=verifier.name, error=type(error).__name__)
        return ProviderResponse(outcome=TraceOutcome.ERROR)


def _schedule_poll(
    services: WorkerServices, due: DueVerification, verifier: Provider, pending: Pending
) -> None:
    now = database_clock.now()
    with services.database.transaction() as session:
        verifications.schedule_poll(
            session,
            due.email_id,
            provider=verifier.name,
            ticket=pending.poll_token,
            poll_at=now + timedelta(seconds=pending.after),
            now=now,
        )


WORK = WorkPart()
