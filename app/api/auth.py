"""Who is calling: the bearer token, and the scopes that came with it."""

from __future__ import annotations

from typing import NoReturn, cast

from apiflask import HTTPError, HTTPTokenAuth
from flask import current_app, request

from app.api.strangers import Failures
from app.core import tokens
from app.domain.callers import Caller, Scope
from app.domain.errors import InsufficientScope, InvalidToken, MissingToken
from app.domain.tokens import kind_of
from app.infra import clock
from app.infra.db import Database
from app.settings import Settings

bearer = HTTPTokenAuth(
    scheme="Bearer",
    name="bearer",
    realm="ext",
    description="A session token (`ses_…`) from POST /api/ext/login, or an API key (`key_…`).",
)


@bearer.verify_token  # type: ignore[untyped-decorator]
def _verify(token: str) -> Caller:
    kind_of(token)
    database: Database = current_app.extensions["database"]
    try:
        return tokens.authenticate(database, token, now=clock.now())
    except InvalidToken:
        settings: Settings = current_app.extensions["settings"]
        Failures.from_here(settings.limit_login_address, "token").add()  # somebody guesses
        raise


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
