"""Authenticates session tokens and API keys; every request reads the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Literal, NamedTuple, cast

from sqlalchemy import null, select, update

from app.domain import permissions, tokens
from app.domain.callers import Caller, Scope
from app.domain.errors import InvalidToken, TokenExpired, TokenRevoked, Unavailable
from app.domain.permissions import Permission
from app.domain.tokens import TokenKind
from app.engine.accounts.accounts import Account, Role
from app.engine.accounts.api_keys import ApiKey
from app.engine.accounts.sessions import LoginSession, SessionLifetime
from app.engine.accounts.workspaces import Workspace
from app.infra.database.database_clock import Moment, column
from app.infra.database.db import Database
from app.infra.database.session import Session
from app.infra.database.statements import Statement, any_of
from app.infra.grouping import Grouped
from app.infra.telemetry.log import log

# Each request costs one read; `last_used_at` is written at most this often.
WRITE_EVERY = timedelta(minutes=1)
MAX_GROUP = 64
_TABLES: dict[TokenKind, type[LoginSession | ApiKey]] = {
    TokenKind.SESSION: LoginSession,
    TokenKind.API_KEY: ApiKey,
}
_OWN = ("id", "token_hash", "account_id", "scopes", "permissions", "expires_at", "last_used_at", "revoked_at")


class _Token(NamedTuple):
    """A session or a key, which alone has scopes, with its account; `now` is the time of the query."""

    id: str
    token_hash: bytes
    account_id: str
    scopes: list[str] | None
    permissions: list[str] | None
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    workspace_id: str
    disabled_at: datetime | None
    role: str
    language: str | None
    own_permissions: dict[str, bool] | None
    denied_to_members: list[str] | None
    now: datetime


@lru_cache(maxsize=16)
def _token(kind: TokenKind, name: str, now: Moment) -> Statement[_Token]:
    """Return the query for tokens by `token_hash` or `id`, with their accounts and the current time."""
    table, accounts = _TABLES[kind].__table__, Account.__table__
    columns = [table.c[name] if name in table.c else null().label(name) for name in _OWN]
    own = accounts.c.permissions.label("own_permissions")
    account = (accounts.c.workspace_id, accounts.c.disabled_at, accounts.c.role, accounts.c.language, own)
    workspaces = Workspace.__table__
    query = (
        select(*columns, *account, workspaces.c.denied_to_members, column(now).label("now"))
        .join(accounts, accounts.c.id == table.c.account_id)
        .join(workspaces, workspaces.c.id == accounts.c.workspace_id)
    )
    return Statement(_Token, lambda dialect: query.where(any_of(dialect, table.c[name], "values")))


class Authenticator:
    """Authenticates tokens; nothing is cached, so a revoked token is refused at once.

    The tokens of concurrent calls are read in one statement.
    """

    def __init__(self, database: Database, lifetime: SessionLifetime, *, now: Moment) -> None:
        self._database, self._lifetime, self._now = database, lifetime, now
        self._rows = {
            kind: Grouped(partial(self._read, kind), name="token", size=MAX_GROUP) for kind in TokenKind
        }

    def authenticate(self, token: str) -> Caller:
        """Return the caller that the token identifies.

        A malformed token, or one whose checksum is wrong, is refused without a query.
        """
        kind, lifetime = tokens.kind_of(token), self._lifetime
        row = _valid(self._rows[kind](tokens.digest(token)), kind, lifetime)
        if row.last_used_at is None or row.last_used_at <= row.now - WRITE_EVERY:
            _record_use(self._database, kind, row)
            row = row._replace(last_used_at=row.now)
        return Caller(
            account_id=row.account_id,
            workspace_id=row.workspace_id,
            kind=cast("Literal['session', 'api_key']", _TABLES[kind].kind),
            token_id=row.id,
            scopes=tuple(Scope) if kind is TokenKind.SESSION else tuple(map(Scope, row.scopes or ())),
            expires_at=_ends_at(kind, row, lifetime),
            is_admin=row.role == Role.ADMIN,
            permissions=_permissions(row),
            language=row.language,
        )

    def _read(self, kind: TokenKind, hashes: Sequence[bytes]) -> list[_Token | None]:
        with self._database.reading() as session:
            rows = _token(kind, "token_hash", self._now).all(session, {"values": list(set(hashes))})
        found = {row.token_hash: row for row in rows}
        return [found.get(token_hash) for token_hash in hashes]


def recheck(session: Session, caller: Caller, *, lifetime: SessionLifetime, now: Moment) -> None:
    """Check the token again before a delayed response, since it may have ended during the wait."""
    kind = TokenKind(caller.token_id[:3])
    statement = _token(kind, "id", now)
    row = _valid(statement.first(session, {"values": [caller.token_id]}), kind, lifetime)
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


def _permissions(row: _Token) -> frozenset[Permission]:
    account = permissions.granted(
        is_admin=row.role == Role.ADMIN, denied_to_members=row.denied_to_members, own=row.own_permissions
    )
    return permissions.of_key(account, row.permissions)


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
