"""Responses for requests that never reach the application, as bytes: malformed, too slow or too many."""

from __future__ import annotations

import json
import secrets
from http import HTTPStatus

from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine, ParseException

from app.domain.errors import InternalError, MalformedJson, PayloadTooLarge, Problem
from app.domain.version import API_VERSION


def problem_of(error: Exception) -> Problem:
    """Return the problem for an exception of gunicorn or of the worker."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, LimitRequestLine | LimitRequestHeaders):
        return PayloadTooLarge(
            "The URL or the headers are too long. Shorten them: what is long belongs in the body."
        )
    if isinstance(error, ParseException):
        return MalformedJson("The HTTP request is malformed. Send it as RFC 9112 describes.")
    return InternalError()


def raw_response(problem: Problem) -> bytes:
    """Return a complete HTTP/1.1 response that closes the connection."""
    request_id = f"req_{secrets.token_hex(12)}"
    body = json.dumps(problem.as_dict() | {"request_id": request_id}).encode()
    head = [
        f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}",
        "Content-Type: application/problem+json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        f"API-Version: {API_VERSION}",
        f"X-Request-Id: {request_id}",
    ]
    if problem.retry_after is not None:
        head.append(f"Retry-After: {problem.retry_after}")
    return "\r\n".join((*head, "", "")).encode() + body
