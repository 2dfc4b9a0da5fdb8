"""The error responses in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from app.domain import errors, purposes
from app.domain.credit_schedules import NextGrant
from app.domain.errors import FieldError, Problem, all_problems
from app.domain.ids import EXAMPLES
from app.domain.spending import LimitUsage, Period

COMMON = (
    errors.MalformedJson,
    errors.RequestTimeout,
    errors.PayloadTooLarge,  # also of the URL and the headers
    errors.InternalError,
    errors.Unavailable,
)
WITH_BODY = (
    errors.UnsupportedMediaType,
    errors.ValidationFailed,
)
WITH_TOKEN = (
    errors.MissingToken,
    errors.InvalidToken,
    errors.TokenExpired,
    errors.TokenRevoked,
    errors.InsufficientScope,
    errors.RateLimited,
    errors.TooManyAttempts,
)

LIMIT = LimitUsage(
    subject="key",
    subject_id=EXAMPLES["key"],
    period=Period.MONTH,
    credits=100,
    held=0,
    spent=100,
    resets_at=datetime(2026, 12, 1, tzinfo=UTC),
)
"""The limit in the example."""

PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "required": ["type", "title", "status", "detail", "code", "request_id", "retryable"],
    "properties": {
        "type": {"type": "string", "examples": ["/problems/validation_error"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "request_id": {"type": ["string", "null"]},
        "retryable": {"type": "boolean"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "detail"],
                "properties": {"pointer": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
        "retry_after": {"type": "integer", "description": "Seconds."},
        "required": {"type": "integer", "description": "Credits that the request costs."},
        "balance": {"type": "integer", "description": "Credits that the workspace has."},
        "next_grant": {
            "type": "object",
            "description": "The credits that are granted to the workspace next, and when.",
            "required": ["at", "credits"],
            "properties": {
                "at": {"type": "string", "format": "date-time"},
                "credits": {"type": "integer"},
            },
        },
        "limit": {"type": "object", "description": "The spending limit that is reached, and its use."},
        "purposes": {
            "type": "array",
            "items": {"type": "string"},
            "description": "The purposes that can be stated.",
        },
    },
}


def responses(kinds: Collection[type[Problem]]) -> dict[str, dict[str, Any]]:
    """Return the responses for these errors, by status."""
    by_status: dict[int, list[type[Problem]]] = {}
    for kind in all_problems().values():
        if kind in kinds:
            by_status.setdefault(kind.status, []).append(kind)
    return {str(status): _response(status, problems) for status, problems in by_status.items()}


def _response(status: int, kinds: list[type[Problem]]) -> dict[str, Any]:
    """Return the OpenAPI response of a status: a problem with one of these codes."""
    properties = {"status": {"const": status}, "code": {"enum": [kind.code for kind in kinds]}}
    return {
        "description": "; ".join(f"`{kind.code}`: {kind.title}" for kind in kinds),
        "content": {
            "application/problem+json": {
                "schema": {"allOf": [{"$ref": "#/components/schemas/Problem"}, {"properties": properties}]},
                "examples": {kind.code: {"value": _example(kind)} for kind in kinds},
            }
        },
    }


def _example(kind: type[Problem]) -> dict[str, Any]:
    problem: Problem
    if kind is errors.ValidationFailed:
        problem = errors.ValidationFailed(errors=(FieldError("/limit", "Not a valid integer."),))
    elif kind is errors.SpendingLimitReached:
        problem = errors.SpendingLimitReached(required=1, balance=249, usage=LIMIT)
    elif kind is errors.InsufficientCredits:
        problem = errors.InsufficientCredits(1, 0, NextGrant(datetime(2026, 12, 1, tzinfo=UTC), 500))
    elif kind is errors.PurposeRequired:
        problem = errors.PurposeRequired(purposes.DEFAULT)
    else:
        problem = kind(retry_after=30 if issubclass(kind, errors.TooMany) else None)
    return problem.as_dict() | {"request_id": "req_5f2c9d0a7be14f6c8a3d1e90"}
