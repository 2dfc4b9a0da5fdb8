"""Base class of providers that are web APIs: one HTTP client, one deadline per call, common status codes."""

from __future__ import annotations

import json
import re
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import httpx2

from app.domain.kinds import TraceOutcome
from app.settings import ProviderSettings
from workers.outgoing_http import retry_after, run_with_timeout, ssl_context
from workers.providers.base import (
    CredentialCheck,
    Pending,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    Terms,
    UnexpectedResponse,
)

MAX_RESPONSE_BYTES = 2_000_000
CONNECT_SECONDS = 3.0
MAX_RETRY_AFTER_SECONDS = 86_400.0
_BY_STATUS = {
    401: TraceOutcome.UNCONFIGURED,
    402: TraceOutcome.NO_CREDITS,
    429: TraceOutcome.RATE_LIMITED,
    451: TraceOutcome.SUPPRESSED,
}
_CREDENTIAL_STATUSES = frozenset({401, 429})
"""Statuses that may come as plain text or from a gateway; for all others the body must be JSON."""
_NO_PROXY: Mapping[str, httpx2.BaseTransport | None] = {"http://": None}
"""No proxy for plain http, which would see keys and personal data; `HTTPS_PROXY` sees only host names."""
_CLIMBS = re.compile(r"(?:^|/)\.{1,2}(?:/|$)")
"""Path segments `.` and `..`, which the client resolves; poll tokens from vendors become part of a path."""
_OK = range(200, 300)
_NOT_FOUND = 404
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class VendorResponse:
    """A vendor's HTTP response; `body` is its JSON object, `items` its JSON list, None if it is not one."""

    status: int
    headers: Mapping[str, str]
    body: dict[str, Any] | None
    items: list[Any] | None = None

    @property
    def is_ok(self) -> bool:
        """Return whether the status is 2xx."""
        return self.status in _OK

    @property
    def object(self) -> dict[str, Any]:
        """Return the JSON object.

        Raises:
            UnexpectedResponse: the body is not a JSON object.

        """
        if self.body is None:
            raise UnexpectedResponse
        return self.body

    @property
    def retry_after(self) -> float | None:
        """Return the `Retry-After` header in seconds; None without one."""
        seconds = retry_after(self.headers.get("retry-after", ""))
        return None if seconds is None else min(seconds, MAX_RETRY_AFTER_SECONDS)


