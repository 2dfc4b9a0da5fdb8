"""Validation of webhook URLs: public addresses, and the networks that the operator allows."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from string import punctuation
from typing import TypeAlias
from urllib.parse import quote

import idna

from app.domain.errors import InvalidValue

Network: TypeAlias = IPv4Network | IPv6Network

WEB_PORTS = {"https": 443, "http": 80}
MIN_UNPRIVILEGED_PORT = 1024
"""Lower ports are assigned to system services (RFC 6335, section 6); only 80 and 443 are for the web."""
MAX_PORT = 65_535
MAX_NAME_LENGTH = 253

_GLOBAL_UNICAST = ip_network("2000::/3")
"""The IPv6 range that IANA allocates from; mapped, translated, local and reserved addresses are outside."""
_INTERNAL_NETWORKS = tuple(
    ip_network(network)
    for network in (
        "192.0.0.0/24",  # IETF protocol assignments (RFC 6890); 192.0.0.192 is a cloud's metadata service
        "192.88.99.0/24",  # 6to4 relays, deprecated (RFC 7526)
        "168.63.129.16/32",  # Azure's platform services, reachable from its virtual machines
        "2001::/23",  # IETF protocol assignments: Teredo carries IPv4 addresses
        "2002::/16",  # 6to4 carries IPv4 addresses
        "3fff::/20",  # documentation (RFC 9637)
    )
)
INTERNAL_NAMES = frozenset({"alt", "arpa", "internal", "invalid", "local", "localhost", "onion", "test"})
"""Top-level names without public hosts: RFC 2606, 6761, 6762, 7686, 8375, 9476; `internal`: ICANN."""

_URL = re.compile(
    r"(?P<scheme>[a-z]+)://(?:\[(?P<literal>[0-9a-f]*:[0-9a-f:.]+)\]|(?P<name>[^\s\x00-\x20\x7f:/?#@\\\[\]%]+))"
    r"(?::(?P<port>[0-9]{1,5}))?(?P<target>[/?][^\s\x00-\x20\x7f#\\]*)?",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """A parsed URL: `host` is an IP address or a name in ASCII, `target` the path and the query."""

    scheme: str
    host: str
    port: int
    target: str


def is_public(text: str) -> bool:
    """Return whether the text is an IP address on the public internet."""
    try:
        address: IPv4Address | IPv6Address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    if any(address in network for network in _INTERNAL_NETWORKS):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def parse_target(url: str, networks: Collection[Network] = ()) -> WebhookTarget:
    """Parse a customer's webhook URL; a URL that two parsers might read differently is rejected.

    The scheme must be https. http, short names and internal names are only allowed if the operator has
    configured `networks`. Whether a name resolves to a public address is checked when it is called.

    Raises:
        InvalidValue: the URL is not allowed; the message states the reason and does not quote the URL.

    """
    match = _URL.fullmatch(url)
    if match is None:
        raise InvalidValue("Must be a URL such as https://hooks.acme.com/done, without user and fragment.")
    scheme = match["scheme"].lower()
    if scheme not in WEB_PORTS or (scheme == "http" and not networks):
        raise InvalidValue("Must begin with https://.")
    port = int(match["port"]) if match["port"] else WEB_PORTS[scheme]
    if port > MAX_PORT or (port < MIN_UNPRIVILEGED_PORT and port not in WEB_PORTS.values()):
        raise InvalidValue("The port must be 80, 443, or between 1024 and 65535.")
    target = quote("/" + (match["target"] or "").removeprefix("/"), safe=punctuation)
    return WebhookTarget(scheme, _host(match["literal"], match["name"], networks), port, target)


def _host(literal: str | None, name: str | None, networks: Collection[Network]) -> str:
    host = literal.lower() if literal else _ascii(name or "")
    if literal or _NUMBER.fullmatch(host.rpartition(".")[2]):
        if not (is_public(host) or is_within(host, networks)):
            raise InvalidValue("The IP address is not on the public internet, or has an unusual format.")
        return host
    if len(host) > MAX_NAME_LENGTH or not all(map(_LABEL.fullmatch, host.split("."))):
        raise InvalidValue("The host is not a valid domain name.")
    if not networks and ("." not in host or host.rpartition(".")[2] in INTERNAL_NAMES):
        raise InvalidValue("The host is not a public domain name.")
    return host


def is_within(text: str, networks: Collection[Network]) -> bool:
    """Return whether the text is an IP address in one of the networks."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return any(address in network for network in networks)


def _ascii(name: str) -> str:
    """Return a name in A-labels (RFC 5891), without mapping characters: ① is not 1."""
    name = name.lower()
    if name.isascii():
        return name
    try:
        return idna.encode(name).decode()
    except UnicodeError as error:
        raise InvalidValue("The host is not a valid domain name.") from error
