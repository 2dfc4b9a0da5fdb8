"""Requests to an OpenID provider: one HTTP client, a time limit, and JSON objects only."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpcore2
import httpx2

SECONDS = 5.0
MAX_BYTES = 500_000
OK = 200
SERVER_ERROR = 500


class ProviderUnreachable(Exception):  # noqa: N818 -- named after what is wrong
    """The provider did not answer, or not with the expected JSON; it may work later."""


@dataclass(frozen=True, slots=True)
class JsonResponse:
    """A status, and the JSON object of the body."""

    status: int
    body: dict[str, Any]


class JsonClient:
    """An HTTP client for the endpoints that the operator's provider names; it follows no redirects."""

    def __init__(self) -> None:
        self._http = httpx2.Client(
            timeout=SECONDS,
            follow_redirects=False,
            verify=httpcore2.default_ssl_context(),
            limits=httpx2.Limits(max_keepalive_connections=0),  # sign-ins are rare
        )

    def get(self, url: str, *, token: str | None = None) -> JsonResponse:
        """Return the response to a GET, with an access token if there is one.

        Raises:
            ProviderUnreachable: there is none, or it has no JSON object.

        """
        return self._send("GET", url, headers={"Authorization": f"Bearer {token}"} if token else {})

    def post(self, url: str, form: Mapping[str, str], headers: Mapping[str, str]) -> JsonResponse:
        """Return the response to a form.

        Raises:
            ProviderUnreachable: there is none, or it has no JSON object.

        """
        return self._send("POST", url, data=form, headers=headers)

    def _send(self, method: str, url: str, *, headers: Mapping[str, str], **options: Any) -> JsonResponse:
        try:
            with self._http.stream(
                method, url, headers={"Accept": "application/json", **headers}, **options
            ) as response:
                content = _read(response, time.monotonic() + SECONDS)
                body = httpx2.Response(response.status_code, content=content).json()
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as error:
            raise ProviderUnreachable(type(error).__name__) from None  # its text may quote the request
        if not isinstance(body, dict):
            raise ProviderUnreachable("not a JSON object")
        return JsonResponse(response.status_code, body)


def _read(response: httpx2.Response, deadline: float) -> bytes:
    content = bytearray()
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > MAX_BYTES or time.monotonic() > deadline:
            raise ProviderUnreachable("too long")
    return bytes(content)
