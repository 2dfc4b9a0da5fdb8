"""Gunicorn's gevent worker, which answers what never became a request with a problem, not with a page."""

from __future__ import annotations

import json
import secrets
import socket
from http import HTTPStatus
from typing import Any

from gunicorn import util
from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine, ParseException
from gunicorn.workers.ggevent import GeventWorker

from app.domain.errors import InternalError, MalformedJson, PayloadTooLarge, Problem
from app.domain.version import API_VERSION


class Worker(GeventWorker):  # type: ignore[misc]  # gunicorn has no types
    """The worker of the API's processes."""

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:  # noqa: ANN401, ARG002 -- gunicorn's signature
        """Answer a request that could not be read, or an error outside the application."""
        problem = _problem(exc)
        if isinstance(problem, InternalError):
            self.log.error("error outside the application", exc_info=exc)
        try:
            util.write_nonblock(client, _answer(problem))
        except OSError:
            self.log.debug("the client is gone")


def _problem(exc: Exception) -> Problem:
    if isinstance(exc, LimitRequestLine | LimitRequestHeaders):
        return PayloadTooLarge("The address or the headers are too long.")
    if isinstance(exc, ParseException):
        return MalformedJson("This is not an HTTP request that could be read.")
    return InternalError()


def _answer(problem: Problem) -> bytes:
    request_id = f"req_{secrets.token_hex(12)}"
    body = json.dumps(problem.as_dict() | {"request_id": request_id}).encode()
    head = (
        f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}",
        "Content-Type: application/problem+json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        "Cache-Control: no-store",
        f"API-Version: {API_VERSION}",
        f"X-Request-Id: {request_id}",
    )
    return "\r\n".join((*head, "", "")).encode() + body
