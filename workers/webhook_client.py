"""An HTTP client for URLs given by customers: https to public addresses only.

An operator can allow further networks (`WEBHOOK_NETWORKS`), for which plain http is accepted.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

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
from workers.outgoing_http import retry_after, run_with_timeout, ssl_context

TIMEOUT_SECONDS = 15.0
"""Total time of a delivery; Standard Webhooks, "Request timeouts", recommends 15 to 30 seconds."""

RESOLVE_SECONDS = 5.0
"""Total time of the name resolution, which a customer's name servers could delay without a limit."""
MAX_RESPONSE_BYTES = 64 * 1024
"""Limit for the head of a response, including all interim responses before it; a body that is read comes on
top of it."""

USER_AGENT = "contact-lookup"

Reason: TypeAlias = Literal["refused", "unresolved", "connection", "timeout"]


class DeliveryError(Exception):
    """The delivery failed without a response; `reason` is the cause.

    `refused`: the address is not allowed; `unresolved`: the host name does not resolve.
    """

    def __init__(self, reason: Reason) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """The receiver's response: its status, the `Retry-After` delay in seconds, and its body if it is read.

    The names of `headers` are lower-case.
    """

    status: int
    retry_after: float | None
    body: bytes = field(default=b"", repr=False)
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)


@dataclass(frozen=True, slots=True)
class WebhookClient:
    """Sends requests to a URL. The host name is resolved once, and the checked address is connected to.

    This prevents DNS rebinding. All addresses of the name must be allowed, and redirects are not followed.
    `networks` are allowed in addition to public addresses.
    """

    networks: tuple[Network, ...] = ()

    def post(self, url: str, body: bytes, headers: dict[str, str]) -> WebhookResponse:
        """Post the body and return the response, whose body is not read.

        Raises:
            DeliveryError: the URL is not allowed, or there was no response in time.

        """
        return self.send("POST", url, body, headers, max_bytes=None)

    def send(
        self, method: str, url: str, body: bytes, headers: dict[str, str], *, max_bytes: int | None
    ) -> WebhookResponse:
        """Send the request; with `max_bytes`, read the body of the response, which may not be longer.

        Raises:
            DeliveryError: the URL is not allowed, or there was no response in time.

        """
        deadline = time.monotonic() + TIMEOUT_SECONDS
        try:
            target = parse_target(url, self.networks)
        except InvalidValue as error:
            raise DeliveryError("refused") from error
        backend = PinnedBackend(
            resolve(target, self.networks), deadline, MAX_RESPONSE_BYTES + (max_bytes or 0)
        )
        try:
            with (
                httpcore2.ConnectionPool(ssl_context(), network_backend=backend) as pool,
                pool.stream(
                    method,
                    rebuild_url(target),
                    content=body,
                    headers=[("User-Agent", USER_AGENT), *headers.items()],
                ) as response,
            ):
                received = {
                    name.decode("latin-1").lower(): value.decode("latin-1")
                    for name, value in response.headers
                }
                content = b"" if max_bytes is None else response.read()
                delay = retry_after(received.get("retry-after", ""))
                return WebhookResponse(response.status, delay, content, received)
        except httpcore2.TimeoutException as error:
            raise DeliveryError("timeout") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise DeliveryError("connection") from error


def resolve(target: WebhookTarget, networks: tuple[Network, ...] = ()) -> str:
    """Return an address of the target's host, all of whose addresses are allowed.

    Raises:
        DeliveryError: an address is not allowed, or the name does not resolve.

    """
    try:
        entries = run_with_timeout(
            RESOLVE_SECONDS,
            lambda: socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM),
        )
    except TimeoutError as error:
        raise DeliveryError("timeout") from error
    except (OSError, UnicodeError) as error:
        raise DeliveryError("unresolved") from error
    addresses = [str(entry[4][0]) for entry in entries]
    is_plain = target.scheme == "http"
    if not addresses or not all(
        is_within(address, networks) or (not is_plain and is_public(address)) for address in addresses
    ):
        raise DeliveryError("refused")
    return addresses[0]


def rebuild_url(target: WebhookTarget) -> httpcore2.URL:
    """Build the URL from its parsed parts, so that no second parser finds another host in it."""
    return httpcore2.URL(
        scheme=target.scheme.encode(),
        host=target.host.encode(),
        port=None if target.port == WEB_PORTS[target.scheme] else target.port,
        target=target.target.encode(),
    )


class PinnedBackend(httpcore2.NetworkBackend):
    """A network backend that connects to one address, with a deadline and a limit on the bytes read."""

    def __init__(self, address: str, deadline: float, max_bytes: int) -> None:
        self._address = address
        self._deadline = deadline
        self._max_bytes = max_bytes

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 -- resolved before
        port: int,
        timeout: float | None = None,  # noqa: ARG002 -- the deadline applies
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the checked address instead of resolving the name again."""
        seconds = _remaining(self._deadline)
        return _DeadlineStream(
            httpcore2.SyncBackend().connect_tcp(self._address, port, seconds, local_address, socket_options),
            self._deadline,
            self._max_bytes,
        )


class _DeadlineStream(httpcore2.NetworkStream):
    """A connection with a deadline for all operations and a limit on the bytes read."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: float, max_bytes: int) -> None:
        self._stream = stream
        self._deadline = deadline
        self._bytes_remaining = max_bytes

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 -- the deadline applies
        """Read up to `max_bytes`."""
        if self._bytes_remaining <= 0:
            raise httpcore2.ReadError
        content = self._stream.read(min(max_bytes, self._bytes_remaining), _remaining(self._deadline))
        self._bytes_remaining -= len(content)
        return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 -- the deadline applies
        """Write the buffer."""
        self._stream.write(buffer, _remaining(self._deadline))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002 -- the deadline applies
    ) -> httpcore2.NetworkStream:
        """Start TLS with the verified host."""
        return _DeadlineStream(
            self._stream.start_tls(ssl_context, server_hostname, _remaining(self._deadline)),
            self._deadline,
            self._bytes_remaining,
        )

    def get_extra_info(self, info: str) -> object:
        """Return information about the connection."""
        return self._stream.get_extra_info(info)


def _remaining(deadline: float) -> float:
    """Return the seconds until the deadline; raise ReadTimeout if it has passed."""
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise httpcore2.ReadTimeout
    return remaining
