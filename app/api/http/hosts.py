"""Validation of the Host header."""

from __future__ import annotations

import re

from flask import request

from app.domain.errors import MalformedJson

_HOST = re.compile(r"(?:[A-Za-z0-9._~-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?", re.ASCII)


def require_host() -> None:
    """Reject a request whose Host header is missing or malformed (RFC 9112, 3.2).

    Raises:
        MalformedJson: the header is missing, or is not a host; HTTP/1.0 requests may omit it.

    """
    host = request.environ.get("HTTP_HOST")
    if host is None and request.environ.get("SERVER_PROTOCOL") == "HTTP/1.0":
        return
    if host is None or not _HOST.fullmatch(host):
        raise MalformedJson("The Host header is missing, or is not a host.")
