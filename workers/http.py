"""The one door out to addresses that customers name: https, public, and nowhere else.

An operator may open it to networks of their own (`WEBHOOK_NETWORKS`), where plain http will do.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Any, Literal, TypeAlias

import httpx2

from app.domain.addresses import is_public
from app.infra import clock

SECONDS = 15.0
"""For the whole exchange. Standard Webhooks, "Request timeouts": somewhere between 15 and 30."""

LAST_PORT = 65_535

Network: TypeAlias = IPv4Network | IPv6Network
Reason: TypeAlias = Literal["refused", "unresolved", "connection", "timeout"]
Trace: TypeAlias = Callable[[str, Mapping[str, Any]], None]
_CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})


class Unreached(Exception):  # noqa: N818 -- it names what happened
    """Nobody answered; `reason` says why.

    `refused`: the address may not be called; `unresolved`: its name leads nowhere.
    """

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the receiver said: a status, and in how many seconds it wants to be asked again."""

    status: int
    retry_after: float | None


@dataclass(frozen=True, slots=True)
class Door:
    """Posts to a URL. Its name is resolved once, every answer must be allowed, and that answer is called.

    So a name that points elsewhere a moment later leads nowhere, and a redirect is an answer like others.
    `networks` are those that may be called beside the public internet.
    """

    networks: tuple[Network, ...] = ()

    def post(self, url: str, body: bytes, headers: dict[str, str]) -> Answer:
        """Post, and give the answer.

        Raises:
            Unreached: the URL may not be called, or it could not be, in time.

        """
        until = time.monotonic() + SECONDS
        target = _parse(url)
        address = self._resolve(target)
        try:
            with (
                _clock(until) as trace,
                httpx2.Client(timeout=SECONDS, follow_redirects=False, trust_env=False) as client,
                client.stream(  # the answer's body is nobody's business
                    "POST",
                    target.copy_with(host=address),
                    content=body,
                    headers={**headers, "Host": target.netloc.decode()},
                    extensions={"sni_hostname": target.host, "trace": trace},
                ) as response,
            ):
                said = response.headers.get("retry-after", "")
                return Answer(response.status_code, retry_after(said))
        except httpx2.TimeoutException as error:
            raise Unreached("timeout") from error
        except (httpx2.HTTPError, OSError) as error:
            raise Unreached("timeout" if time.monotonic() >= until else "connection") from error

    def _resolve(self, target: httpx2.URL) -> str:
        try:
            found = socket.getaddrinfo(
                target.host, target.port or socket.getservbyname(target.scheme), type=socket.SOCK_STREAM
            )
        except (OSError, UnicodeError) as error:
            raise Unreached("unresolved") from error
        addresses = [str(entry[4][0]) for entry in found]
        allowed = self._is_own if target.scheme == "http" else self._may_be_called
        if not addresses or not all(map(allowed, addresses)):
            raise Unreached("refused")
        return addresses[0]

    def _may_be_called(self, address: str) -> bool:
        return is_public(address) or self._is_own(address)

    def _is_own(self, address: str) -> bool:
        return any(ip_address(address) in network for network in self.networks)


def _parse(url: str) -> httpx2.URL:
    try:
        target = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise Unreached("refused") from error
    may_be = target.scheme in {"https", "http"} and (target.port or 0) <= LAST_PORT
    if not may_be or not target.host or target.userinfo:
        raise Unreached("refused")
    return target


def retry_after(said: str) -> float | None:
    """Read a `Retry-After` header (RFC 9110, section 10.2.3: seconds, or a date) as seconds from now."""
    said = said.strip()
    if said.isdecimal():
        return float(said)
    try:
        at = parsedate_to_datetime(said)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max((at - clock.now()).total_seconds(), 0.0)


@contextmanager
def _clock(until: float) -> Iterator[Trace]:
    """Hang up when the time is over: httpx2's own timeouts are per read, and an answer may drip for days.

    It learns of the socket through httpx2's trace extension; TLS puts another in the place of the first.
    """
    sockets: list[socket.socket] = []

    def trace(event: str, seen: Mapping[str, Any]) -> None:
        if time.monotonic() >= until:
            raise Unreached("timeout")
        if event in _CONNECTED:
            sockets.append(seen["return_value"].get_extra_info("socket"))

    def hang_up() -> None:
        for one in sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(until - time.monotonic(), hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield trace
    finally:
        timer.cancel()
