"""Providers that are web services: one way to send, one clock over the exchange, one reading of statuses."""

from __future__ import annotations

import json
import re
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import httpx2

from app.domain.kinds import TraceOutcome
from app.settings import ProviderSettings
from workers.providers.base import (
    CredentialCheck,
    Pending,
    ProviderField,
    ProviderRequest,
    ProviderResponse,
    ProviderTimeout,
    Terms,
    UnexpectedAnswer,
)
from workers.webhook_client import retry_after, run_with_timeout, ssl_context

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
"""What also comes as plain text, or from a gateway before the vendor; the others need the vendor's JSON."""
_NO_PROXY: Mapping[str, httpx2.BaseTransport | None] = {"http://": None}
"""`HTTPS_PROXY` is obeyed, as a proxy of TLS sees a host's name; plain http would show it keys and people."""
_CLIMBS = re.compile(r"(?:^|/)\.{1,2}(?:/|$)")
"""A ticket that a vendor gave is put into a path; the client would take `..` for the folder above."""
_OK = range(200, 300)
_NOT_FOUND = 404
_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class VendorResponse:
    """What the vendor sent: `body` is its JSON object, `items` its JSON list; None if it is none."""

    status: int
    headers: Mapping[str, str]
    body: dict[str, Any] | None
    items: list[Any] | None = None

    @property
    def is_ok(self) -> bool:
        """Tell whether the status is one of success."""
        return self.status in _OK

    @property
    def object(self) -> dict[str, Any]:
        """Give the JSON object.

        Raises:
            UnexpectedAnswer: it is none.

        """
        if self.body is None:
            raise UnexpectedAnswer
        return self.body

    @property
    def retry_after(self) -> float | None:
        """Give the seconds of `Retry-After`; None if there is none."""
        seconds = retry_after(self.headers.get("retry-after", ""))
        return None if seconds is None else min(seconds, MAX_RETRY_AFTER_SECONDS)


class Vendor:
    """A provider behind a web API with a key: `<NAME>_API_KEY` and `<NAME>_BASE_URL`.

    A subclass says its name, address, fields and usual terms, how the key travels (`credentials`), whether a
    question has enough to go by (`takes`), and how it is asked (`ask`).
    """

    name: ClassVar[str]
    base_url: ClassVar[str]
    fields: ClassVar[frozenset[ProviderField]]
    guesses: ClassVar[bool] = False
    usual_terms: ClassVar[Terms]
    needs_key: ClassVar[bool] = True

    def __init__(self, access: ProviderSettings) -> None:
        self._key = access.api_key.strip()
        self._url = (access.base_url or self.base_url).rstrip("/")
        self.terms = self._terms(access)
        self._client = httpx2.Client(follow_redirects=False, verify=ssl_context(), mounts=_NO_PROXY)
        weakref.finalize(self, self._client.close)

    def unavailability(self, ask: ProviderRequest) -> TraceOutcome | None:
        """Tell why this cannot be asked: no key, or too little to go by."""
        if self.needs_key and not self._key:
            return TraceOutcome.UNCONFIGURED
        return None if self.supports(ask) else TraceOutcome.INELIGIBLE

    def supports(self, ask: ProviderRequest) -> bool:
        """Tell whether the question has enough for this vendor to go by."""
        raise NotImplementedError

    def ask(self, ask: ProviderRequest, *, seconds: float) -> ProviderResponse | Pending:
        """Ask the vendor, and read its answer."""
        raise NotImplementedError

    def credentials(self, key: str) -> dict[str, str]:
        """Give the headers that carry the key; never the URL, which ends up in logs."""
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
        """Send one request and read the whole answer within so many seconds, however slowly it drips.

        Raises:
            ProviderTimeout: it took longer.
            UnexpectedAnswer: nobody answers there, or too much comes.

        """
        if seconds <= 0:
            raise ProviderTimeout
        if _CLIMBS.search(path):
            raise UnexpectedAnswer("path")
        until = time.monotonic() + seconds

        def exchange() -> VendorResponse:
            with self._client.stream(
                method,
                self._url + path,
                params={name: value for name, value in (params or {}).items() if value is not None},
                json=None if body is None else {k: v for k, v in body.items() if v is not None},
                headers={"Accept": "application/json", **self.credentials(self._key)},
                timeout=httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            ) as response:
                found = _parsed(_read(response, until))
                return VendorResponse(
                    response.status_code,
                    response.headers,
                    body=found if isinstance(found, dict) else None,
                    items=found if isinstance(found, list) else None,
                )

        return _within(seconds, exchange)

    def default_response(self, answer: VendorResponse) -> ProviderResponse:
        """Read what most statuses mean; a page instead of JSON is an error, but for 401 and 429."""
        if answer.body is None and answer.status not in _CREDENTIAL_STATUSES:
            return ProviderResponse(outcome=TraceOutcome.ERROR, retry_after=answer.retry_after)
        if answer.status == _NOT_FOUND:
            return ProviderResponse(outcome=TraceOutcome.MISS)
        outcome = _BY_STATUS.get(answer.status, TraceOutcome.ERROR)
        return ProviderResponse(outcome=outcome, retry_after=answer.retry_after)

    def retry_poll(self, ticket: str, answer: VendorResponse, seconds: float) -> Pending:
        """Ask again with the ticket, after a poll that was refused or failed; its gate gets to know."""
        too_often = answer.status == _TOO_MANY
        outcome = TraceOutcome.RATE_LIMITED if too_often else TraceOutcome.ERROR
        return Pending(ticket, answer.retry_after or seconds, outcome)

    def checked(self, answer: VendorResponse, left: Mapping[str, float]) -> CredentialCheck:
        """Say what the answer of a free call tells about the key."""
        if answer.is_ok and answer.body is not None:
            return CredentialCheck(outcome=TraceOutcome.HIT, left=left)
        outcome = self.default_response(answer).outcome
        return CredentialCheck(outcome=TraceOutcome.ERROR if outcome is TraceOutcome.MISS else outcome)

    def _terms(self, access: ProviderSettings) -> Terms:
        usual = self.usual_terms
        return replace(
            usual,
            rates=usual.rates if access.rates is None else access.rates,
            credit_price=usual.credit_price if access.credit_price is None else access.credit_price,
            daily_budget=usual.daily_budget if access.daily_budget is None else access.daily_budget,
            miss_days=usual.miss_days if access.miss_days is None else access.miss_days,
        )


def _within(seconds: float, exchange: Callable[[], VendorResponse]) -> VendorResponse:
    """Do it on one clock: a client's own time-outs are of single reads.

    Names that resolve slowly, and headers that come byte by byte, would take as long as they like.
    """
    try:
        return run_with_timeout(seconds, exchange)
    except (TimeoutError, httpx2.TimeoutException):
        raise ProviderTimeout from None
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        raise UnexpectedAnswer(type(error).__name__) from None  # its text may quote the URL or the key


def _read(response: httpx2.Response, until: float) -> bytes:
    content = bytearray()
    for chunk in response.iter_bytes():
        content += chunk
        if time.monotonic() > until:
            raise ProviderTimeout
        if len(content) > MAX_RESPONSE_BYTES:
            raise UnexpectedAnswer("too long")
    return bytes(content)


def _parsed(content: bytes) -> Any:  # noqa: ANN401 -- JSON
    """Read JSON; None of anything else."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
