"""Who is calling: the bearer token, and the scopes that came with it."""

from __future__ import annotations

from apiflask import HTTPTokenAuth
from flask import current_app

from app.core import tokens
from app.domain.callers import Caller, Scope
from app.domain.errors import MissingToken
from app.infra import clock
from app.infra.db import Database

bearer = HTTPTokenAuth(
    scheme="Bearer",
    name="bearer",
    realm="ext",
    description="A session token (`ses_…`) from POST /api/ext/login, or an API key (`key_…`).",
)


@bearer.verify_token  # type: ignore[untyped-decorator]
def _verify(token: str | None) -> Caller:
    if not token:
        raise MissingToken
    database: Database = current_app.extensions["database"]
    return tokens.authenticate(database, token, now=clock.now())


@bearer.get_user_roles  # type: ignore[untyped-decorator]
def _scopes(caller: Caller) -> list[Scope]:
    return list(caller.scopes)


def caller() -> Caller:
    """Give who sent this request; only in a view under `auth_required(bearer)`."""
    who: Caller = bearer.current_user
    return who
