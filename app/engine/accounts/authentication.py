"""Authenticates session tokens and API keys; every request reads the database."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple, cast

from sqlalchemy import bindparam, null, select, update

from app.domain import tokens
from app.domain.callers import Caller, Scope
from app.domain.errors import InvalidToken, TokenExpired, TokenRevoked, Unavailable
from app.domain.tokens import TokenKind
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.api_keys import ApiKey
from app.engine.accounts.sessions import LoginSession, SessionLifetime
from app.infra.database.database_clock import Moment, column
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.infra.database.statements import Statement
from app.infra.telemetry.log import log

# Each request costs one read; `last_used_at` is written at most this often.
WRITE_EVERY = timedelta(minutes=1)
_TABLES: dict[TokenKind, type[LoginSession | ApiKey]] = {
    TokenKind.SESSION: LoginSession,
    TokenKind.API_KEY: ApiKey,
}
_OWN = ("id", "account_id", "scopes", "expires_at", "last_used_at", "revoked_at")


class _Token(NamedTuple):
    """A session or a key, which alone has scopes, with its account; `now` is the time of the query."""

    id: str
    account_id: str
    scopes: list[str] | None
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    workspace_id: str
    disabled_at: datetime | None
    role: str
    now: datetime


@lru_cache(maxsize=16)
def _token(kind: TokenKind, name: str, now: Moment) -> Statement[_Token]:
    """Return the query for a token by `token_hash` or by `id`, with its account and the current time."""
    table, accounts = _TABLES[kind].__table__, Account.__table__
    columns = [table.c[name] if name in table.c else null().label(name) for name in _OWN]
    account = (accounts.c.workspace_id, accounts.c.disabled_at, accounts.c.role)
    query = select(*columns, *account, column(now).label("now")).join(
        accounts, accounts.c.id == table.c.account_id
    )
    query = query.where(table.c[name] == bindparam(name))
    return Statement(_Token, lambda _dialect: query)


def authenticate(
    database: Database,
    token: str,
    *,
    lifetime: SessionLifetime,
    now: Moment,
    slot: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Caller:
    """Return the caller that the token identifies; not cached, so a revoked token is refused at once.

    A malformed token, or one whose checksum is wrong, is refused without a query. The block of `slot` is the
    read only: a write may wait for locks.
    """
    kind = tokens.kind_of(token)
    statement = _token(kind, "token_hash", now)
    with slot(), database.reading() as session:
        row = _valid(statement.first(session, {"token_hash": tokens.digest(token)}), kind, lifetime)
    if row.last_used_at is None or row.last_used_at <= row.now - WRITE_EVERY:
        _record_use(database, kind, row)
        row = row._replace(last_used_at=row.now)
    return Caller(
        account_id=row.account_id,
        workspace_id=row.workspace_id,
        kind=cast("Literal['session', 'api_key']", _TABLES[kind].kind),
        token_id=row.id,
        scopes=tuple(Scope) if kind is TokenKind.SESSION else tuple(map(Scope, row.scopes or ())),
        expires_at=_ends_at(kind, row, lifetime),
        is_admin=row.role == Role.ADMIN,
    )


def recheck(session: Session, caller: Caller, *, lifetime: SessionLifetime, now: Moment) -> None:
    """Check the token again before a delayed response, since it may have ended during the wait."""
    kind = TokenKind(caller.token_id[:3])
    statement = _token(kind, "id", now)
    row = _valid(statement.first(session, {"id": caller.token_id}), kind, lifetime)
    if row.workspace_id != caller.workspace_id:
        raise TokenRevoked


def _valid(row: _Token | None, kind: TokenKind, lifetime: SessionLifetime) -> _Token:
    """Return the row of a session or key if it is valid."""
    if row is None:
        raise InvalidToken
    if row.revoked_at is not None or row.disabled_at is not None:
        raise TokenRevoked
    ends_at = _ends_at(kind, row, lifetime)
    if ends_at is not None and ends_at <= row.now:
        raise TokenExpired
    return row


def _ends_at(kind: TokenKind, row: _Token, lifetime: SessionLifetime) -> datetime | None:
    """Return the time at which the token expires if it is not used again, or None."""
    if kind is TokenKind.API_KEY or row.expires_at is None or row.last_used_at is None:
        return row.expires_at
    return lifetime.ends_at(row.expires_at, row.last_used_at)


def _record_use(database: Database, kind: TokenKind, row: _Token) -> None:
    table = _TABLES[kind]
    try:
        with database.transaction() as session:
            session.execute(update(table).where(table.id == row.id).values(last_used_at=row.now))
    except Unavailable:  # a read-only database still authenticates; a later request writes it
        log.warning("last use of token not recorded", token=row.id)
