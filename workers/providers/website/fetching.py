"""Fetches one page of a site, bounded in time and size, from public addresses only.

A page is requested from one checked address of its host (`workers.webhook_client`), over https; redirects are
followed within the company's domain. What is too long is cut, not refused: people stand at the beginning.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network
from types import MappingProxyType
from typing import Literal, TypeAlias
from urllib.parse import urldefrag, urljoin, urlsplit

import httpcore2

from app.domain.errors import InvalidValue
from app.domain.normal.webhook_addresses import Network, WebhookTarget, parse_target
from app.domain.normal.websites import normal_website
from app.domain.version import VERSION
from workers.outgoing_http import retry_after, ssl_context
from workers.providers.website.markup import MAX_PAGE_BYTES
from workers.webhook_client import DeliveryError, PinnedBackend, rebuild_url, resolve

PRODUCT = "contact-lookup"
"""The product token in `robots.txt` (RFC 9309, 2.2.1)."""
MAX_RECEIVED_BYTES = MAX_PAGE_BYTES + 256 * 1024
"""Bytes of a response with its head, as they are sent."""
MAX_REDIRECTS = 5
MAX_URL_LENGTH = 2_000
CHUNK_BYTES = 64 * 1024
SECONDS_PER_PAGE = 5.0

_ANYWHERE = ip_network("0.0.0.0/0")
"""The gateway is the operator's own, wherever it is."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_LOCKED = frozenset({401, 402, 403, 407, 451})
_NOT_MODIFIED, _TOO_MANY, _UNAVAILABLE, _SERVER_ERROR = 304, 429, 503, 500

Reason: TypeAlias = Literal[
    "no_such_host", "not_public", "unreachable", "tarpit", "redirected_away", "too_many_redirects",
    "login_required", "rate_limited", "server_error", "not_found", "not_a_page", "robots_disallowed",
    "opted_out",
]  # fmt: skip
"""Why a page was not read, in one word for the trace."""
_BY_DELIVERY: Mapping[str, Reason] = {
    "refused": "not_public",
    "unresolved": "no_such_host",
    "connection": "unreachable",
    "timeout": "tarpit",
}


class FetchError(Exception):
    """The page was not read, for this reason; `retry_after` is what the site asks to wait, in seconds."""

    def __init__(self, reason: Reason, status: int | None = None, retry_after: float | None = None) -> None:
        self.reason: Reason = reason
        self.status = status
        self.retry_after = retry_after
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its final address, its headers by lower-case names, and its body, perhaps cut."""

    url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: bytes = field(default=b"", repr=False)

    @property
    def charset(self) -> str | None:
        """Return the encoding in the header."""
        _, _, charset = self.headers.get("content-type", "").lower().partition("charset=")
        return charset.partition(";")[0].strip(" \"'") or None

    @property
    def is_unchanged(self) -> bool:
        """Return whether the page is as it was when it was read before."""
        return self.status == _NOT_MODIFIED


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Sends requests to the sites of one company.

    `contact` is an address or a page of the operator for the sites' owners. Every request is sent to
    `gateway` instead, if it is set: a service of the operator that reads sites, or a test's on loopback.
    `networks` are allowed in addition to public addresses.
    """

    domain: str
    contact: str
    deadline: float
    networks: tuple[Network, ...] = ()
    gateway: str = ""

    def fetch(
        self,
        url: str,
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
        allows: Callable[[str], bool] = lambda _: True,
    ) -> Page:
        """Return the page at an address of the company's domain, after redirects within it.

        `allows` returns whether the rules of the host let robots read an address.

        Raises:
            FetchError: it was not read.

        """
        for _ in range(MAX_REDIRECTS + 1):
            if not allows(url):
                raise FetchError("robots_disallowed")
            page = self._request(url, headers)
            if page.status not in _REDIRECTS:
                return _checked(page)
            url = self._redirected(url, page.headers.get("location", ""))
        raise FetchError("too_many_redirects")

    def _redirected(self, url: str, location: str) -> str:
        try:
            target = urldefrag(urljoin(url, location)).url
            is_own = urlsplit(target).scheme in {"http", "https"} and normal_website(target) == self.domain
        except (ValueError, InvalidValue):
            is_own = False
        if not is_own or len(target) > MAX_URL_LENGTH:
            raise FetchError("redirected_away")
        return target

    def _request(self, url: str, headers: Mapping[str, str]) -> Page:
        deadline = min(self.deadline, time.monotonic() + SECONDS_PER_PAGE)
        if deadline <= time.monotonic():
            raise FetchError("tarpit")
        target, host = self._target(url)
        sent = {
            "Host": host,
            "User-Agent": f"{PRODUCT}/{VERSION} (+{self.contact})",
            "Accept-Encoding": "gzip, deflate",
            "Accept": "text/html, application/xhtml+xml, */*;q=0.1",
            **headers,
        }
        try:
            backend = PinnedBackend(self._address(target), deadline, MAX_RECEIVED_BYTES)
            with (
                httpcore2.ConnectionPool(ssl_context(), network_backend=backend) as pool,
                pool.stream("GET", rebuild_url(target), headers=list(sent.items())) as response,
            ):
                received = _received(response.headers)
                is_read = response.status not in _REDIRECTS and _is_text(received)
                chunks = _until_cut(response.iter_stream()) if is_read else ()
                body = b"".join(_decompressed(chunks, received.get("content-encoding", "")))
                return Page(url, response.status, received, body[:MAX_PAGE_BYTES])
        except DeliveryError as error:
            raise FetchError(_BY_DELIVERY[error.reason]) from error
        except httpcore2.TimeoutException as error:
            raise FetchError("tarpit") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, zlib.error) as error:
            raise FetchError("unreachable") from error

    def _target(self, url: str) -> tuple[WebhookTarget, str]:
        """Return where the request is sent, and the `Host` of the address."""
        try:
            secure = url if self.networks else "https://" + url.partition("://")[2]
            target = parse_target(secure, self.networks)
            if not self.gateway:
                return target, target.host
            sent_to = parse_target(self.gateway, (_ANYWHERE,))
        except InvalidValue as error:
            raise FetchError("not_public") from error
        return WebhookTarget(sent_to.scheme, sent_to.host, sent_to.port, target.target), target.host

    def _address(self, target: WebhookTarget) -> str:
        return target.host if self.gateway else resolve(target, self.networks)


