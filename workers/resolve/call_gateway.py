"""Permits a job's provider calls, and stores their cost and responses in the database.

One transaction permits a call: the job is still this worker's, no stored response answers the request, the
cost is within its limits, and the provider's throttle admits it. The response is stored before it is used, so
that an interrupted job never pays twice for a response that was stored.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from cattrs.preconf.json import make_converter

from app.domain.kinds import TraceOutcome
from app.domain.lists.people_rows import ParsedPerson
from app.engine.contacts import website_readings
from app.engine.contacts.suppressions import suppression_checks
from app.engine.contacts.suppressions.suppression_digests import Identifier
from app.engine.contacts.website_readings import Turn
from app.engine.jobs import leases, provider_calls
from app.engine.jobs.claims import Claim
from app.engine.jobs.provider_calls import PENDING, CallKey, ProviderCall
from app.engine.lists import ingest
from app.engine.providers import provider_opt_outs, provider_throttles
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.session import Session
from workers.execution.database_times import in_database_time
from workers.execution.job_runner import DATABASE_RETRY_DELAYS, persist
from workers.execution.worker_services import WorkerServices
from workers.providers import registry
from workers.providers.base import Pending, Provider, ProviderField, ProviderRequest, ProviderResponse, Terms
from workers.resolve.provider_call import POLL_SECONDS, CallRefused, CallResult, StartedCall

SITE_SECONDS = 3.0
"""The time after which a website that another job reads is tried again."""

_json = make_converter()
_MAX_DELAY = timedelta(seconds=sum(DATABASE_RETRY_DELAYS) + 1)
"""Longest time between a response and its storage while the database is unavailable."""


@dataclass(frozen=True, slots=True)
class DatabaseCallGateway:
    """The call gateway of one job, or of one item of it.

    If its calls are private, they are about what a workspace has itself: jobs of other workspaces neither
    find them nor wait for them, and an opt-out does not suppress anybody.
    """

    services: WorkerServices
    claim: Claim
    item: int | None = None
    is_private: bool = False

    def begin(
        self, provider: Provider, request: ProviderRequest
    ) -> CallRefused | StartedCall | CallResult | Pending:
        """Permit or refuse the call; return `Pending` if this job or another already awaits its response.

        A job whose lease was lost pays for no call: `LeaseLost` ends it here.
        """
        if self._is_suppressed(request):
            return CallRefused(TraceOutcome.SUPPRESSED)
        if provider.terms.is_free:
            call, now = self._free_call(provider, request)
            return StartedCall(request, now) if call is None else _resumed(call, request)
        with self.services.database.transaction() as session:
            decision, wait = self._authorize(session, provider, request)
        time.sleep(wait)  # under a second, until the rate limiter admits it
        return decision

    def wait(self, provider: Provider, started: StartedCall, pending: Pending) -> CallResult | None:
        """Store the poll token; return a timeout if the provider has been polled for too long."""
        with self.services.database.transaction() as session:
            waited = database_clock.value(session) - started.asked_at
            if waited <= timedelta(seconds=provider.terms.poll_timeout):
                self._store_poll_token(session, provider, started, pending)
                return None
        return self.end(
            provider, started, ProviderResponse(outcome=TraceOutcome.TIMEOUT), _milliseconds(waited)
        )

    def end(
        self, provider: Provider, started: StartedCall, reply: ProviderResponse, milliseconds: int
    ) -> CallResult:
        """Store the response and update the throttle; retry while the database is unavailable."""
        persist(partial(self._store_site, provider, started.request, reply))
        reply = replace(reply, site_people=(), pages=(), role_addresses=())
        return persist(partial(self._end, provider, started, reply, milliseconds))

    def _store_poll_token(
        self, session: Session, provider: Provider, started: StartedCall, pending: Pending
    ) -> None:
        call_id = started.call_id or self._start(session, provider, started)
        provider_calls.mark_pending(session, call_id, ticket=pending.poll_token)
        if provider.terms.breaker:
            after, now = pending.after, database_clock.now()
            provider_throttles.report(session, provider.name, pending.outcome, retry_after=after, now=now)

    def _is_suppressed(self, request: ProviderRequest) -> bool:
        """Return whether an address is to be verified that is suppressed, although its person was not known.

        It was guessed, or another provider returned it.
        """
        if request.field is not ProviderField.VERIFICATION:
            return False
        address = Identifier("email", str(request.subject.email))
        with self.services.database.reading() as session:
            return bool(suppression_checks.suppressed(session, [address]))

    def _free_call(
        self, provider: Provider, request: ProviderRequest
    ) -> tuple[ProviderCall | None, datetime]:
        """Return the earlier call of this job, if any, and the time; renew the lease before a long call."""
        takes_time = request.field is ProviderField.VERIFICATION
        database = self.services.database
        with database.transaction() if takes_time else database.reading() as session:
            if takes_time:
                self._renew(session)
            key = self._call_key(session, provider, request)
            return provider_calls.find_reusable(session, key), database_clock.value(session)

    def _end(
        self, provider: Provider, started: StartedCall, reply: ProviderResponse, milliseconds: int
    ) -> CallResult:
        with self.services.database.transaction() as session:
            now = database_clock.value(session)
            reply = _to_database_time(reply, now, milliseconds)
            if started.request.poll_token is not None:  # an earlier run of the job made the call
                milliseconds = _milliseconds(now - started.asked_at)
            call_id = started.call_id or self._start(session, provider, started)
            is_ours = leases.is_held(session, self.claim)  # otherwise nothing would purge the values
            provider_calls.record_reply(
                session,
                call_id,
                outcome=reply.outcome,
                status=_status(reply),
                reason=reply.reason,
                cost=reply.cost or _unknown_cost(provider, started, reply),
                latency_ms=milliseconds,
                reply=_json.unstructure(reply) if is_ours else None,
                now=now,
            )
            if not provider.terms.is_free:
                provider_throttles.report(
                    session,
                    provider.name,
                    reply.outcome,
                    retry_after=reply.retry_after,
                    now=database_clock.now(),
                )
            if reply.outcome is TraceOutcome.SUPPRESSED and not self.is_private:
                record_opt_out(session, provider, started.request, now=now)
        return CallResult(reply, started.asked_at, milliseconds, call_id)

    def record_verdict(self, call: CallResult, reply: ProviderResponse) -> None:
        """Store the outcome of a response after its addresses were verified."""
        if call.call_id is not None:
            with self.services.database.transaction() as session:
                status = _status(reply)
                provider_calls.record_verdict(session, call.call_id, outcome=reply.outcome, status=status)

    def _authorize(
        self, session: Session, provider: Provider, request: ProviderRequest
    ) -> tuple[CallRefused | StartedCall | CallResult | Pending, float]:
        """Return the decision on a call, and the seconds to wait before it is made."""
        terms = provider.terms
        self._renew(session)
        key = self._call_key(session, provider, request)
        call = provider_calls.find_reusable(session, key)
        if call is not None and call.outcome != PENDING:
            return _resumed(call, request), 0.0
        # From here until the commit no other transaction permits a call to this provider.
        provider_throttles.lock(session, provider.name, now=database_clock.now())
        now = database_clock.value(session)
        # A pending call has been paid for, so it is polled whatever would refuse a new one.
        if call is None:
            refused = self._refusal(session, key, terms, request, now)
            if refused := refused or self._claim_site(session, terms, request, now):
                return refused, 0.0
        permit = provider_throttles.admit(session, provider.name, terms.rates, breaker=terms.breaker, now=now)
        if permit.refused is not None:
            if call is not None:  # a rate limit does not abandon a pending call
                return Pending(str(call.ticket), permit.retry_after or POLL_SECONDS), 0.0
            if terms.site_days is not None:
                website_readings.release(session, str(request.subject.company_domain))
            return CallRefused(permit.refused, permit.retry_after), 0.0
        if call is not None:
            return _resumed(call, request), permit.wait
        call_id = provider_calls.start(session, key, cost=terms.price_of(request), now=now)
        if terms.site_days is not None:
            pages = website_readings.pages_of(session, str(request.subject.company_domain))
            request = replace(request, known_pages=pages)
        return StartedCall(request, now, call_id), permit.wait

    def _claim_site(
        self, session: Session, terms: Terms, request: ProviderRequest, now: datetime
    ) -> CallRefused | Pending | None:
        """Take the turn to read the company's website; return why not: it is being read, or was lately."""
        if terms.site_days is None:
            return None
        fresh_since = now - timedelta(days=terms.site_days)
        domain = str(request.subject.company_domain)
        turn = website_readings.claim(session, domain, fresh_since=fresh_since, now=now)
        if turn is Turn.BUSY:
            return Pending("", SITE_SECONDS)
        if turn is Turn.RECENT:
            return CallRefused(TraceOutcome.KNOWN_MISS)  # whom it named is stored
        return None

    def _store_site(self, provider: Provider, request: ProviderRequest, reply: ProviderResponse) -> None:
        """Store whom a website names, without the suppressed; the response is about one of them."""
        if provider.terms.site_days is None:
            return
        with self.services.database.transaction() as session:
            now = database_clock.value(session)
            people = [ParsedPerson(person) for person in reply.site_people]
            if people:
                ingest.ingest_contacts(session, people, now=now)
            website_readings.store(
                session,
                str(request.subject.company_domain),
                reply.pages,
                reply.patterns,
                reply.role_addresses,
                now=now,
            )

    def _renew(self, session: Session) -> None:
        lease = timedelta(seconds=self.services.settings.lease_seconds)
        leases.renew(session, self.claim, lease_until=database_clock.now() + lease)

    def _refusal(
        self, session: Session, key: CallKey, terms: Terms, request: ProviderRequest, now: datetime
    ) -> CallRefused | Pending | CallResult | None:
        """Return why the call must not be made: opted out, answered, in flight, or too expensive."""
        if provider_opt_outs.is_in_effect(session, provider=key.provider, subject_digest=key.subject):
            return CallResult(ProviderResponse(outcome=TraceOutcome.SUPPRESSED), now)
        miss_ttl = timedelta(days=terms.miss_days)
        since = now - (miss_ttl if request.max_age is None else min(miss_ttl, request.max_age))
        fresh_since = now - (request.max_age or self.services.settings.default_max_age)
        if request.field is not ProviderField.VERIFICATION and provider_calls.has_conclusive_answer(
            session, key, since=since, fresh_since=fresh_since
        ):
            return CallRefused(TraceOutcome.KNOWN_MISS)
        poll_timeout = timedelta(seconds=terms.poll_timeout)
        if provider_calls.is_in_flight(session, key, since=now - poll_timeout, now=now):
            return Pending("", POLL_SECONDS)  # its answer will be stored
        price = terms.price_of(request)
        if terms.daily_budget is not None:
            today = now.replace(hour=0, minute=0, second=0, microsecond=0)
            spent = provider_calls.credits_since(session, key.provider, today)
            if spent + price > terms.daily_budget:
                tomorrow = today + timedelta(days=1)
                return CallRefused(TraceOutcome.COST_CEILING, (tomorrow - now).total_seconds())
        ceiling, fields = self._ceiling(request.field)
        if ceiling is not None:
            spent_on_job = provider_calls.credits_for(session, self.claim.job_id, self.item, fields)
            if self._in_currency(spent_on_job) + price * terms.credit_price > ceiling:
                return CallRefused(TraceOutcome.COST_CEILING)
        return None

    def _ceiling(self, field: ProviderField) -> tuple[float | None, tuple[str, ...]]:
        """Return the cost ceiling of a field and the fields it covers; e-mail covers verification."""
        settings = self.services.settings
        if field is ProviderField.PHONE:
            return settings.cost_ceiling_phone, (ProviderField.PHONE.value,)
        if field in {ProviderField.EMAIL, ProviderField.VERIFICATION}:
            return settings.cost_ceiling_email, (ProviderField.EMAIL.value, ProviderField.VERIFICATION.value)
        return None, ()

    def _in_currency(self, spent: Mapping[str, float]) -> float:
        """Convert amounts of vendor credits to the operator's currency."""
        providers = registry.load(self.services.settings)
        return sum(
            amount * (providers[name].terms.credit_price if name in providers else 1.0)
            for name, amount in spent.items()
        )

    def _start(self, session: Session, provider: Provider, started: StartedCall) -> str:
        key = self._call_key(session, provider, started.request)
        return provider_calls.start(session, key, cost=0.0, now=started.asked_at)

    def _call_key(self, session: Session, provider: Provider, request: ProviderRequest) -> CallKey:
        workspace_id = self.claim.workspace_id
        field = f"{request.field.value} {workspace_id}" if self.is_private else request.field.value
        return CallKey(
            job_id=self.claim.job_id,
            item=self.item,
            field=request.field.value,
            provider=provider.name,
            subject=provider_calls.subject_digest(session.keys, field, request.options, request.subject),
            country=request.country,
            attempt=self.claim.attempts,
            visible_to=None if _is_stored_for_all(request) else workspace_id,
        )