class Vendor:
    """A provider behind a web API with a key: `<NAME>_API_KEY` and `<NAME>_BASE_URL`.

    A subclass defines its name, base URL, fields and default terms, how the key is sent (`credentials`),
    which requests have enough identifiers (`supports`), and how they are sent (`call`).
    """

    name: ClassVar[str]
    base_url: ClassVar[str]
    fields: ClassVar[frozenset[ProviderField]]
    guesses: ClassVar[bool] = False
    takes_member_ids: ClassVar[bool] = False
    default_terms: ClassVar[Terms]
    needs_key: ClassVar[bool] = True

    def __init__(self, access: ProviderSettings) -> None:
        self._key = access.api_key.strip()
        self._url = (access.base_url or self.base_url).rstrip("/")
        self.terms = self._terms(access)

    @cached_property
    def _client(self) -> httpx2.Client:
        """The HTTP client, created at the first call, because loading the certificates is slow."""
        client = httpx2.Client(follow_redirects=False, verify=ssl_context(), mounts=_NO_PROXY)
        weakref.finalize(self, client.close)
        return client

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        """Return why the request is not possible: no key, or too few identifiers."""
        if self.needs_key and not self._key:
            return TraceOutcome.UNCONFIGURED
        return None if self.supports(request) else TraceOutcome.INELIGIBLE

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether the request has enough identifiers for this vendor."""
        raise NotImplementedError

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Call the vendor and parse its response."""
        raise NotImplementedError

    def credentials(self, key: str) -> dict[str, str]:
        """Return the headers that carry the key; it is never sent in the URL, which ends up in logs."""
        raise NotImplementedError

    def send(
        self,
        method: str,
        path: str,
        *,
        seconds: float,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> VendorResponse:
        """Send one request and read the whole response within this many seconds.

        Raises:
            ProviderTimeout: the response was not complete in time.
            UnexpectedResponse: the connection failed, or the response is too large.

        """
        if seconds <= 0:
            raise ProviderTimeout
        if _CLIMBS.search(path):
            raise UnexpectedResponse("path")
        deadline = time.monotonic() + seconds

        def exchange() -> VendorResponse:
            with self._client.stream(
                method,
                self._url + path,
                params={name: value for name, value in (params or {}).items() if value is not None},
                json=None if body is None else {k: v for k, v in body.items() if v is not None},
                headers={"Accept": "application/json", **self.credentials(self._key)},
                timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            ) as response:
                content = _parsed(_read(response, deadline))
                return VendorResponse(
                    response.status_code,
                    response.headers,
                    body=content if isinstance(content, dict) else None,
                    items=content if isinstance(content, list) else None,
                )

        return _within(seconds, exchange)

    def default_response(self, response: VendorResponse) -> ProviderResponse:
        """Map a status to its common outcome; a body that is not JSON is an error, except for 401 and 429."""
        if response.body is None and response.status not in _CREDENTIAL_STATUSES:
            return ProviderResponse(outcome=TraceOutcome.ERROR, retry_after=response.retry_after)
        if response.status == _NOT_FOUND:
            return ProviderResponse(outcome=TraceOutcome.MISS)
        outcome = _BY_STATUS.get(response.status, TraceOutcome.ERROR)
        return ProviderResponse(outcome=outcome, retry_after=response.retry_after)

    def retry_poll(self, poll_token: str, response: VendorResponse, seconds: float) -> Pending:
        """Return a `Pending` after a poll that was refused or failed; its outcome goes to the throttle."""
        is_limited = response.status == _TOO_MANY
        outcome = TraceOutcome.RATE_LIMITED if is_limited else TraceOutcome.ERROR
        return Pending(poll_token, response.retry_after or seconds, outcome)

    def checked(self, response: VendorResponse, remaining: Mapping[str, float]) -> CredentialCheck:
        """Return the credential check that follows from the response to a free call."""
        if response.is_ok and response.body is not None:
            return CredentialCheck(outcome=TraceOutcome.HIT, remaining=remaining)
        return self.refused_check(self.default_response(response))

    def refused_check(self, reply: ProviderResponse) -> CredentialCheck:
        """Return the credential check after a refused call; an outcome about a person means an error here."""
        of_person = {TraceOutcome.MISS, TraceOutcome.INELIGIBLE}
        return CredentialCheck(outcome=TraceOutcome.ERROR if reply.outcome in of_person else reply.outcome)

    def _terms(self, access: ProviderSettings) -> Terms:
        defaults = self.default_terms
        return replace(
            defaults,
            rates=defaults.rates if access.rates is None else access.rates,
            credit_price=defaults.credit_price if access.credit_price is None else access.credit_price,
            daily_budget=defaults.daily_budget if access.daily_budget is None else access.daily_budget,
            miss_days=defaults.miss_days if access.miss_days is None else access.miss_days,
        )


def _within(seconds: float, exchange: Callable[[], VendorResponse]) -> VendorResponse:
    """Limit the total time of an exchange.

    The HTTP client's timeouts apply to single reads: slow name resolution, or headers that arrive byte by
    byte, would not be limited.
    """
    try:
        return run_with_timeout(seconds, exchange)
    except (TimeoutError, httpx2.TimeoutException):
        raise ProviderTimeout from None
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise UnexpectedResponse(type(error).__name__) from None  # its text may quote the URL or the key


def _read(response: httpx2.Response, deadline: float) -> bytes:
    content = bytearray()
    for chunk in response.iter_bytes():
        content += chunk
        if time.monotonic() > deadline:
            raise ProviderTimeout
        if len(content) > MAX_RESPONSE_BYTES:
            raise UnexpectedResponse("too long")
    return bytes(content)


def _parsed(content: bytes) -> object:
    """Parse JSON; return None for anything else."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
