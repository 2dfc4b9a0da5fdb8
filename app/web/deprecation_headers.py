"""Announces deprecated operations in the headers of their responses (RFC 9745, RFC 8594)."""

from __future__ import annotations

from apiflask import APIFlask
from flask import Response, current_app, request

from app.web.operations import operation_of


def register(app: APIFlask) -> None:
    """Add the headers to the responses of deprecated operations."""
    app.after_request(_announce)


def _announce(response: Response) -> Response:
    view = current_app.view_functions.get(request.endpoint or "")
    deprecation = operation_of(view).deprecation if view else None
    if deprecation:
        for name, value in deprecation.headers.items():
            response.headers.add(name, value)
    return response
