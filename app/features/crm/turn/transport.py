"""Sends the requests of one connection to its CRM, counts them, and reads the JSON of the responses.

The address may be a customer's, so the rules for webhooks apply: https to public addresses, and the networks
that the operator allows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from urllib.parse import urlencode

from app.features.crm.vendors.errors import Unreachable
from app.features.crm.vendors.exchange import Request, Response
from workers.webhook_client import DeliveryError, WebhookClient

MAX_RESPONSE_BYTES = 2_000_000


@dataclass(slots=True)
class Transport:
    """The connection's address and the headers with its token; `calls` counts the requests sent so far."""

    client: WebhookClient
    base_url: str
    credentials: dict[str, str] = field(default_factory=dict, repr=False)
    calls: int = 0

    def send(self, request: Request) -> Response:
        """Send the request with the credentials, if there are any.

        Raises:
            Unreachable: there was no response, or the address is not allowed.

        """
        self.calls += 1
        content, headers = _encoded(request)
        query = f"?{urlencode(request.query)}" if request.query else ""
        url = f"{self.base_url.rstrip('/')}{request.path}{query}"
        try:
            response = self.client.send(
                request.method, url, content, headers | self.credentials, max_bytes=MAX_RESPONSE_BYTES
            )
        except DeliveryError as error:
            raise Unreachable(error.reason) from None
        return Response(response.status, _parsed(response.body), response.retry_after, response.headers)


def _encoded(request: Request) -> tuple[bytes, dict[str, str]]:
    headers = {"Accept": "application/json", **request.headers}
    if request.form is not None:
        return urlencode(request.form).encode(), headers | {
            "Content-Type": "application/x-www-form-urlencoded"
        }
    if request.body is not None:
        return json.dumps(dict(request.body)).encode(), headers | {"Content-Type": "application/json"}
    return b"", headers


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return None
