"""The interface of a provider: a request for one field of a subject returns values and an outcome.

Errors reported by the vendor are outcomes, not exceptions. Exceptions (a timeout, an unreadable response) are
turned into outcomes by the waterfall.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, Protocol

from app.domain.email_patterns.patterns import PatternStat
from app.domain.findings import FoundCompany, FoundContact, FoundEmail, FoundPhone
from app.domain.kinds import TraceOutcome
from app.domain.people_criteria import PeopleCriteria
from app.domain.providers.rates import Rate
from app.domain.providers.website_pages import PageState, RoleAddress
from app.domain.records.subjects import Subject
from app.settings import ProviderSettings


class ProviderField(StrEnum):
    """The fields a provider can be asked for, one per request."""

    EMAIL = "email"
    PHONE = "phone"
    PERSON = "person"
    COMPANY = "company"
    PEOPLE = "people"
    VERIFICATION = "verification"


class ProviderTimeout(Exception):  # noqa: N818 -- it names what happened
    """The provider did not answer in time."""


class UnexpectedResponse(Exception):  # noqa: N818 -- it names what happened
    """The response does not match the vendor's documentation; the message never quotes the response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleQuery:
    """The people to search for: a page of at most `limit` of them; the first page is 1."""

    criteria: PeopleCriteria
    limit: int
    page: int = 1

    @property
    def offset(self) -> int:
        """Return the number of people on the pages before."""
        return (self.page - 1) * self.limit

    @property
    def key(self) -> tuple[str, ...]:
        """Return the query as texts, without its company, which is the subject of the request."""
        lists = ("titles", "seniorities", "departments", "countries")
        named = (f"{name} {value}" for name in lists for value in getattr(self.criteria, name))
        return (*named, f"limit {self.limit}", f"page {self.page}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """A request for one field.

    `types` are the requested types of the field, `patterns` the known e-mail patterns of the company. For a
    verification `subject.email` is the address to verify. A search for people has a `query`, and its subject
    is the company. `country` is the person's likely ISO country or
    None, `attempt` the number of the job's attempt from 1, `max_age` the maximum age of a value, None for the
    default. `poll_token` is the token of an earlier `Pending`: the request then polls for its result.
    `known_pages` are those of the company's website, for a provider that reads it.
    """

    field: ProviderField
    subject: Subject
    types: tuple[str, ...] = ()
    patterns: tuple[PatternStat, ...] = ()
    country: str | None = None
    attempt: int = 1
    max_age: timedelta | None = None
    poll_token: str | None = None
    query: PeopleQuery | None = None
    known_pages: tuple[PageState, ...] = ()

    @property
    def people(self) -> PeopleQuery:
        """Return the query of a search for people."""
        if self.query is None:
            raise TypeError("Only a request for people has a query.")
        return self.query

    @property
    def options(self) -> tuple[str, ...]:
        """Return what is requested of the subject, by which two requests differ."""
        return self.types if self.query is None else self.query.key

    def wants(self, kind: str) -> bool:
        """Return whether values of this type are requested; without types, values of any type are."""
        return not self.types or kind in self.types


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderResponse:
    """A provider's response; `cost` is in the provider's own credits, `retry_after` in seconds.

    `people` are those that a search has found; `has_more` is whether there is another page of them.

    `reason` says in one word of lower snake_case why there is no result, if the provider tells. `patterns`
    are what it tells of the company's addresses. `site_people` are all whom the company's website names with
    an address, `pages` its pages, `role_addresses` its addresses such as info@; they are stored apart from
    the response, which is about the requested person.
    """

    outcome: TraceOutcome
    emails: tuple[FoundEmail, ...] = ()
    phones: tuple[FoundPhone, ...] = ()
    contact: FoundContact | None = None
    company: FoundCompany | None = None
    people: tuple[FoundContact, ...] = ()
    has_more: bool = False
    cost: float = 0
    retry_after: float | None = None
    reason: str | None = None
    patterns: tuple[PatternStat, ...] = ()
    site_people: tuple[FoundContact, ...] = ()
    pages: tuple[PageState, ...] = ()
    role_addresses: tuple[RoleAddress, ...] = ()


@dataclass(frozen=True, slots=True)
class Pending:
    """The result is not ready: poll with the token after `after` seconds.

    `outcome` is the outcome of this call for the provider's throttle: a hit unless something went wrong.
    """

    poll_token: str
    after: float
    outcome: TraceOutcome = TraceOutcome.HIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The limits and prices under which a provider is called.

    `rates` are its rate limits. `prices` are the vendor credits that one response for a field costs at most,
    for a search for people those that one person costs, and `credit_price` is the price of a credit in the
    operator's currency, so that providers can be compared.
    `daily_budget` is the number of vendor credits it may cost per UTC day. A miss is valid for `miss_days`. A
    pending result is polled for at most `poll_timeout` seconds. `breaker` enables the circuit breaker.
    `site_days` is the time for which a reading of a company's website is valid, None if it reads none.
    """

    rates: tuple[Rate, ...] = ()
    prices: Mapping[ProviderField, float] = field(default_factory=lambda: MappingProxyType({}))
    credit_price: float = 1.0
    daily_budget: float | None = None
    miss_days: float = 30.0
    poll_timeout: float = 600.0
    breaker: bool = True
    site_days: float | None = None

    def price_of(self, request: ProviderRequest) -> float:
        """Return the vendor credits that the response to a request costs at most."""
        price = self.prices.get(request.field, 0.0)
        return price if request.query is None else math.ceil(round(price * request.query.limit, 6))

    @property
    def is_free(self) -> bool:
        """Return whether a call needs no admission: no limit, price, circuit breaker, and no website."""
        is_limited = self.rates or self.prices or self.breaker or self.daily_budget
        return not is_limited and self.site_days is None


FREE = Terms(miss_days=0, breaker=False)
"""The terms of providers that are not external services: no limits."""


class Provider(Protocol):
    """A source of contact data or verifications."""

    name: ClassVar[str]
    fields: ClassVar[frozenset[ProviderField]]
    guesses: ClassVar[bool]
    """Whether its values are guesses; its miss is then not a definitive answer."""
    takes_member_ids: ClassVar[bool]
    """Whether, by its documentation, a profile URL may have a member's id of Sales Navigator or Recruiter."""
    terms: Terms

    def __init__(self, access: ProviderSettings, /) -> None:
        """Create the provider from its settings."""

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        """Return why the request is not possible (ineligible, unconfigured), None if it is; send nothing."""

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Call the provider, or poll for a pending result, within this many seconds.

        Raises:
            ProviderTimeout: the response did not arrive in time.
            UnexpectedResponse: the response does not match the vendor's documentation.

        """


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialCheck:
    """The result of a credential check: `hit` if the key works, otherwise the reason.

    `remaining` is the balance by pool, in the vendor's credits or calls, as in `{"searches": 25}`; empty
    if the vendor does not report it.
    """

    outcome: TraceOutcome
    remaining: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


class Checkable(Protocol):
    """A provider whose key can be checked at no cost."""

    def check(self, *, seconds: float) -> CredentialCheck:
        """Check the key with a free call, such as for the account.

        Raises:
            ProviderTimeout: the response did not arrive in time.
            UnexpectedResponse: the response does not match the vendor's documentation.

        """
