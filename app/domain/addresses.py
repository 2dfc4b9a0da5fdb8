"""Addresses: which of them are the public internet, and so may be called because a customer said so."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

# They carry an IPv4 address inside, and Python's `is_global` does not look there.
_CARRIERS = tuple(
    IPv6Network(network)
    for network in ("::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16")
)


def is_public(text: str) -> bool:
    """Tell whether an IP address is on the public internet; anything that is no address is not."""
    try:
        address: IPv4Address | IPv6Address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and any(address in network for network in _CARRIERS):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved
