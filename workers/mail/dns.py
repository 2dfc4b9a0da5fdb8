"""Resolves the mail hosts of a domain and their addresses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from app.domain.normal.webhook_addresses import INTERNAL_NAMES
from workers.mail.settings import MailSettings

if TYPE_CHECKING:
    import dns.resolver

MAX_CACHED = 4096
SPECIAL_USE = INTERNAL_NAMES | {"example"}
"""Top-level names that are never resolved, so that internal hosts cannot be probed."""


class ResolutionFailed(Exception):  # noqa: N818 -- it names what happened
    """No name server gave a definitive answer."""


class MailResolver:
    """A resolver that caches answers, also negative ones, for their TTL.

    It imports the library at the first query: that takes 30 ms, and many workers resolve nothing.
    """

    def __init__(self, settings: MailSettings) -> None:
        self._servers = settings.dns_servers
        self._seconds = settings.dns_seconds

    @cached_property
    def _resolver(self) -> dns.resolver.Resolver:
        return _resolver(self._servers)

    def mail_hosts(self, domain: str, *, seconds: float) -> tuple[str, ...]:
        """Return the mail hosts of the domain by preference; none if it accepts no mail.

        Source: RFC 5321, section 5.1 (without MX records the domain itself is the host, if it has an
        address); RFC 7505 (a single MX record "." means that it accepts no mail).

        Raises:
            ResolutionFailed: no name server gave a definitive answer.

        """
        records = sorted(self._query(domain, "MX", seconds), key=lambda record: record.preference)
        if records:
            hosts = (record.exchange.to_text(omit_final_dot=True).lower() for record in records)
            return tuple(dict.fromkeys(host for host in hosts if host not in {"", "."}))
        return (domain,) if self.addresses(domain, seconds=seconds) else ()

    def addresses(self, host: str, *, seconds: float) -> tuple[str, ...]:
        """Return the IPv4 addresses of a host, else its IPv6 ones, which mail servers trust less.

        Raises:
            ResolutionFailed: no name server gave a definitive answer.

        """
        records = self._query(host, "A", seconds) or self._query(host, "AAAA", seconds)
        return tuple(record.address for record in records)

    def _query(self, name: str, kind: str, seconds: float) -> Sequence[Any]:
        if name.rpartition(".")[2] in SPECIAL_USE or seconds <= 0:
            raise ResolutionFailed
        import dns.exception  # noqa: PLC0415 -- see the class
        import dns.resolver  # noqa: PLC0415

        try:
            response = self._resolver.resolve(
                name, kind, lifetime=min(seconds, self._seconds), search=False, raise_on_no_answer=False
            )
        except dns.resolver.NXDOMAIN:
            return ()
        except (dns.exception.DNSException, OSError):
            raise ResolutionFailed from None  # its text quotes the name
        return tuple(response.rrset or ())


def _resolver(servers: Sequence[tuple[str, int]]) -> dns.resolver.Resolver:
    import dns.nameserver  # noqa: PLC0415 -- see the class
    import dns.resolver  # noqa: PLC0415

    try:
        resolver = dns.resolver.Resolver(configure=not servers)
    except dns.resolver.NoResolverConfiguration:  # then every query fails
        resolver = dns.resolver.Resolver(configure=False)
    if servers:
        resolver.nameservers = [dns.nameserver.Do53Nameserver(address, port) for address, port in servers]
    resolver.cache = dns.resolver.LRUCache(MAX_CACHED)
    return resolver
