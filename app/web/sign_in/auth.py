"""Authentication: the bearer token of a request, and the caller and scopes it stands for."""

from __future__ import annotations

import time
from functools import partial
from http import HTTPStatus
from typing import NoReturn, cast

from apiflask import HTTPError, HTTPTokenAuth
from flask import Response, after_this_request, g, request

from app.domain.callers import Caller, Scope
from app.domain.errors import InsufficientScope, InvalidToken, MissingToken, Unauthorized, Unavailable
from app.domain.tokens import kind_of
from app.engine.accounts import authentication
from app.infra.database import database_clock
from app.infra.telemetry import metrics
from app.web.errors import problem_response
from app.web.failure_limits import FailureCounter
from app.web.services import services

bearer = HTTPTokenAuth(
    scheme="Bearer",
    name="bearer",
    realm="ext",
    description="A session token (`ses_…`) from POST /api/ext/login, or an API key (`key_…`).",
)


RECHECK_AFTER_SECONDS = 1.0
"""A token is checked again if its request took longer than this; a caller may wait for 25 s."""


@bearer.verify_token  # type: ignore[untyped-decorator]
def _verify(token: str) -> Caller:
    kind_of(token)  # a malformed token is a typo, so it does not count as a guess
    try:
        authenticated = services().authenticator.authenticate(token)
    except Unauthorized as error:
        metrics.TOKENS_REFUSED.labels(outcome=error.code).inc()
        if isinstance(error, InvalidToken):  # possibly a guess
            FailureCounter.for_client("token", services().settings.limit_login_address).add()
        raise
    services().bulkhead.accounts.note(token, authenticated.account_id, authenticated.workspace_id)
    after_this_request(partial(_recheck_token, authenticated, time.monotonic()))
    return authenticated


def _recheck_token(authenticated: Caller, started: float, response: Response) -> Response:
    """Replace a slow response if its token has ended meanwhile; the submitted work continues."""
    has_data = response.status_code < HTTPStatus.BAD_REQUEST and response.status_code != HTTPStatus.NO_CONTENT
    if not has_data or time.monotonic() - started < RECHECK_AFTER_SECONDS:
        return response
    try:
        slot = services().bulkhead.db_slot(authenticated.workspace_id)
        with slot, services().database.reading() as session:
            lifetime = services().session_lifetime
            authentication.recheck(session, authenticated, lifetime=lifetime, now=database_clock.now())
    except Unauthorized as problem:
        return problem_response(problem)
    except Unavailable:
        return problem_response(
            Unavailable(
                "The request was processed, but the token cannot be checked again at the moment. "
                "Repeat the request with the same Idempotency-Key."
            )
        )
    return response


def authenticate(token: str) -> Caller:
    """Return the caller whom this token identifies, and make it the caller of this request."""
    g.flask_httpauth_user = _verify(token)
    g.pop("language", None)  # the account may have another one than the browser
    return caller()


@bearer.get_user_roles  # type: ignore[untyped-decorator]
def _scopes(caller: Caller) -> list[Scope]:
    return list(caller.scopes)


@bearer.error_processor
def _refuse(error: HTTPError) -> NoReturn:
    """Raise the reason: no token, a malformed one (such as one with a `=` in it), or a missing scope."""
    if error.status_code == InsufficientScope.status:
        raise InsufficientScope
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    raise InvalidToken if scheme.lower() == "bearer" and token.strip() else MissingToken


def caller() -> Caller:
    """Return the caller of this request, in a view under `auth_required(bearer)` or after `authenticate`."""
    return cast("Caller", bearer.current_user)


def session_caller() -> Caller:
    """Return the caller of this request if it was sent with a session token."""
    current = caller()
    if current.kind != "session":
        raise InsufficientScope("This requires a session token, not an API key. Sign in first.")
    return current
