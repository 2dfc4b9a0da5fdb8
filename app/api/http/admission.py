"""Admission: a web process works on few requests at a time, and takes them from all tokens in turn.

The requests of a process share one processor, so each delays all others that are active. Those of one token
must not delay the others by their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask, g, request
from sqlalchemy.orm import Session

from app.api.http import body, session_cookie
from app.api.http.request_actor import request_actor
from app.api.http.services import services
from app.core.audit_log.entries import ACTOR
from app.domain.errors import Unavailable

MAX_SECONDS = 30.0
"""The longest wait: a thousand requests at once take that long on a slow machine."""


def register(app: Flask) -> None:
    """Register the functions that admit a request and note its end."""
    app.before_request(_admit)
    app.teardown_request(_leave)


@contextmanager
def suspended() -> Iterator[str | None]:
    """Release the request's slot during the block, so that others can run; yield its holder, if any."""
    token: str | None = g.pop("admitted", None)
    if token is None:
        yield None
        return
    slots = services().bulkhead.active
    slots.release(token)
    try:
        yield token
    finally:
        # Before the token's new requests. A request that was admitted once runs even without a slot.
        if slots.acquire(token, MAX_SECONDS, first=True):
            g.admitted = token


@contextmanager
def transaction() -> Iterator[Session]:
    """Open a transaction of the database for the caller. Other requests run meanwhile: it may wait for locks.

    Raises:
        Unavailable: as in `Database.transaction`.

    """
    actor = request_actor()
    with suspended(), services().database.transaction() as session:
        session.info[ACTOR] = actor
        yield session


def admit(holder: str) -> None:
    """Wait until a request of the holder may run, unless this one was admitted already.

    Raises:
        Unavailable: it was not admitted in time.

    """
    if "admitted" in g:
        return
    if not services().bulkhead.active.acquire(holder, MAX_SECONDS):
        raise Unavailable
    g.admitted = holder


def _admit() -> None:
    """Wait until a request with a token may run, after its body was received, which may take long.

    Raises:
        MalformedJson, PayloadTooLarge: as in `body.receive`.
        Unavailable: as in `admit`.

    """
    token = request.headers.get("Authorization") or session_cookie.token()
    if token is None:
        return
    if (request.content_length or 0) <= body.MAX_BYTES:
        body.receive(request)
    admit(token)


def _leave(_error: BaseException | None) -> None:
    token = g.pop("admitted", None)
    if token is not None:
        services().bulkhead.active.release(token)
