"""The desk: lets a job's provider calls out, and keeps what they cost and brought, in the database.

A call is let out by one transaction: the job is still this worker's, the answer is not known yet, it may be
paid, and it is the provider's turn. What the provider says is written down before anything else is done with
it, so that a job that is interrupted never pays again for an answer that was written down.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from cattrs.preconf.json import make_converter
from sqlalchemy.orm import Session

from app.core.jobs import leases, provider_calls
from app.core.jobs.leases import Claim
from app.core.jobs.provider_calls import PENDING, CallKey, ProviderCall
from app.core.providers import provider_opt_outs, provider_throttles
from app.domain.kinds import TraceOutcome
from app.infra import clock, database_clock
from workers.execution.database_times import in_database_time
from workers.execution.job_runner import DATABASE_RETRY_DELAYS, WorkerServices, persist
from workers.providers.base import Pending, Provider, ProviderField, ProviderRequest, ProviderResponse, Terms
from workers.providers.registry import load
from workers.resolve.waterfall import POLL_SECONDS, CallRefused, CallResult, StartedCall

_json = make_converter()
_MAX_DELAY = timedelta(seconds=sum(DATABASE_RETRY_DELAYS) + 1)
"""For how long an answer may wait for a database that is away before it is written down."""


@dataclass(frozen=True, slots=True)
class DatabaseCallGateway:
    """The desk of one job, or of one item of it."""

    services: WorkerServices
    claim: Claim
    item: int | None = None

    def begin(
        self, provider: Provider, ask: ProviderRequest
    ) -> CallRefused | StartedCall | CallResult | Pending:
        """Let the call out; `Pending` if the answer is on its way already, to this job or to another.

        Raises:
            LeaseLost: the job is no longer this worker's; nothing may be paid for it.

        """
        question = self._question(provider, ask)
        if provider.terms.is_free:
            call, now = self._free_call(question, takes_time=ask.field is ProviderField.VERIFICATION)
            return StartedCall(ask, now) if call is None else _resumed(call, ask)
        with self.services.database.transaction() as session:
            begun, wait = self._authorize(session, provider, ask, question)
        time.sleep(wait)  # its turn comes within a second
        return begun

    def wait(self, provider: Provider, started: StartedCall, pending: Pending) -> CallResult | None:
        """Keep the ticket; a provider that was waited for long enough has timed out."""
        with self.services.database.transaction() as session:
            waited = database_clock.value(session) - started.asked_at
            if waited <= timedelta(seconds=provider.terms.poll_timeout):
                self._keep_ticket(session, provider, started, pending)
                return None
        return self.end(
            provider, started, ProviderResponse(outcome=TraceOutcome.TIMEOUT), _milliseconds(waited)
        )

    def end(
        self, provider: Provider, started: StartedCall, reply: ProviderResponse, milliseconds: int
    ) -> CallResult:
        """Keep what the provider said, and tell its gate; a busy database is asked again: this is paid for.

        Raises:
            Unavailable: the database stayed away.

        """
        return persist(partial(self._end, provider, started, reply, milliseconds))

    def _keep_ticket(
        self, session: Session, provider: Provider, started: StartedCall, pending: Pending
    ) -> None:
        call_id = started.call_id or self._start(session, provider, started)
        provider_calls.mark_pending(session, call_id, ticket=pending.poll_token)
        if provider.terms.breaker:
            after, now = pending.after, database_clock.now()
            provider_throttles.report(session, provider.name, pending.outcome, retry_after=after, now=now)

    def _free_call(self, question: CallKey, *, takes_time: bool) -> tuple[ProviderCall | None, datetime]:
        """Return the call that this job has made already, and the time; renew the lease if it may last."""
        if not takes_time:
            with self.services.database.reading() as session:
                return provider_calls.find_reusable(session, question), database_clock.value(session)
        with self.services.database.transaction() as session:
            self._renew(session)
            return provider_calls.find_reusable(session, question), database_clock.value(session)

    def _end(
        self, provider: Provider, started: StartedCall, reply: ProviderResponse, milliseconds: int
    ) -> CallResult:
        with self.services.database.transaction() as session:
            now = database_clock.value(session)
            reply = _in_database_time(reply, now, milliseconds)
            if started.ask.poll_token is not None:  # it was asked by an earlier run of the job
                milliseconds = _milliseconds(now - started.asked_at)
            call_id = started.call_id or self._start(session, provider, started)
            is_ours = leases.is_held(session, self.claim)  # otherwise nobody would drop the values again
            provider_calls.record_reply(
                session,
                call_id,
                outcome=reply.outcome,
                status=_status(reply),
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
            if reply.outcome is TraceOutcome.SUPPRESSED:
                record_opt_out(session, provider, started.ask, now=now)
        return CallResult(reply, started.asked_at, milliseconds, call_id)

    def record_verdict(self, heard: CallResult, reply: ProviderResponse) -> None:
        """Keep what became of an answer once its addresses were verified."""
        if heard.call_id is not None:
            with self.services.database.transaction() as session:
                status = _status(reply)
                provider_calls.record_verdict(session, heard.call_id, outcome=reply.outcome, status=status)

    def _authorize(
        self, session: Session, provider: Provider, ask: ProviderRequest, question: CallKey
    ) -> tuple[CallRefused | StartedCall | CallResult | Pending, float]:
        """Decide on the call; give the decision, and for how many seconds to wait for its turn."""
        terms = provider.terms
        self._renew(session)
        call = provider_calls.find_reusable(session, question)
        if call is not None and call.outcome != PENDING:
            return _resumed(call, ask), 0.0
        provider_throttles.lock(
            session, provider.name, now=database_clock.now()
        )  # nobody else asks or spends
        now = database_clock.value(session)
        if call is None and (refused := self._refusal(session, question, terms, ask, now)):
            return refused, 0.0
        turn = provider_throttles.admit(session, provider.name, terms.rates, breaker=terms.breaker, now=now)
        if turn.refused is not None:
            if call is not None:  # what is on order is not given up because its turn has not come
                return Pending(str(call.ticket), turn.retry_after or POLL_SECONDS), 0.0
            return CallRefused(turn.refused, turn.retry_after), 0.0
        if call is not None:
            return _resumed(call, ask), turn.wait
        call_id = provider_calls.start(session, question, cost=terms.prices.get(ask.field, 0.0), now=now)
        return StartedCall(ask, now, call_id), turn.wait

    def _renew(self, session: Session) -> None:
        lease = timedelta(seconds=self.services.settings.lease_seconds)
        leases.renew(session, self.claim, lease_until=database_clock.now() + lease)

    def _refusal(
        self, session: Session, question: CallKey, terms: Terms, ask: ProviderRequest, now: datetime
    ) -> CallRefused | Pending | CallResult | None:
        """Return why not to pay for this: it is known or on its way, or it would cost too much."""
        if provider_opt_outs.stands(session, provider=question.provider, question=question.subject):
            return CallResult(ProviderResponse(outcome=TraceOutcome.SUPPRESSED), now)
        stands = timedelta(days=terms.miss_days)
        since = now - (stands if ask.max_age is None else min(stands, ask.max_age))
        if ask.field is not ProviderField.VERIFICATION and provider_calls.has_conclusive_answer(
            session, question, since=since
        ):
            return CallRefused(TraceOutcome.KNOWN_MISS)
        patience = timedelta(seconds=terms.poll_timeout)
        if provider_calls.is_in_flight(session, question, since=now - patience, now=now):
            return Pending("", POLL_SECONDS)  # its answer will be stored
        price = terms.prices.get(ask.field, 0.0)
        if terms.daily_budget is not None:
            today = now.replace(hour=0, minute=0, second=0, microsecond=0)
            spent = provider_calls.credits_since(session, question.provider, today)
            if spent + price > terms.daily_budget:
                tomorrow = today + timedelta(days=1)
                return CallRefused(TraceOutcome.COST_CEILING, (tomorrow - now).total_seconds())
        ceiling, fields = self._ceiling(ask.field)
        if ceiling is not None:
            paid = provider_calls.credits_for(session, self.claim.job_id, self.item, fields)
            if self._money(paid) + price * terms.credit_price > ceiling:
                return CallRefused(TraceOutcome.COST_CEILING)
        return None

    def _ceiling(self, field: ProviderField) -> tuple[float | None, tuple[str, ...]]:
        """Give what a field may cost, and which fields count: to an e-mail belongs its verification."""
        settings = self.services.settings
        if field is ProviderField.PHONE:
            return settings.cost_ceiling_phone, (ProviderField.PHONE.value,)
        if field in {ProviderField.EMAIL, ProviderField.VERIFICATION}:
            return settings.cost_ceiling_email, (ProviderField.EMAIL.value, ProviderField.VERIFICATION.value)
        return None, ()

    def _money(self, spent: Mapping[str, float]) -> float:
        """Give what the providers' credits cost the operator."""
        known = load(self.services.settings)
        return sum(
            amount * (known[name].terms.credit_price if name in known else 1.0)
            for name, amount in spent.items()
        )

    def _start(self, session: Session, provider: Provider, started: StartedCall) -> str:
        question = self._question(provider, started.ask)
        return provider_calls.start(session, question, cost=0.0, now=started.asked_at)

    def _question(self, provider: Provider, ask: ProviderRequest) -> CallKey:
        return CallKey(
            job_id=self.claim.job_id,
            item=self.item,
            field=ask.field.value,
            provider=provider.name,
            subject=provider_calls.subject_digest(ask.field.value, ask.types, ask.subject),
            country=ask.country,
            attempt=self.claim.attempts,
            stored_for=None if _is_stored_for_all(ask) else self.claim.workspace_id,
        )


