"""JSON responses."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app, json


def json_response(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a response with a JSON object; APIFlask would serialize a dictionary a second time."""
    return current_app.response_class(
        json.dumps(body), status=status, headers=headers, mimetype="application/json"
    )
