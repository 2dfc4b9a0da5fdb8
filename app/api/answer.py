"""Answers: JSON out, and for queued questions: submit, wait, 200 or 202."""

from __future__ import annotations

from typing import Any

from flask import Response, current_app, json


def reply(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer with a JSON object; a view returns this so that nothing is dumped twice."""
    return current_app.response_class(
        json.dumps(body), status=status, headers=headers, mimetype="application/json"
    )
