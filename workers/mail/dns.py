"""Names: which hosts take a domain's mail, and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dns.exception
import dns.nameserver
import dns.rdatatype
import dns.resolver

from app.domain.normal.webhook_addresses import INTERNAL_NAMES
from workers.mail.settings import MailSettings

MAX_CACHED = 4096
SPECIAL_USE = INTERNAL_NAMES | {"example"}
"""Whatever a name server says of these, it is not about the internet: nobody may look around the inside."""


class ResolutionFailed(Exception):  # noqa: N818 -- it names what happened
    """No name server said either that there is something, or that there is nothing."""


class MailResolver:
    """What the name servers say, remembered for as long as they say it holds (also that there is nothing)."""

    def __init__(self, settings: MailSettings) -> None:
        self._resolver = _resolver(settings.dns_servers)
        self._seconds = settings.dns_seconds

    def mail_hosts(self, domain: str, *, seconds: float) -> tuple[str, ...]:
        """Give the hosts that take mail for the domain, the preferred first; none if it takes no mail.

        Source: RFC 5321, section 5.1 (without MX records the domain itself is the host, if it has an
        address);
        RFC 7505 (a single MX record "." says that it takes none).

        Raises:
            Unanswered: nobody can say.

        """
        records = sorted(self._ask(domain, "MX", seconds), key=lambda record: record.preference)
        if records:
            hosts = (record.exchange.to_text(omit_final_dot=True).lower() for record in records)
            return tuple(dict.fromkeys(host for host in hosts if host not in {"", "."}))
        return (domain,) if self.addresses(domain, seconds=seconds) else ()

    def addresses(self, host: str, *, seconds: float) -> tuple[str, ...]:
        """Give the addresses of a host, those of IPv4 first: more mail servers are reached, and trust, there.

        Raises:
            Unanswered: nobody can say.

        """
        found = self._ask(host, "A", seconds) or self._ask(host, "AAAA", seconds)
        return tuple(record.address for record in found)

    def _ask(self, name: str, kind: str, seconds: float) -> Sequence[Any]:
        if name.rpartition(".")[2] in SPECIAL_USE or seconds <= 0:
            raise ResolutionFailed
        try:
            answer = self._resolver.resolve(
                name, kind, lifetime=min(seconds, self._seconds), search=False, raise_on_no_answer=False
            )
        except dns.resolver.NXDOMAIN:
            return ()
        except (dns.exception.DNSException, OSError):
            raise ResolutionFailed from None  # its text quotes the name
        return tuple(answer.rrset or ())


def _resolver(servers: Sequence[tuple[str, int]]) -> dns.resolver.Resolver:
    try:
        resolver = dns.resolver.Resolver(configure=not servers)
    except dns.resolver.NoResolverConfiguration:  # then nobody answers
        resolver = dns.resolver.Resolver(configure=False)
    if servers:
        resolver.nameservers = [dns.nameserver.Do53Nameserver(address, port) for address, port in servers]
    resolver.cache = dns.resolver.LRUCache(MAX_CACHED)
    return resolver
