"""Who is calling: the bearer token, and the scopes that came with it."""

from __future__ import annotations

import time
from functools import partial
from http import HTTPStatus
from typing import NoReturn, cast

from apiflask import HTTPError, HTTPTokenAuth
from flask import Response, after_this_request, request

from app.api.http.errors import answer
from app.api.http.failure_limits import FailureCounter
from app.api.http.services import services
from app.core.accounts import authentication
from app.domain.callers import Caller, Scope
from app.domain.errors import InsufficientScope, InvalidToken, MissingToken, Unauthorized, Unavailable
from app.domain.tokens import kind_of
from app.infra import database_clock, metrics

bearer = HTTPTokenAuth(
    scheme="Bearer",
    name="bearer",
    realm="ext",
    description="A session token (`ses_…`) from POST /api/ext/login, or an API key (`key_…`).",
)


RECHECK_AFTER_SECONDS = 1.0
"""After this time a token is looked at again before the answer is given: a caller may wait for 25 s."""


@bearer.verify_token  # type: ignore[untyped-decorator]
def _verify(token: str) -> Caller:
    kind_of(token)  # what cannot be a token is a typing error, no guess
    try:
        who = authentication.authenticate(services().database, token, now=database_clock.now())
    except Unauthorized as refused:
        metrics.TOKENS_REFUSED.labels(outcome=refused.code).inc()
        if isinstance(refused, InvalidToken):  # somebody guesses
            FailureCounter.for_client("token", services().settings.limit_login_address).add()
        raise
    after_this_request(partial(_recheck_token, who, time.monotonic()))
    return who


def _recheck_token(who: Caller, began: float, response: Response) -> Response:
    """Keep an answer that took long from a token that ended meanwhile; what was asked goes on."""
    tells = response.status_code < HTTPStatus.BAD_REQUEST and response.status_code != HTTPStatus.NO_CONTENT
    if not tells or time.monotonic() - began < RECHECK_AFTER_SECONDS:
        return response
    try:
        with services().database.reading() as session:
            authentication.recheck(session, who, now=database_clock.now())
    except Unauthorized as problem:
        return answer(problem)
    except Unavailable:
        return answer(
            Unavailable(
                "What was asked was done, but whether the token still works cannot be looked up now. "
                "Ask again with the same Idempotency-Key."
            )
        )
    return response


@bearer.get_user_roles  # type: ignore[untyped-decorator]
def _scopes(caller: Caller) -> list[Scope]:
    return list(caller.scopes)


@bearer.error_processor
def _refuse(error: HTTPError) -> NoReturn:
    """Say why: no token, one that cannot be read (such as one with a `=` in it), or one without the scope."""
    if error.status_code == InsufficientScope.status:
        raise InsufficientScope
    scheme, _, rest = request.headers.get("Authorization", "").partition(" ")
    raise InvalidToken if scheme.lower() == "bearer" and rest.strip() else MissingToken


def caller() -> Caller:
    """Give who sent this request; only in a view under `auth_required(bearer)`."""
    return cast("Caller", bearer.current_user)


def session_caller() -> Caller:
    """Give who sent this request, if it came with a session token.

    Raises:
        InsufficientScope: it came with an API key, which manages no sessions and no passwords.

    """
    who = caller()
    if who.kind != "session":
        raise InsufficientScope("An API key is not a session: sign in and use that token for this.")
    return who
