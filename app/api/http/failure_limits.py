"""Callers not known yet: which network they come from, and how often they may fail."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from flask import Response, after_this_request, g, request

from app.api.http.services import services
from app.core.accounts import login_throttle
from app.domain.errors import TooManyAttempts
from app.infra.rate_limiter import LimitStatus

IPV4_NETWORK = 24
IPV6_NETWORK = 64


@dataclass(frozen=True, slots=True)
class FailureCounter:
    """Failures counted together: so many in a while, under a digest, since Redis is no place for people."""

    policy: str
    rate: str
    key: str

    @classmethod
    def for_client(cls, policy: str, rate: str, *words: str) -> FailureCounter:
        """Count what comes from the network of this request, apart for each policy and the words."""
        return cls(policy, rate, login_throttle.keyed("from", network(), policy, *words).hex())

    def check(self) -> None:
        """Let an attempt pass, unless too many before it failed.

        Raises:
            TooManyAttempts: they did.

        """
        self._enforce(services().limiter.peek(self.rate, "failures", self.key))

    def add(self) -> None:
        """Count one.

        Raises:
            TooManyAttempts: there were too many already; this one must be told nothing.

        """
        self._enforce(services().limiter.hit(self.rate, "failures", self.key))

    def _enforce(self, standing: LimitStatus) -> None:
        _remember_status(self.policy, standing)
        if not standing.allowed:
            raise TooManyAttempts(retry_after=standing.reset)


def network() -> str:
    """Give the network that the request came from: a /24, or a /64 where one customer has as much."""
    try:
        address: IPv4Address | IPv6Address = ip_address((request.remote_addr or "").partition("%")[0])
    except ValueError:  # a unix socket, or a proxy's fancy
        return "unknown"
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    length = IPV4_NETWORK if isinstance(address, IPv4Address) else IPV6_NETWORK
    return str(ip_network((address, length), strict=False))


def _remember_status(policy: str, standing: LimitStatus) -> None:
    """Have the answer say where the caller stands (draft-ietf-httpapi-ratelimit-headers)."""
    if "standings" not in g:
        g.standings = {}
        after_this_request(_tell)
    g.standings[policy] = standing


def _tell(response: Response) -> Response:
    standings: dict[str, LimitStatus] = g.standings
    policies = [f'"{name}";q={one.quota};w={one.window}' for name, one in standings.items()]
    limits = [f'"{name}";r={one.remaining};t={one.reset}' for name, one in standings.items()]
    for header, told in (("RateLimit-Policy", policies), ("RateLimit", limits)):
        response.headers[header] = ", ".join(filter(None, (response.headers.get(header), *told)))
    return response
