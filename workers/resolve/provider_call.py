"""One call of one provider: permitted by the gateway, made within its timeout, and recorded.

It does not access the database. A `CallGateway` permits, deduplicates and records calls.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from app.domain.findings import EmailStatus, FoundEmail
from app.domain.kinds import TraceOutcome
from app.domain.normal.emails import email_reasons
from app.domain.providers.trace_lines import trace_line
from app.infra import clock
from app.infra.telemetry import tracing
from app.infra.telemetry.log import log
from workers.providers.base import (
    Pending,
    Provider,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
)

SECONDS_PER_PROVIDER = 10.0
"""Timeout of one call; with the wait for the rate limiter well within a lease."""
POLL_SECONDS = 15.0
"""Delay before a pending call is polled again when the provider names none."""


@dataclass(frozen=True, slots=True)
class CallRefused:
    """The call is not permitted now; nothing was sent."""

    outcome: TraceOutcome
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class StartedCall:
    """A permitted call; its request carries the poll token of an earlier call whose result is pending."""

    request: ProviderRequest
    asked_at: datetime
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class CallResult:
    """A provider's response, from this run of the job or an earlier one; `milliseconds` is its latency."""

    reply: ProviderResponse
    asked_at: datetime
    milliseconds: int = 0
    call_id: str | None = None
    is_refusal: bool = False


class CallGateway(Protocol):
    """Permits provider calls and stores their results."""

    def begin(
        self, provider: Provider, request: ProviderRequest
    ) -> CallRefused | StartedCall | CallResult | Pending:
        """Permit the call, refuse it, or return the response that this job already has.

        Return `Pending` if the response is awaited from an earlier call and no call is to be made now.
        """

    def wait(self, provider: Provider, started: StartedCall, pending: Pending) -> CallResult | None:
        """Store the poll token; return a timeout result if the provider has been polled for too long."""

    def end(
        self, provider: Provider, started: StartedCall, reply: ProviderResponse, milliseconds: int
    ) -> CallResult:
        """Store the response."""

    def record_verdict(self, call: CallResult, reply: ProviderResponse) -> None:
        """Store the outcome of a response after its addresses were verified."""


def call_provider(provider: Provider, request: ProviderRequest, gateway: CallGateway) -> CallResult | Pending:
    """Call one provider if it supports the request and the gateway permits it."""
    subject = request.subject.as_sent(with_member_id=provider.takes_member_ids)
    request = replace(request, subject=subject)
    refusal = provider.unavailability(request)
    if refusal is not None:
        return CallResult(ProviderResponse(outcome=refusal), clock.now(), is_refusal=True)
    permit = gateway.begin(provider, request)
    if isinstance(permit, Pending):
        return permit
    if isinstance(permit, CallRefused):
        refused = ProviderResponse(outcome=permit.outcome, retry_after=permit.retry_after)
        return CallResult(refused, clock.now(), is_refusal=True)
    if isinstance(permit, CallResult):
        return permit
    started = time.monotonic()
    attributes = {"provider": provider.name, "field": request.field.value}
    with tracing.span(f"call {provider.name}", attributes) as span:
        reply = _invoke(provider, permit.request)
        span.set_attributes({"outcome": reply.outcome.value})
    if isinstance(reply, Pending):
        return gateway.wait(provider, permit, reply) or reply
    call = gateway.end(provider, permit, reply, clock.milliseconds_since(started))
    log.info("provider called", **trace_entry(provider, request.field, call))
    return call


def _invoke(provider: Provider, request: ProviderRequest) -> ProviderResponse | Pending:
    try:
        reply = provider.call(request, seconds=SECONDS_PER_PROVIDER)
        if isinstance(reply, Pending):
            return reply
        emails = tuple(with_address_reasons(email) for email in reply.emails)
        return replace(reply, emails=emails, cost=max(reply.cost, 0.0))
    except Exception as error:  # noqa: BLE001 -- an adapter's bug must not end the waterfall
        log.warning("provider failed", provider=provider.name, exc_info=error)
        outcome = TraceOutcome.TIMEOUT if isinstance(error, ProviderTimeout) else TraceOutcome.ERROR
        if request.poll_token is not None:  # one failed poll does not abandon a pending call
            return Pending(request.poll_token, POLL_SECONDS, outcome)
        return ProviderResponse(outcome=outcome)


def with_address_reasons(email: FoundEmail) -> FoundEmail:
    """Add the reasons evident from the address (role, disposable, webmail); a disposable is at best risky."""
    reasons = tuple(dict.fromkeys((*email.reasons, *email_reasons(email.email))))
    status = email.status
    if "disposable" in reasons and status in {EmailStatus.VALID, EmailStatus.ACCEPT_ALL}:
        status = EmailStatus.RISKY
    return replace(email, reasons=reasons, status=status)


def trace_entry(provider: Provider, field: ProviderField, call: CallResult) -> dict[str, Any]:
    """Return the line of the trace for a call."""
    reply = call.reply
    return trace_line(
        provider=provider.name,
        field=field.value,
        outcome=reply.outcome.value,
        status=reply.emails[0].status.value if reply.emails else None,
        reason=reply.reason,
        latency_ms=call.milliseconds,
        cost=reply.cost,
        at=clock.rfc3339(call.asked_at),
    )
