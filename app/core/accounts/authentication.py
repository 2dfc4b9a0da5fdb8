"""Authenticates session tokens and API keys; every request reads the database."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal, cast

from sqlalchemy import Select, bindparam, select, update
from sqlalchemy.orm import Session

from app.core.accounts.accounts import Account
from app.core.accounts.api_keys import ApiKey
from app.core.accounts.sessions import LoginSession
from app.domain import tokens
from app.domain.callers import Caller
from app.domain.errors import InvalidToken, TokenExpired, TokenRevoked, Unavailable
from app.domain.tokens import TokenKind
from app.infra.database_clock import Moment, column
from app.infra.db import Database
from app.infra.log import log

# Each request costs one read; `last_used_at` is written at most this often.
WRITE_EVERY = timedelta(minutes=1)
_TABLES: dict[TokenKind, type[LoginSession | ApiKey]] = {
    TokenKind.SESSION: LoginSession,
    TokenKind.API_KEY: ApiKey,
}
# The statements are built once, because every request needs one.
_TOKEN_ROW = {
    kind: select(table, Account.workspace_id, Account.disabled_at).join(
        Account, Account.id == table.account_id
    )
    for kind, table in _TABLES.items()
}
_BY_HASH = {kind: _TOKEN_ROW[kind].where(table.hash == bindparam("hash")) for kind, table in _TABLES.items()}
_BY_ID = {kind: _TOKEN_ROW[kind].where(table.id == bindparam("id")) for kind, table in _TABLES.items()}


def authenticate(database: Database, token: str, *, now: Moment) -> Caller:
    """Return the caller that the token identifies; not cached, so a revoked token is refused at once.

    Raises:
        InvalidToken: the token was never issued; a malformed token or wrong checksum costs no query.
        TokenRevoked: the token was revoked, or its account is disabled.
        TokenExpired: the idle or absolute lifetime of the token is over.
        Unavailable: the database is unavailable.

    """
    statement = _BY_HASH[tokens.kind_of(token)]
    with database.reading() as session:
        held, workspace_id, current = _valid(session, statement, {"hash": tokens.digest(token)}, now)
    if held.last_used_at is None or held.last_used_at <= current - WRITE_EVERY:
        _note_use(database, held, current)
    return Caller(
        account_id=held.account_id,
        workspace_id=workspace_id,
        kind=cast("Literal['session', 'api_key']", held.kind),
        token_id=held.id,
        scopes=held.granted,
        expires_at=held.ends_at,
    )


def recheck(session: Session, who: Caller, *, now: Moment) -> None:
    """Check the token again before a delayed response, since it may have ended during the wait.

    Raises:
        InvalidToken, TokenRevoked, TokenExpired: as in `authenticate`.

    """
    statement = _BY_ID[TokenKind(who.token_id[:3])]
    _held, workspace_id, _current = _valid(session, statement, {"id": who.token_id}, now)
    if workspace_id != who.workspace_id:
        raise TokenRevoked


def _valid(
    session: Session, statement: Select[*tuple[Any, ...]], named: dict[str, Any], now: Moment
) -> tuple[LoginSession | ApiKey, str, datetime]:
    """Return the valid session or key, the current workspace of its account, and the current time."""
    row = session.execute(statement.add_columns(column(now)), named).one_or_none()
    if row is None:
        raise InvalidToken
    held = cast("LoginSession | ApiKey", row[0])
    workspace_id, disabled_at, current = row[1:]
    if held.revoked_at is not None or disabled_at is not None:
        raise TokenRevoked
    if held.ends_at is not None and held.ends_at <= current:
        raise TokenExpired
    return held, workspace_id, current


def _note_use(database: Database, held: LoginSession | ApiKey, now: datetime) -> None:
    table = type(held)
    try:
        with database.transaction() as session:
            session.execute(update(table).where(table.id == held.id).values(last_used_at=now))
    except Unavailable:  # a read-only database still authenticates; a later request writes it
        log.warning("use of a token not noted", token=held.id)
    held.last_used_at = now
