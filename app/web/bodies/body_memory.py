"""The memory for request bodies: a process holds a limited number of bytes, and half of them for one sender.

Files, which may be longer than 256 KiB, are not kept in memory while they arrive (`received_files`).
"""

from __future__ import annotations

from flask import Flask, g, request

from app.web import admission
from app.web.bodies import body
from app.web.services import services


def register(app: Flask) -> None:
    """Register the functions that reserve the memory of a request's body, and free it after the response."""
    app.before_request(_take)
    app.teardown_request(_give_back)


def _take() -> None:
    """Reserve memory for the body; a job may be awaited with it, so it stays reserved until the response."""
    length = body.MAX_BYTES if body.is_chunked(request) else request.content_length or 0
    if 0 < length <= body.MAX_BYTES:
        reserve(length)


def reserve(length: int) -> None:
    """Reserve memory for a body of this request, which has none yet, until the response."""
    holder = admission.sender()
    services().body_memory.take(holder, length)
    g.body_memory = (holder, length)


def _give_back(_error: BaseException | None) -> None:
    if taken := g.pop("body_memory", None):
        services().body_memory.give_back(*taken)
