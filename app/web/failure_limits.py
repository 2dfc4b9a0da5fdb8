"""Limits on failed authentication per client network."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from flask import Response, after_this_request, g, request

from app.domain.errors import TooManyAttempts
from app.engine.accounts import login_throttle
from app.infra.broker.rate_limiter import LimitStatus
from app.web.services import services

IPV4_NETWORK = 24
IPV6_NETWORK = 64


@dataclass(frozen=True, slots=True)
class FailureCounter:
    """A failure counter. Its key is a digest, so that Redis holds no personal data."""

    policy: str
    rate: str
    key: str

    @classmethod
    def for_client(cls, policy: str, rate: str, *scope: str) -> FailureCounter:
        """Return the counter of a policy for the network of this request and an optional scope."""
        key = login_throttle.digest(services().digest_keys, "from", network(), policy, *scope)
        return cls(policy, rate, key.hex())

    @classmethod
    def for_account(cls, policy: str, rate: str, account_id: str) -> FailureCounter:
        """Return the counter of a policy for an account, whatever the network."""
        return cls(
            policy, rate, login_throttle.digest(services().digest_keys, "of", account_id, policy).hex()
        )

    def check(self) -> None:
        """Check the limit without counting.

        Raises:
            TooManyAttempts: the limit has been reached.

        """
        self._enforce(services().limiter.peek(self.rate, "failures", self.key))

    def add(self) -> None:
        """Count a failure.

        Raises:
            TooManyAttempts: the limit had been reached; the response must not reveal the outcome.

        """
        self._enforce(services().limiter.hit(self.rate, "failures", self.key))

    def _enforce(self, status: LimitStatus) -> None:
        _remember_status(self.policy, status)
        if not status.allowed:
            raise TooManyAttempts(retry_after=status.reset)


def network() -> str:
    """Return the network of the client: its /24, or its /64 for IPv6, the usual size for one customer."""
    try:
        address: IPv4Address | IPv6Address = ip_address((request.remote_addr or "").partition("%")[0])
    except ValueError:  # a unix socket, or an invalid header of a proxy
        return "unknown"
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    length = IPV4_NETWORK if isinstance(address, IPv4Address) else IPV6_NETWORK
    return str(ip_network((address, length), strict=False))


def _remember_status(policy: str, status: LimitStatus) -> None:
    """Store the status for the response headers (draft-ietf-httpapi-ratelimit-headers)."""
    if "limit_statuses" not in g:
        g.limit_statuses = {}
        after_this_request(_set_headers)
    g.limit_statuses[policy] = status


def _set_headers(response: Response) -> Response:
    statuses: dict[str, LimitStatus] = g.limit_statuses
    policies = [f'"{name}";q={status.quota};w={status.window}' for name, status in statuses.items()]
    limits = [f'"{name}";r={status.remaining};t={status.reset}' for name, status in statuses.items()]
    for header, values in (("RateLimit-Policy", policies), ("RateLimit", limits)):
        response.headers[header] = ", ".join(filter(None, (response.headers.get(header), *values)))
    return response