def record_opt_out(session: Session, provider: Provider, request: ProviderRequest, *, now: datetime) -> None:
    """Record that the provider refuses requests about this person."""
    provider_opt_outs.record(
        session,
        provider=provider.name,
        field=request.field.value,
        subject_digest=provider_calls.subject_digest(
            session.keys, request.field.value, request.options, request.subject
        ),
        subject=request.subject,
        now=now,
    )


def _resumed(call: ProviderCall, request: ProviderRequest) -> StartedCall | CallResult:
    """Resume a call of an earlier run: continue polling, or return its stored response."""
    if call.outcome == PENDING:
        return StartedCall(replace(request, poll_token=call.ticket), call.asked_at, call.id)
    reply = _json.structure(call.reply, ProviderResponse)
    return CallResult(reply, call.asked_at, call.latency_ms or 0, call.id)


def _is_stored_for_all(request: ProviderRequest) -> bool:
    """Return whether the response is stored where every workspace can find it."""
    if request.field is ProviderField.PEOPLE:
        return True
    return request.subject.contact_id is not None or request.subject.only_identifier is not None


def _unknown_cost(provider: Provider, started: StartedCall, reply: ProviderResponse) -> float:
    """Return the possible cost of a call that timed out; 0 for others."""
    timed_out = reply.outcome is TraceOutcome.TIMEOUT
    return provider.terms.price_of(started.request) if timed_out else 0.0


def _status(reply: ProviderResponse) -> str | None:
    return reply.emails[0].status.value if reply.emails else None


def _to_database_time(reply: ProviderResponse, database_now: datetime, milliseconds: int) -> ProviderResponse:
    """Return the reply with this process's timestamps converted to the database clock."""
    process_now = clock.now()
    since = process_now - timedelta(milliseconds=milliseconds) - _MAX_DELAY
    return in_database_time(reply, since=since, ahead=process_now - database_now)


def _milliseconds(span: timedelta) -> int:
    return round(span.total_seconds() * 1000)
