from __future__ import annotations

from ipaddress import ip_network

import pytest
from hostile_support import as_spelled

from app.domain.errors import InvalidValue
from app.domain.normal.webhook_addresses import WebhookTarget, is_public, is_within, parse_target


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",  # noqa: S104 -- it must be refused
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001:0:7f00:1::",
        "fec0::1",
        "5f00::1",
        "3fff::1",
        "2001:db8::1",
        "192.0.0.192",
        "192.88.99.1",
        "168.63.129.16",
        "",
        "localhost",
    ],
)
def test_private_reserved_and_embedded_addresses_are_refused(address: str) -> None:
    assert not is_public(address)


@as_spelled
def test_a_deceptive_url_is_refused_and_not_quoted(url: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        parse_target(url)

    assert not url or url not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://hooks.acme.com", WebhookTarget("https", "hooks.acme.com", 443, "/")),
        ("HTTPS://Hooks.Acme.COM:8443/A?b=c", WebhookTarget("https", "hooks.acme.com", 8443, "/A?b=c")),
        ("https://hooks.acme.com?token=a@b", WebhookTarget("https", "hooks.acme.com", 443, "/?token=a@b")),
        ("https://hooks.acme.com//twice", WebhookTarget("https", "hooks.acme.com", 443, "//twice")),
        ("https://hooks.acme.com/ä%20b", WebhookTarget("https", "hooks.acme.com", 443, "/%C3%A4%20b")),
        ("https://bücher.acme.com/", WebhookTarget("https", "xn--bcher-kva.acme.com", 443, "/")),
        ("https://93.184.215.14:80/", WebhookTarget("https", "93.184.215.14", 80, "/")),
        ("https://[2606:2800:21F::1]/", WebhookTarget("https", "2606:2800:21f::1", 443, "/")),
    ],
)
def test_a_url_is_parsed_into_its_target(url: str, where: WebhookTarget) -> None:
    assert parse_target(url) == where


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("http://receiver:8080/done", WebhookTarget("http", "receiver", 8080, "/done")),
        ("http://10.20.0.7", WebhookTarget("http", "10.20.0.7", 80, "/")),
        ("https://hooks.corp.internal/", WebhookTarget("https", "hooks.corp.internal", 443, "/")),
    ],
)
def test_with_configured_networks_http_and_internal_names_are_allowed(url: str, where: WebhookTarget) -> None:
    assert parse_target(url, [ip_network("10.20.0.0/16")]) == where


def test_a_text_that_is_not_an_address_is_in_no_network() -> None:
    assert not is_within("receiver", [ip_network("0.0.0.0/0")])
