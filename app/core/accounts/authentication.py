"""Authenticates session tokens and API keys; every request reads the database."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal, cast

from sqlalchemy import Select, bindparam, select, update
from sqlalchemy.orm import Session

from app.core.accounts.accounts import Account
from app.core.accounts.api_keys import ApiKey
from app.core.accounts.sessions import LoginSession, SessionLifetime
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


def authenticate(database: Database, token: str, *, lifetime: SessionLifetime, now: Moment) -> Caller:
    """Return the caller that the token identifies; not cached, so a revoked token is refused at once.

    Raises:
        InvalidToken: the token was never issued; a malformed token or wrong checksum costs no query.
        TokenRevoked: the token was revoked, or its account is disabled.
        TokenExpired: the idle or absolute lifetime of the token is over.
        Unavailable: the database is unavailable.

    """
    statement = _BY_HASH[tokens.kind_of(token)]
    with database.reading() as session:
        values = {"hash": tokens.digest(token)}
        row, workspace_id, current = _valid(session, statement, values, lifetime, now)
    if row.last_used_at is None or row.last_used_at <= current - WRITE_EVERY:
        _record_use(database, row, current)
    return Caller(
        account_id=row.account_id,
        workspace_id=workspace_id,
        kind=cast("Literal['session', 'api_key']", row.kind),
        token_id=row.id,
        scopes=row.granted,
        expires_at=_ends_at(row, lifetime),
    )


def recheck(session: Session, caller: Caller, *, lifetime: SessionLifetime, now: Moment) -> None:
    """Check the token again before a delayed response, since it may have ended during the wait.

    Raises:
        InvalidToken, TokenRevoked, TokenExpired: as in `authenticate`.

    """
    statement = _BY_ID[TokenKind(caller.token_id[:3])]
    _row, workspace_id, _current = _valid(session, statement, {"id": caller.token_id}, lifetime, now)
    if workspace_id != caller.workspace_id:
        raise TokenRevoked


def _valid(
    session: Session,
    statement: Select[*tuple[Any, ...]],
    values: dict[str, Any],
    lifetime: SessionLifetime,
    now: Moment,
) -> tuple[LoginSession | ApiKey, str, datetime]:
    """Return the valid session or key, the current workspace of its account, and the current time."""
    found = session.execute(statement.add_columns(column(now)), values).one_or_none()
    if found is None:
        raise InvalidToken
    row = cast("LoginSession | ApiKey", found[0])
    workspace_id, disabled_at, current = found[1:]
    if row.revoked_at is not None or disabled_at is not None:
        raise TokenRevoked
    ends_at = _ends_at(row, lifetime)
    if ends_at is not None and ends_at <= current:
        raise TokenExpired
    return row, workspace_id, current


def _ends_at(row: LoginSession | ApiKey, lifetime: SessionLifetime) -> datetime | None:
    return row.ends_at(lifetime) if isinstance(row, LoginSession) else row.expires_at


def _record_use(database: Database, row: LoginSession | ApiKey, now: datetime) -> None:
    table = type(row)
    try:
        with database.transaction() as session:
            session.execute(update(table).where(table.id == row.id).values(last_used_at=now))
    except Unavailable:  # a read-only database still authenticates; a later request writes it
        log.warning("last use of token not recorded", token=row.id)
    row.last_used_at = now