def _received(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by their lower-case names; the values of one that is repeated are one list."""
    received: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        received[key] = f"{received[key]}, {text}" if key in received else text
    return received


def _checked(page: Page) -> Page:
    """Return the page if it is one.

    Raises:
        FetchError: it is an error, asks for a login, or is not text.

    """
    wait = retry_after(page.headers.get("retry-after", ""))
    if page.status in _LOCKED:
        raise FetchError("login_required", page.status)
    if page.status in {_TOO_MANY, _UNAVAILABLE}:
        raise FetchError("rate_limited", page.status, wait)
    if page.status >= _SERVER_ERROR:
        raise FetchError("server_error", page.status)
    if page.is_unchanged:
        return page
    if page.status != 200:  # noqa: PLR2004 -- OK
        raise FetchError("not_found", page.status)
    if not _is_text(page.headers):
        raise FetchError("not_a_page", page.status)
    return page


def _is_text(headers: Mapping[str, str]) -> bool:
    """Return whether the body is text by its type, or may be because it has none."""
    kind = headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind.endswith(("xml", "gzip")) or not kind


def _until_cut(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the body as it is sent, up to MAX_PAGE_BYTES."""
    received = 0
    for chunk in chunks:
        yield chunk
        received += len(chunk)
        if received >= MAX_PAGE_BYTES:
            return


def _decompressed(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the body without its compression, at most MAX_PAGE_BYTES and a chunk.

    Raises:
        zlib.error: the body is not compressed as its header says.

    """
    encoding = encoding.strip().lower()
    if encoding in {"", "identity"}:
        yield from chunks
        return
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise FetchError("not_a_page")
    inflater = None
    size = 0
    for chunk in chunks:
        if inflater is None:
            inflater = zlib.decompressobj(_window(encoding, chunk))
        rest = chunk
        while rest:
            piece = inflater.decompress(rest, CHUNK_BYTES)
            size += len(piece)
            yield piece
            if size >= MAX_PAGE_BYTES or inflater.eof:
                return
            rest = inflater.unconsumed_tail


def _window(encoding: str, start: bytes) -> int:
    """Return zlib's parameter: gzip, or deflate with the header of RFC 1950, which some servers leave out."""
    if encoding != "deflate":
        return 16 + zlib.MAX_WBITS
    has_header = start[:1] == b"\x78" and int.from_bytes(start[:2], "big") % 31 == 0
    return zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS
