"""What every provider is: asked for one field of somebody, it answers with values and an outcome.

A provider never raises for what its vendor says; it says it as an outcome. What does raise (a time-out, a
broken answer) the waterfall turns into one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Protocol

from app.domain.email_patterns.patterns import PatternStat
from app.domain.findings import FoundCompany, FoundContact, FoundEmail, FoundPhone
from app.domain.kinds import TraceOutcome
from app.domain.providers.rates import Rate
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings


class ProviderField(StrEnum):
    """What can be asked for; one question to a provider is about one of them."""

    EMAIL = "email"
    PHONE = "phone"
    PERSON = "person"
    COMPANY = "company"
    VERIFICATION = "verification"


class ProviderTimeout(Exception):  # noqa: N818 -- it names what happened
    """The provider did not answer in time."""


class UnexpectedAnswer(Exception):  # noqa: N818 -- it names what happened
    """The provider's answer is not what its documentation promises; the text never quotes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """One question: `types` are those wanted of the field, `patterns` what is known of the domain's e-mails.

    For a verification `subject.email` is the address in question. `country` is the ISO country the person is
    likely in, or None. `attempt` counts from 1 how often the job has been tried. `ticket` is what the
    provider gave when it said that it needs time: then this is the question whether it is done. `max_age` is
    how old a value may be at most, None: as usual.
    """

    field: ProviderField
    subject: Subject
    types: tuple[str, ...] = ()
    patterns: tuple[PatternStat, ...] = ()
    country: str | None = None
    attempt: int = 1
    max_age: timedelta | None = None
    poll_token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderResponse:
    """What the provider said. `cost` is in the provider's own credits, `retry_after` in seconds."""

    outcome: TraceOutcome
    emails: tuple[FoundEmail, ...] = ()
    phones: tuple[FoundPhone, ...] = ()
    contact: FoundContact | None = None
    company: FoundCompany | None = None
    cost: float = 0
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """The provider needs time: ask again with the ticket, in so many seconds.

    `outcome` is how this asking went, which the provider's gate wants to know: a hit, if nothing went wrong.
    """

    poll_token: str
    after: float
    outcome: TraceOutcome = TraceOutcome.HIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms a provider is asked.

    `rates` are its limits. `prices` are the vendor credits that one answer to a field costs at most, and
    `credit_price` what one such credit costs in the operator's money, so that providers can be compared.
    `daily_budget` are the vendor credits it may cost per UTC day. A miss stands for `miss_days`. `patience`
    is for how many seconds a pending answer is waited for. One with `breaker` off is asked however often it
    failed.
    """

    rates: tuple[Rate, ...] = ()
    prices: Mapping[ProviderField, float] = field(default_factory=lambda: MappingProxyType({}))
    credit_price: float = 1.0
    daily_budget: float | None = None
    miss_days: float = 30.0
    poll_timeout: float = 600.0
    breaker: bool = True

    @property
    def is_free(self) -> bool:
        """Tell whether there is nothing to count before it is asked."""
        return not (self.rates or self.prices or self.breaker or self.daily_budget)


FREE = Terms(miss_days=0, breaker=False)
"""The terms of those who are no outside service: asked as often as there is a question."""


class Provider(Protocol):
    """Somebody outside who may know."""

    name: ClassVar[str]
    fields: ClassVar[frozenset[ProviderField]]
    guesses: ClassVar[bool]
    """Whether it only guesses: then its miss is no proof that nobody knows."""
    terms: Terms

    def __init__(self, access: ProviderSettings, /) -> None:
        """Make the provider of what the settings say of it."""

    def unavailability(self, ask: ProviderRequest) -> TraceOutcome | None:
        """Tell why this cannot be asked: ineligible or unconfigured; None if it can. Nothing is sent."""

    def ask(self, ask: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Answer within so many seconds.

        Raises:
            ProviderTimeout: it took longer.
            UnexpectedAnswer: it makes no sense.

        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialCheck:
    """Whether a provider can be used now: `hit` if its key works, otherwise why not; and what it has left.

    `left` is by pool, in the vendor's credits or calls: `{"searches": 25}`; empty if the vendor does not say.
    """

    outcome: TraceOutcome
    left: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


class Checkable(Protocol):
    """A provider that can tell, at no cost, whether its key works."""

    def check(self, *, seconds: float) -> CredentialCheck:
        """Ask for the account, which costs nothing.

        Raises:
            ProviderTimeout: it took longer.
            UnexpectedAnswer: it makes no sense.

        """
