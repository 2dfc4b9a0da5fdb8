"""URLs of forbidden destinations for webhooks, and a recorder of connections and DNS lookups."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

SPELLINGS = {
    "loopback": "https://127.0.0.1/",
    "loopback, short": "https://127.1/",
    "loopback, hex and short": "https://0x7f.1/",
    "loopback, hex": "https://0x7f000001/",
    "loopback, hex in parts": "https://0x7f.0x0.0x0.0x1/",
    "loopback, one number": "https://2130706433/",
    "loopback, octal": "https://0177.0.0.1/",
    "loopback, octal in one": "https://017700000001/",
    "loopback, mixed": "https://0177.0x0.0.1/",
    "loopback, too big": "https://127.0.0.257/",
    "loopback, last dot": "https://127.0.0.1./",
    "loopback, another": "https://127.255.255.254/",
    "any": "https://0.0.0.0/",
    "any, short": "https://0/",
    "IPv6 loopback": "https://[::1]/",
    "IPv6 loopback, long": "https://[0:0:0:0:0:0:0:1]/",
    "IPv6 any": "https://[::]/",
    "IPv4 mapped": "https://[::ffff:127.0.0.1]/",
    "IPv4 mapped, hex": "https://[::ffff:7f00:1]/",
    "IPv4 compatible": "https://[::127.0.0.1]/",
    "IPv4 translated": "https://[::ffff:0:7f00:1]/",
    "NAT64": "https://[64:ff9b::7f00:1]/",
    "NAT64, local": "https://[64:ff9b:1::7f00:1]/",
    "6to4": "https://[2002:7f00:1::]/",
    "Teredo": "https://[2001:0:7f00:1::]/",
    "link-local with a zone": "https://[fe80::1%eth0]/",
    "link-local with an encoded zone": "https://[fe80::1%25eth0]/",
    "site-local": "https://[fec0::1]/",
    "unique local": "https://[fd00:ec2::254]/",
    "IPv6 multicast": "https://[ff02::1]/",
    "IPv4 in brackets": "https://[127.0.0.1]/",
    "private 10": "https://10.0.0.1/",
    "private 172": "https://172.16.0.1/",
    "private 192": "https://192.168.0.1/",
    "carrier": "https://100.100.100.200/",
    "metadata": "https://169.254.169.254/latest/meta-data/",
    "metadata, one number": "https://2852039166/",
    "metadata, Oracle": "https://192.0.0.192/",
    "platform, Azure": "https://168.63.129.16/",
    "6to4 relay": "https://192.88.99.1/",
    "broadcast": "https://255.255.255.255/",
    "multicast": "https://224.0.0.1/",
    "localhost": "https://localhost/",
    "localhost, last dot": "https://localhost./",
    "localhost, capitals": "https://LOCALHOST/",
    "below localhost": "https://hooks.localhost/",
    "metadata by name": "https://metadata.google.internal/",
    "mDNS": "https://printer.local/",
    "home network": "https://router.home.arpa/",
    "short name": "https://metadata/",
    "last dot": "https://hooks.acme.com./",
    "empty label": "https://hooks..acme.com/",
    "circled digits": "https://①②⑦.⓪.⓪.①/",
    "ideographic dots": "https://127。0。0。1/",
    "full-width digits": "https://\uff11\uff12\uff17.\uff10.\uff10.\uff11/",
    "full-width localhost": "https://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54/",
    "soft hyphen": "https://local\u00adhost/",
    "encoded digits": "https://%31%32%37.0.0.1/",
    "encoded NUL": "https://127.0.0.1%00.acme.com/",
    "user": "https://good.acme.com@127.0.0.1/",
    "user and password": "https://good:acme@93.184.215.14/",
    "empty user": "https://@93.184.215.14/",
    "encoded at": "https://good.acme.com%40127.0.0.1/",
    "backslash and at": "https://good.acme.com\\@127.0.0.1/",
    "backslash": "https://93.184.215.14\\.acme.com/",
    "backslashes": "https:\\\\127.0.0.1/",
    "fragment and at": "https://good.acme.com#@127.0.0.1/",
    "space and at": "https://93.184.215.14 &@127.0.0.1#@10.0.0.1/",
    "two ports": "https://93.184.215.14:443:80/",
    "file": "file:///etc/passwd",
    "gopher": "gopher://127.0.0.1:6379/_FLUSHALL",
    "ftp": "ftp://93.184.215.14/",
    "dict": "dict://127.0.0.1:6379/info",
    "ldap": "ldap://127.0.0.1/",
    "unix": "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
    "data": "data:text/plain,hello",
    "javascript": "javascript:alert(1)",
    "plain http": "http://93.184.215.14/",
    "no scheme": "//93.184.215.14/",
    "no host": "https:///path",
    "one slash": "https:/93.184.215.14/",
    "port 0": "https://93.184.215.14:0/",
    "port of ssh": "https://93.184.215.14:22/",
    "port of mail": "https://93.184.215.14:25/",
    "port too big": "https://93.184.215.14:65536/",
    "port below 0": "https://93.184.215.14:-1/",
    "port by name": "https://93.184.215.14:https/",
    "port in circled digits": "https://93.184.215.14:④④③/",
    "CRLF in the path": "https://93.184.215.14/\r\nX-Evil: 1",
    "CRLF in the host": "https://93.184.215.14\r\n.acme.com/",
    "tab": "https://93.184.215.14\t/",
    "space in the path": "https://93.184.215.14/ HTTP/1.1",
    "space before": " https://93.184.215.14/",
    "line end": "https://93.184.215.14/\n",
    "NUL": "https://93.184.215.14/\0",
    "long label": f"https://{'a' * 64}.acme.com/",
    "long name": f"https://{'a.' * 127}com/",
    "empty": "",
}
"""URLs that must be refused as written, before any DNS lookup, by what is wrong with them."""

PRIVATE = (
    "127.0.0.1",
    "10.0.0.1",
    "169.254.169.254",
    "192.0.0.192",
    "168.63.129.16",
    "0.0.0.0",  # noqa: S104 -- it must be refused
    "::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "fe80::1%lo",
    "fec0::1",
    "fd00:ec2::254",
)
"""Private addresses to which an attacker can make a host name resolve."""

as_spelled = pytest.mark.parametrize("url", SPELLINGS.values(), ids=SPELLINGS)


@dataclass
class NetworkRecording:
    """Recorded network activity: addresses connected to, and names looked up."""

    connected: list[Any] = field(default_factory=list)
    looked_up: list[str] = field(default_factory=list)
    others: frozenset[int | None] = frozenset()
    """Unrelated threads, which ran before the recording started."""

    @property
    def includes_this_thread(self) -> bool:
        return threading.get_ident() not in self.others


@contextmanager
def record_network() -> Iterator[NetworkRecording]:
    """Record the connections and DNS lookups of the block and of the threads that it starts.

    An audit hook (PEP 578) would see more, but cannot be removed, and CPython 3.11 then loses threads that
    start at the same moment while coverage is measured (`sys.settrace` is audited, too).
    """
    recording = NetworkRecording(
        others=frozenset(thread.ident for thread in threading.enumerate()) - {threading.get_ident()}
    )

    def wrap_connect(connect: Callable[..., Any]) -> Callable[..., Any]:
        def recording_connect(connection: socket.socket, address: Any) -> Any:
            if recording.includes_this_thread and isinstance(address, tuple):
                recording.connected.append(address[:2])
            return connect(connection, address)

        return recording_connect

    def wrap_getaddrinfo(getaddrinfo: Callable[..., Any]) -> Callable[..., Any]:
        def recording_getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
            if recording.includes_this_thread:
                recording.looked_up.append(str(host))
            return getaddrinfo(host, *arguments, **options)

        return recording_getaddrinfo

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", wrap_connect(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", wrap_connect(socket.socket.connect_ex))
        patch.setattr(socket, "getaddrinfo", wrap_getaddrinfo(socket.getaddrinfo))
        yield recording