def record_opt_out(session: Session, provider: Provider, ask: ProviderRequest, *, now: datetime) -> None:
    """Record that the provider refused to speak of whom it was asked about."""
    provider_opt_outs.record(
        session,
        provider=provider.name,
        field=ask.field.value,
        question=provider_calls.subject_digest(ask.field.value, ask.types, ask.subject),
        subject=ask.subject,
        now=now,
    )


def _resumed(call: ProviderCall, ask: ProviderRequest) -> StartedCall | CallResult:
    """Go on with a call from when the job ran before: wait for it, or read back what the provider said."""
    if call.outcome == PENDING:
        return StartedCall(replace(ask, poll_token=call.ticket), call.asked_at, call.id)
    reply = _json.structure(call.reply, ProviderResponse)
    return CallResult(reply, call.asked_at, call.latency_ms or 0, call.id)


def _is_stored_for_all(ask: ProviderRequest) -> bool:
    """Return whether every workspace that asks the same finds the answer in the database."""
    return ask.subject.contact_id is not None or ask.subject.only_identifier is not None


def _unknown_cost(provider: Provider, started: StartedCall, reply: ProviderResponse) -> float:
    """Give what a question may have cost whose answer nobody heard."""
    unheard = reply.outcome is TraceOutcome.TIMEOUT
    return provider.terms.prices.get(started.ask.field, 0.0) if unheard else 0.0


def _status(reply: ProviderResponse) -> str | None:
    return reply.emails[0].status.value if reply.emails else None


def _in_database_time(reply: ProviderResponse, now: datetime, milliseconds: int) -> ProviderResponse:
    """Return the reply with the times of this process moved to the time of the database, which is `now`."""
    here = clock.now()
    since = here - timedelta(milliseconds=milliseconds) - _MAX_DELAY
    return in_database_time(reply, since=since, ahead=here - now)


def _milliseconds(span: timedelta) -> int:
    return round(span.total_seconds() * 1000)
