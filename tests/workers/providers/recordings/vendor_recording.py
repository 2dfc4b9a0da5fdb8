"""Describes a vendor for the conformance suite: the request, and the responses in every case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.findings import EmailStatus
from app.domain.kinds import TraceOutcome
from app.domain.people_criteria import PeopleCriteria
from app.domain.records.subjects import Subject
from workers.providers.base import PeopleQuery, ProviderField, ProviderRequest
from workers.providers.web import Vendor

POLL_OUTCOMES = {
    404: TraceOutcome.HIT,
    429: TraceOutcome.RATE_LIMITED,
    500: TraceOutcome.ERROR,
    502: TraceOutcome.ERROR,
    503: TraceOutcome.ERROR,
}
"""The outcome of a poll with this status, as reported to the throttle."""


def people_request(**criteria: Any) -> ProviderRequest:
    """Return a search for ten people of acme.com, by default for its heads of sales in France."""
    company = {"company_domain": "acme.com"} | {
        name: criteria.pop(name) for name in ("company_domain", "company_name") if name in criteria
    }
    defaults = {"titles": ("head of sales",), "seniorities": ("head",), "countries": ("FR",)}
    return ProviderRequest(
        field=ProviderField.PEOPLE,
        subject=Subject(**company),
        query=PeopleQuery(criteria=PeopleCriteria(**company, **(defaults | criteria)), limit=10),
    )


@dataclass(frozen=True, kw_only=True)
class CannedResponse:
    """A canned response of a vendor: `body` is sent as JSON, or unchanged if it is a string."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


@dataclass(frozen=True, kw_only=True)
class VendorRecording:
    """The responses of a vendor for one field. Each case lists them in order; the last one repeats.

    A case that the vendor does not document is None. `value` is the expected value of a hit: an address, a
    number in E.164, a person's full name or a company's domain; `status` is that of a found address.
    `path` is the path of the first request, `sent` the expected content of its query or body. `rate_limited`
    has no `Retry-After`; the suite adds it.
    """

    vendor: type[Vendor]
    request: ProviderRequest
    value: str
    path: str
    sent: Mapping[str, Any]
    hit: Sequence[CannedResponse]
    cost: float
    miss: Sequence[CannedResponse]
    no_credits: Sequence[CannedResponse] | None
    bad_key: Sequence[CannedResponse]
    rate_limited: Sequence[CannedResponse]
    unexpected: Sequence[CannedResponse]
    ineligible: ProviderRequest | None
    status: EmailStatus | None = None
    miss_cost: float = 0
    suppressed: Sequence[CannedResponse] | None = None
    masked: Sequence[CannedResponse] | None = None
    never_ready: Sequence[CannedResponse] | None = None


CASES = (
    "hit",
    "sent",
    "miss",
    "ineligible",
    "unconfigured",
    "bad_key",
    "no_credits",
    "rate_limited",
    "retry_after",
    "suppressed",
    "slow",
    "hanging",
    "html_200",
    "html_500",
    "unexpected",
    "masked",
    "never_ready",
)
"""The columns of the suite's table, in order."""
