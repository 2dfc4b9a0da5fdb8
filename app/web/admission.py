"""Admission: a web process works on few requests at a time, and takes them from all accounts in turn.

The requests of a process share one processor, so each delays all others that are active. An account must not
delay the others by the number of its requests. Requests with a token that the process has not authenticated
yet take turns by the client's network, because anyone can send any number of different texts as tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask, g, request

from app.domain.errors import Unavailable
from app.infra.database.session import Session
from app.server.token_accounts import TokenOwner
from app.web.bodies import body
from app.web.failure_limits import network
from app.web.request_actor import request_actor
from app.web.services import services
from app.web.sign_in import session_cookie

MAX_SECONDS = 30.0
"""The longest wait: a thousand requests at once take that long on a slow machine."""


def register(app: Flask) -> None:
    """Register the functions that admit a request and note its end."""
    app.before_request(_admit)
    app.teardown_request(_leave)


@contextmanager
def suspended() -> Iterator[str | None]:
    """Release the request's slot during the block, so that others can run; yield its holder, if any."""
    admitted: str | None = g.pop("admitted", None)
    if admitted is None:
        yield None
        return
    slots = services().bulkhead.active
    slots.release(admitted)
    current = holder()  # the account, if the token was authenticated meanwhile
    try:
        yield current
    finally:
        # Before the holder's new requests. A request that was admitted once runs even without a slot.
        if slots.acquire(current, MAX_SECONDS, first=True):
            g.admitted = current


@contextmanager
def transaction() -> Iterator[Session]:
    """Open a transaction for the caller, while other requests run, because it may wait for locks."""
    actor = request_actor()
    with suspended(), services().database.transaction() as session:
        session.actor = actor
        yield session


def admit(admitted: str) -> None:
    """Wait until a request of this holder may run, unless this one was admitted already."""
    if "admitted" in g:
        return
    if not services().bulkhead.active.acquire(admitted, MAX_SECONDS):
        raise Unavailable
    g.admitted = admitted


def holder() -> str:
    """Return who takes a turn: the account of the request's token if it is known, or the network."""
    owner = _owner()
    return owner.account_id if owner else network()


def sender() -> str:
    """Return for whom a body counts: the workspace, however many accounts it has, or the network."""
    owner = _owner()
    return owner.workspace_id if owner else network()


def _owner() -> TokenOwner | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    token = token.strip() if scheme.lower() == "bearer" else session_cookie.token() or ""
    return services().bulkhead.accounts.get(token)


def _admit() -> None:
    """Wait until a request with a token may run, after its body was received, which may take long."""
    if "Authorization" not in request.headers and session_cookie.token() is None:
        return
    if (request.content_length or 0) <= body.MAX_BYTES:
        body.receive(request)
    admit(holder())


def _leave(_error: BaseException | None) -> None:
    admitted = g.pop("admitted", None)
    if admitted is not None:
        services().bulkhead.active.release(admitted)
