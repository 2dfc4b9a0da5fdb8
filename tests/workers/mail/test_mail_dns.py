from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import dns.resolver
import pytest
from dnslib import AAAA, MX, A
from local_servers import free_port
from mail_support import LOOPBACK, FakeDnsServer, Zone, dns_server, silent_dns_server

from workers.mail.dns import MailResolver, ResolutionFailed
from workers.mail.settings import MailSettings

Serve = Callable[[FakeDnsServer], MailResolver]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda server: asking(stack.enter_context(dns_server(server)))


def asking(port: int) -> MailResolver:
    return MailResolver(MailSettings(dns_servers=((LOOPBACK, port),), dns_seconds=0.3))


@pytest.mark.parametrize(
    ("zone", "hosts"),
    [
        (
            {("acme.com", "MX"): (MX("b.acme.com", 20), MX("A.acme.com", 5), MX("c.acme.com", 20))},
            ("a.acme.com", "b.acme.com", "c.acme.com"),
        ),
        ({("acme.com", "MX"): (MX("a.acme.com", 5), MX("a.acme.com", 9))}, ("a.acme.com",)),
        ({("acme.com", "MX"): (MX(".", 0),)}, ()),
        ({("acme.com", "MX"): (MX(".", 0), MX("a.acme.com", 5))}, ("a.acme.com",)),
        ({("acme.com", "A"): (A(LOOPBACK),)}, ("acme.com",)),
        ({("acme.com", "AAAA"): (AAAA("::1"),)}, ("acme.com",)),
        ({("acme.com", "TXT"): ()}, ()),
        ({}, ()),
    ],
)
def test_mail_hosts_are_returned_by_preference(serve: Serve, zone: Zone, hosts: tuple[str, ...]) -> None:
    assert serve(FakeDnsServer(zone)).mail_hosts("acme.com", seconds=1) == hosts


def test_ipv4_addresses_are_preferred_to_ipv6(serve: Serve) -> None:
    zone = {("acme.com", "A"): (A("192.0.2.1"),), ("acme.com", "AAAA"): (AAAA("2001:db8::1"),)}

    assert serve(FakeDnsServer(zone)).addresses("acme.com", seconds=1) == ("192.0.2.1",)


@pytest.mark.parametrize(
    "zone", [{}, {("acme.com", "A"): (A(LOOPBACK),)}, {("acme.com", "MX"): (MX("a.com", 1),)}]
)
def test_a_dns_response_is_cached(serve: Serve, zone: Zone) -> None:
    server = FakeDnsServer(zone)
    resolver = serve(server)
    first = resolver.mail_hosts("acme.com", seconds=1)
    queries = len(server.queries)

    assert resolver.mail_hosts("acme.com", seconds=1) == first
    assert len(server.queries) == queries


def test_a_dns_response_without_a_ttl_is_not_cached(serve: Serve) -> None:
    server = FakeDnsServer({("acme.com", "MX"): (MX("a.com", 1),)}, ttl=0)
    resolver = serve(server)
    resolver.mail_hosts("acme.com", seconds=1)

    resolver.mail_hosts("acme.com", seconds=1)

    assert len(server.queries) == 2


def test_a_dns_failure_is_not_cached(serve: Serve) -> None:
    server = FakeDnsServer({("acme.com", "MX"): (MX("a.com", 1),)}, rcode="SERVFAIL")
    resolver = serve(server)
    with pytest.raises(ResolutionFailed):
        resolver.mail_hosts("acme.com", seconds=1)
    server.rcode = "NOERROR"

    assert resolver.mail_hosts("acme.com", seconds=1) == ("a.com",)


def test_a_silent_dns_server_is_limited_by_the_timeout() -> None:
    with silent_dns_server() as port:
        resolver = MailResolver(MailSettings(dns_servers=((LOOPBACK, port),), dns_seconds=60))
        started = time.monotonic()

        with pytest.raises(ResolutionFailed):
            resolver.mail_hosts("acme.com", seconds=0.2)

        assert time.monotonic() - started < 10


def test_no_dns_query_is_sent_without_time_left(serve: Serve) -> None:
    server = FakeDnsServer({})

    with pytest.raises(ResolutionFailed):
        serve(server).mail_hosts("acme.com", seconds=0)

    assert server.queries == []


def test_an_absent_dns_server_is_a_failed_resolution() -> None:
    with pytest.raises(ResolutionFailed):
        asking(free_port()).mail_hosts("acme.com", seconds=1)


@pytest.mark.parametrize("name", ["localhost", "mail.local", "acme.example", "a" * 64 + ".com"])
def test_an_invalid_name_is_a_failed_resolution(serve: Serve, name: str) -> None:
    server = FakeDnsServer({})

    with pytest.raises(ResolutionFailed):
        serve(server).addresses(name, seconds=1)

    assert server.queries == []


def test_a_machine_without_name_servers_resolves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns.resolver.Resolver, "read_resolv_conf", refuse)

    with pytest.raises(ResolutionFailed):
        MailResolver(MailSettings()).mail_hosts("acme.com", seconds=1)


def refuse(*_words: object) -> None:
    raise dns.resolver.NoResolverConfiguration
