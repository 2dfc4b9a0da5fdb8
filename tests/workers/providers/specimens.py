"""What the conformance suite is told of a vendor: what is asked, and what it answers in every case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.findings import EmailStatus
from workers.providers.base import ProviderRequest
from workers.providers.web import Vendor


@dataclass(frozen=True, kw_only=True)
class Said:
    """One answer of a vendor as it was recorded: `body` is sent as JSON, a text as it stands."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


@dataclass(frozen=True, kw_only=True)
class Specimen:
    """One vendor, one field. Each case is the answers in the order they come; the last one goes on.

    None stands for a case that the vendor's documentation does not have. `value` is what a hit must bring: an
    address, a number in E.164, a person's full name or a company's domain; `status` that of a found address.
    `path` is that of the first request, `sent` what its query or body must hold. `rate_limited` comes without
    `Retry-After`; the suite adds one.
    """

    vendor: type[Vendor]
    ask: ProviderRequest
    value: str
    path: str
    sent: Mapping[str, Any]
    hit: Sequence[Said]
    cost: float
    miss: Sequence[Said]
    no_credits: Sequence[Said] | None
    bad_key: Sequence[Said]
    rate_limited: Sequence[Said]
    unexpected: Sequence[Said]
    ineligible: ProviderRequest | None
    status: EmailStatus | None = None
    miss_cost: float = 0
    suppressed: Sequence[Said] | None = None
    masked: Sequence[Said] | None = None
    never_ready: Sequence[Said] | None = None


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
