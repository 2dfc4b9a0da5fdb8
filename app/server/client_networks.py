"""The address by which the connections of a client are counted."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

LOOPBACK_ADDRESSES = frozenset({"127.0.0.1", "::1", ""})
"""Addresses of local health checks and proxies; a unix socket has no address."""


def client_network(peer: object) -> str:
    """Return the address by which connections are counted: IPv4, or the /64 of one customer."""
    text = str(peer[0]) if isinstance(peer, tuple) and peer else ""
    try:
        address: IPv4Address | IPv6Address = ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(address) if address.is_loopback else address.exploded[:19]
    return str(address)
