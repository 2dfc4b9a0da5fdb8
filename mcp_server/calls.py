"""Who makes a tool call, and the idempotency key that makes it safe to repeat."""

from __future__ import annotations

import hmac
import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from mcp_server.api import Api
from mcp_server.settings import Settings

REPEAT_SECONDS = 600
"""Over HTTP, call ids restart with each connection: the same id after some minutes is another call."""
BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one server: with the key of the settings, or with the key of each request."""

    settings: Settings
    process: str = field(default_factory=secrets.token_hex)

    def api(self, context: Context) -> Api:
        """Return the API for the caller."""
        return Api(self.settings.base_url, self.settings.key or bearer_token(context))

    def idempotency_key(self, context: Context, path: str, body: dict[str, Any]) -> str:
        """Return the key of this call: the same if the client sends the call again, and for no other call.

        It is derived from the call id of the client. Over stdio, ids are unique in this process. Over HTTP
        they are unique in a connection only, so caller, time and content are part of the key.
        """
        over_stdio = self.settings.key is not None
        scope = self.process if over_stdio else str(int(time.time()) // REPEAT_SECONDS)
        message = json.dumps([scope, context.request_id, path, body], sort_keys=True)
        token = self.api(context).token
        return f"mcp-{hmac.new(token.encode(), message.encode(), 'sha256').hexdigest()}"


def bearer_token(context: Context) -> str:
    """Return the bearer token of the HTTP request that carries the call."""
    header = (context.headers or {}).get("authorization", "")
    if not header.lower().startswith(BEARER):
        raise ToolError("Send an API key of the service as Authorization: Bearer key_….")
    return header[len(BEARER) :].strip()
