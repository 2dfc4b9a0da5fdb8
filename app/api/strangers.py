"""Callers not known yet: which network they come from, and how often they may fail."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from flask import current_app, request

from app.core import sign_ins
from app.domain.errors import TooManyAttempts
from app.infra.limits import Limiter, Standing
from app.settings import Settings

IPV4_NETWORK = 24
IPV6_NETWORK = 64


@dataclass(frozen=True, slots=True)
class Failures:
    """Failures counted together: so many in a while, under a digest, since Redis is no place for people."""

    rate: str
    key: str

    @classmethod
    def from_here(cls, rate: str, *words: str) -> Failures:
        """Count what comes from the network of this request, apart for each of the words."""
        return cls(rate, sign_ins.keyed("from", network(), *words).hex())

    def require_turn(self) -> None:
        """Let an attempt pass, unless too many before it failed.

        Raises:
            TooManyAttempts: they did.

        """
        _judge(limiter().look(self.rate, "failures", self.key))

    def add(self) -> None:
        """Count one.

        Raises:
            TooManyAttempts: there were too many already; this one must be told nothing.

        """
        _judge(limiter().hit(self.rate, "failures", self.key))


def limiter() -> Limiter:
    """Give the application's limiter."""
    if "limiter" not in current_app.extensions:
        settings: Settings = current_app.extensions["settings"]
        current_app.extensions["limiter"] = Limiter(settings.redis_url)
    found: Limiter = current_app.extensions["limiter"]
    return found


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


def _judge(standing: Standing) -> None:
    if not standing.allowed:
        raise TooManyAttempts(retry_after=standing.reset)
