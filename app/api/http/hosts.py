"""The Host header: a request has one, and it reads like a host."""

from __future__ import annotations

import re

from flask import request

from app.domain.errors import MalformedJson

_HOST = re.compile(r"(?:[A-Za-z0-9._~-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?", re.ASCII)


def require_host() -> None:
    """Refuse a request without a host, or with one that is none (RFC 9112, 3.2).

    Raises:
        MalformedJson: so it is.

    """
    sent = request.environ.get("HTTP_HOST")
    if sent is None and request.environ.get("SERVER_PROTOCOL") == "HTTP/1.0":
        return
    if sent is None or not _HOST.fullmatch(sent):
        raise MalformedJson("The Host header is missing, or it is not a host.")
