"""The one door out to addresses that customers name: https, public, and nowhere else.

An operator may open it to networks of their own (`WEBHOOK_NETWORKS`), where plain http will do.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar

import httpcore2

from app.domain.errors import InvalidValue
from app.domain.normal.webhook_addresses import (
    WEB_PORTS,
    Network,
    WebhookTarget,
    is_public,
    is_within,
    parse_target,
)
from app.infra import clock

TIMEOUT_SECONDS = 15.0
"""For the whole exchange. Standard Webhooks, "Request timeouts": somewhere between 15 and 30."""

RESOLVE_SECONDS = 5.0
"""A customer's name servers may take as long as they like over an answer."""
MAX_RESPONSE_BYTES = 64 * 1024
"""Of an answer's head, also of all the interim ones that may come before it."""

USER_AGENT = "contact-lookup"

T = TypeVar("T")
Reason: TypeAlias = Literal["refused", "unresolved", "connection", "timeout"]


class DeliveryError(Exception):
    """Nobody answered; `reason` says why.

    `refused`: the address may not be called; `unresolved`: its name leads nowhere.
    """

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """What the receiver said: a status, and in how many seconds it wants to be asked again."""

    status: int
    retry_after: float | None


@dataclass(frozen=True, slots=True)
class WebhookClient:
    """Posts to a URL. Its name is resolved once, every answer must be allowed, and that answer is called.

    So a name that points elsewhere a moment later leads nowhere, and a redirect is an answer like others.
    `networks` are those that may be called beside the public internet.
    """

    networks: tuple[Network, ...] = ()

    def post(self, url: str, body: bytes, headers: dict[str, str]) -> WebhookResponse:
        """Post, and give the answer.

        Raises:
            Unreached: the URL may not be called, or it could not be, in time.

        """
        until = time.monotonic() + TIMEOUT_SECONDS
        try:
            where = parse_target(url, self.networks)
        except InvalidValue as error:
            raise DeliveryError("refused") from error
        way = _PinnedBackend(self._resolve(where), until)
        try:
            with (
                httpcore2.ConnectionPool(ssl_context(), network_backend=way) as pool,
                pool.stream(
                    "POST",
                    _rebuild_url(where),
                    content=body,
                    headers=[("User-Agent", USER_AGENT), *headers.items()],
                ) as response,
            ):  # the answer's body is nobody's business
                said = {name.lower(): value for name, value in response.headers}.get(b"retry-after", b"")
                return WebhookResponse(response.status, retry_after(said.decode("latin-1")))
        except httpcore2.TimeoutException as error:
            raise DeliveryError("timeout") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise DeliveryError("connection") from error

    def _resolve(self, where: WebhookTarget) -> str:
        try:
            found = run_with_timeout(
                RESOLVE_SECONDS,
                lambda: socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM),
            )
        except TimeoutError as error:
            raise DeliveryError("timeout") from error
        except (OSError, UnicodeError) as error:
            raise DeliveryError("unresolved") from error
        addresses = [str(entry[4][0]) for entry in found]
        allowed = self._is_own if where.scheme == "http" else self._may_be_called
        if not addresses or not all(map(allowed, addresses)):
            raise DeliveryError("refused")
        return addresses[0]

    def _may_be_called(self, address: str) -> bool:
        return is_public(address) or self._is_own(address)

    def _is_own(self, address: str) -> bool:
        return is_within(address, self.networks)


@cache
def ssl_context() -> ssl.SSLContext:
    """Load the certificates to trust once for everybody; it takes its time."""
    return httpcore2.default_ssl_context()


def run_with_timeout(seconds: float, do: Callable[[], T]) -> T:
    """Do it in a thread of its own, left behind when the time is over.

    For what knows no clock, or only one for every piece of it.

    Raises:
        TimeoutError: it took longer.

    """
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(do())
        except Exception as error:  # noqa: BLE001 -- it is raised where the result is waited for
            result.set_exception(error)

    threading.Thread(target=run, name="outside", daemon=True).start()
    return result.result(seconds)


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


def _rebuild_url(where: WebhookTarget) -> httpcore2.URL:
    """Write the URL out of its pieces, so that nobody reads it once more and sees another host in it."""
    return httpcore2.URL(
        scheme=where.scheme.encode(),
        host=where.host.encode(),
        port=None if where.port == WEB_PORTS[where.scheme] else where.port,
        target=where.target.encode(),
    )


class _PinnedBackend(httpcore2.NetworkBackend):
    """Leads to one address, whatever the host is called, until the monotonic clock says that it is over."""

    def __init__(self, address: str, until: float) -> None:
        self._address = address
        self._until = until

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 -- it has been resolved
        port: int,
        timeout: float | None = None,  # noqa: ARG002 -- all of it is on one clock
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the address instead of resolving the name once more."""
        left = _remaining(self._until)
        return _DeadlineStream(
            httpcore2.SyncBackend().connect_tcp(self._address, port, left, local_address, socket_options),
            self._until,
        )


class _DeadlineStream(httpcore2.NetworkStream):
    """A connection on that clock, and for so many bytes: an answer may drip for days, or never end."""

    def __init__(self, stream: httpcore2.NetworkStream, until: float) -> None:
        self._stream = stream
        self._until = until
        self._bytes_left = MAX_RESPONSE_BYTES

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 -- the clock's
        """Read some."""
        if self._bytes_left <= 0:
            raise httpcore2.ReadError
        found = self._stream.read(min(max_bytes, self._bytes_left), _remaining(self._until))
        self._bytes_left -= len(found)
        return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 -- the clock's
        """Write all of it."""
        self._stream.write(buffer, _remaining(self._until))

    def close(self) -> None:
        """Hang up."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002 -- the clock's
    ) -> httpcore2.NetworkStream:
        """Encrypt it, with whoever proves to be that host."""
        return _DeadlineStream(
            self._stream.start_tls(ssl_context, server_hostname, _remaining(self._until)), self._until
        )

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 -- httpcore2's
        """Tell what the connection knows of itself."""
        return self._stream.get_extra_info(info)


def _remaining(until: float) -> float:
    """Give the seconds that are left.

    Raises:
        ReadTimeout: none are.

    """
    left = until - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout
    return left
