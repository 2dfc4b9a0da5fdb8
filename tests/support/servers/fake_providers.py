"""A fake provider, and short constructors of the responses that tests give it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, TypeAlias

from jobs_support import NOW

from app.domain.findings import (
    EmailStatus,
    FoundCompany,
    FoundContact,
    FoundEmail,
    FoundPhone,
    Source,
    SourceKind,
)
from app.domain.kinds import TraceOutcome
from workers.providers.base import FREE, Pending, ProviderField, ProviderRequest, ProviderResponse, Terms

VALID, UNKNOWN = EmailStatus.VALID, EmailStatus.UNKNOWN
MISS = ProviderResponse(outcome=TraceOutcome.MISS)
ERROR = ProviderResponse(outcome=TraceOutcome.ERROR)
WAIT = Pending("ticket", 2.0)
PAID = Terms(prices=dict.fromkeys(ProviderField, 1.0))

Response: TypeAlias = ProviderResponse | Pending | Exception
Reply: TypeAlias = Response | Callable[[ProviderRequest], Response]


@dataclass
class FakeProvider:
    """A provider of every field that gives a scripted reply and records its calls."""

    reply: Reply
    name: str = "one"
    guesses: bool = False
    takes_member_ids: bool = False
    unavailable: TraceOutcome | None = None
    terms: Terms = FREE
    requests: list[ProviderRequest] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)
    fields: ClassVar[frozenset[ProviderField]] = frozenset(ProviderField)

    def unavailability(self, _request: ProviderRequest) -> TraceOutcome | None:
        return self.unavailable

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        self.requests.append(request)
        self.timeouts.append(seconds)
        response = self.reply(request) if callable(self.reply) else self.reply
        if isinstance(response, Exception):
            raise response
        return response


def source_of(provider: str, at: datetime = NOW) -> Source:
    return Source(provider, SourceKind.PROVIDER, at)


ONE = source_of("one")


def company(source: Source = ONE, **values: Any) -> FoundCompany:
    return FoundCompany(source=source, **({"name": "Acme", "domain": "acme.com"} | values))


def person(source: Source = ONE, **values: Any) -> FoundContact:
    defaults = {
        "full_name": "Ada Lovelace",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "title": "Engineer",
        "company": company(source),
    }
    return FoundContact(source=source, **(defaults | values))


def email(address: str = "ada@acme.com", status: EmailStatus = VALID, source: Source = ONE) -> FoundEmail:
    verified_at = NOW if status is VALID else None
    return FoundEmail(email=address, type="work", status=status, source=source, verified_at=verified_at)


def phone() -> FoundPhone:
    return FoundPhone(e164="+16175550101", type="mobile", status="valid", source=ONE)


def hit(found: FoundContact | FoundCompany | FoundEmail | FoundPhone) -> ProviderResponse:
    """Return a response with this record."""
    match found:
        case FoundContact():
            return ProviderResponse(outcome=TraceOutcome.HIT, contact=found, cost=1)
        case FoundCompany():
            return ProviderResponse(outcome=TraceOutcome.HIT, company=found, cost=1)
        case FoundEmail():
            return ProviderResponse(outcome=TraceOutcome.HIT, emails=(found,), cost=1)
        case FoundPhone():
            return ProviderResponse(outcome=TraceOutcome.HIT, phones=(found,), cost=1)
