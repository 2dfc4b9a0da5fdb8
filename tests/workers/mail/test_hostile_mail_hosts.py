"""Neither an MX record nor an address record makes the verification connect to a private network."""

from __future__ import annotations

import socket
from ipaddress import ip_address

import pytest
from dnslib import AAAA, MX, A
from hostile_support import PRIVATE, record_network
from local_servers import free_port
from mail_support import FakeDnsServer, dns_server, settings, summary, verify

from app.settings import ProviderSettings
from workers.providers.base import Pending
from workers.providers.mx import Mx


def verdict(zone: dict[tuple[str, str], tuple[object, ...]], **changes: object) -> tuple[str, list[object]]:
    """Verify an address of acme.com with this zone; return the verdict and the connections made."""
    with dns_server(FakeDnsServer(zone, ttl=0)) as dns_port, record_network() as seen:
        result = summary(verify(Mx(ProviderSettings(), settings(free_port(), dns_port, **changes))))
    return result, seen.connected


@pytest.mark.parametrize("address", PRIVATE)
def test_a_mail_host_at_a_private_address_is_not_connected_to(address: str) -> None:
    plain = ip_address(address.partition("%")[0]).exploded
    kind, record = ("AAAA", AAAA(plain)) if ":" in plain else ("A", A(plain))
    zone = {("acme.com", "MX"): (MX("mail.acme.com", 10),), ("mail.acme.com", kind): (record,)}

    assert verdict(zone) == ("unknown", [])


@pytest.mark.parametrize("host", ["localhost", "vault.service.internal", "printer.local", "router.home.arpa"])
def test_a_mail_host_with_an_internal_name_is_not_looked_up(host: str) -> None:
    server = FakeDnsServer({("acme.com", "MX"): (MX(host, 10),), (host, "A"): (A("93.184.215.14"),)}, ttl=0)

    with dns_server(server) as dns_port, record_network() as seen:
        result = summary(verify(Mx(ProviderSettings(), settings(free_port(), dns_port))))

    assert (result, seen.connected) == ("unknown", [])
    assert (host, "A") not in server.queries


@pytest.mark.parametrize("domain", ["vault.internal", "router.home.arpa", "db.local", "app.localhost"])
def test_an_internal_domain_is_not_looked_up(domain: str) -> None:
    server = FakeDnsServer({(domain, "MX"): (MX("mail.acme.com", 10),)})

    with dns_server(server) as dns_port:
        result = summary(verify(Mx(ProviderSettings(), settings(free_port(), dns_port)), f"ada@{domain}"))

    assert (result, server.queries) == ("unknown", [])


def test_a_mail_host_cannot_be_rebound_to_a_private_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: the connection goes to the address that was checked."""
    called: list[object] = []

    def refuse(address: object, *_more: object) -> None:
        called.append(address)
        zone["mail.acme.com", "A"] = (A("127.0.0.1"),)
        raise OSError

    zone: dict[tuple[str, str], tuple[object, ...]] = {
        ("acme.com", "MX"): (MX("mail.acme.com", 10),),
        ("mail.acme.com", "A"): (A("93.184.215.14"),),
    }
    with dns_server(FakeDnsServer(zone, ttl=0)) as dns_port:
        mail = settings(2525, dns_port)
        monkeypatch.setattr(socket, "create_connection", refuse)
        result = verify(Mx(ProviderSettings(), mail))

    assert not isinstance(result, Pending)
    assert called == [("93.184.215.14", 2525)]
