from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta

import pytest
from jobs_support import LIFETIME
from sqlalchemy import event, select, update

from app.domain.callers import Scope
from app.domain.errors import InvalidToken, TokenExpired, TokenRevoked, Unavailable
from app.domain.tokens import TokenKind, new_token
from app.engine.accounts import accounts, api_keys, authentication, sessions, workspaces
from app.engine.accounts.accounts import Account
from app.engine.accounts.api_keys import ApiKey
from app.engine.accounts.authentication import Authenticator
from app.engine.accounts.sessions import LoginSession
from app.infra.database.db import Base, Database
from app.infra.database.session import Session

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@pytest.fixture
def account(database: Database) -> Account:
    with database.transaction() as session:
        workspace = workspaces.create(session, name="Acme", now=NOW)
        return accounts.create(
            session, workspace.id, email="ada@acme.example", name="Ada", password_hash="h", now=NOW
        )


@pytest.fixture
def token(database: Database, account: Account) -> str:
    with database.transaction() as session:
        return sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)[1]


@pytest.fixture
def key(database: Database, account: Account) -> str:
    with database.transaction() as session:
        end = NOW + timedelta(days=30)
        return api_keys.create(
            session, account.id, name="CRM", scopes=[Scope.LOOKUP], expires_at=end, now=NOW
        )[1]


@pytest.fixture
def statements(database: Database) -> Iterator[list[str]]:
    seen: list[str] = []

    def note(*arguments: object) -> None:
        seen.append(str(arguments[2]).partition(" ")[0])

    for engine in database.engines:
        event.listen(engine, "before_cursor_execute", note)
    yield seen
    for engine in database.engines:
        event.remove(engine, "before_cursor_execute", note)


def work_on(statements: list[str]) -> list[str]:
    return [word for word in statements if word not in {"BEGIN", "PRAGMA"}]


def _works(database: Database, token: str, now: datetime) -> bool:
    try:
        Authenticator(database, LIFETIME, now=now).authenticate(token)
    except (InvalidToken, TokenExpired):
        return False
    return True


def test_a_session_token_identifies_the_caller(database: Database, account: Account, token: str) -> None:
    caller = Authenticator(database, LIFETIME, now=NOW).authenticate(token)

    assert (caller.account_id, caller.workspace_id) == (account.id, account.workspace_id)
    assert (caller.kind, caller.scopes) == ("session", tuple(Scope))
    assert caller.expires_at == NOW + timedelta(days=14)


def test_an_api_key_identifies_the_caller_and_the_scopes(
    database: Database, account: Account, key: str
) -> None:
    caller = Authenticator(database, LIFETIME, now=NOW).authenticate(key)

    assert (caller.account_id, caller.kind, caller.scopes) == (account.id, "api_key", (Scope.LOOKUP,))
    assert caller.expires_at == NOW + timedelta(days=30)
    assert caller.token_id.startswith("key_")


def test_a_malformed_token_costs_no_query(database: Database, statements: list[str]) -> None:
    with pytest.raises(InvalidToken):
        Authenticator(database, LIFETIME, now=NOW).authenticate("ses_" + "0" * 49)

    assert statements == []


@pytest.mark.parametrize("kind", list(TokenKind))
def test_a_token_that_was_never_issued_is_invalid(database: Database, kind: TokenKind) -> None:
    with pytest.raises(InvalidToken):
        Authenticator(database, LIFETIME, now=NOW).authenticate(new_token(kind))


def test_a_token_in_use_costs_one_query_and_no_write(
    database: Database, token: str, statements: list[str]
) -> None:
    Authenticator(database, LIFETIME, now=NOW + timedelta(seconds=59)).authenticate(token)

    assert work_on(statements) == ["SELECT"]


def test_the_last_use_is_recorded_once_a_minute(
    database: Database, token: str, statements: list[str]
) -> None:
    later = NOW + timedelta(seconds=60)

    Authenticator(database, LIFETIME, now=later).authenticate(token)
    Authenticator(database, LIFETIME, now=later).authenticate(token)

    assert work_on(statements) == ["SELECT", "UPDATE", "SELECT"]


def test_the_first_use_of_a_key_is_recorded(database: Database, key: str) -> None:
    caller = Authenticator(database, LIFETIME, now=NOW).authenticate(key)

    with database.reading() as session:
        assert session.get_one(ApiKey, caller.token_id).last_used_at == NOW


def test_using_a_session_extends_its_idle_limit(database: Database, token: str) -> None:
    used = NOW + timedelta(days=13)

    caller = Authenticator(database, LIFETIME, now=used).authenticate(token)

    assert caller.expires_at == used + timedelta(days=14)
    Authenticator(database, LIFETIME, now=used + timedelta(days=13)).authenticate(token)


def test_a_session_expires_when_it_is_idle_too_long(database: Database, token: str) -> None:
    with pytest.raises(TokenExpired):
        Authenticator(database, LIFETIME, now=NOW + timedelta(days=14)).authenticate(token)


def test_a_session_in_daily_use_expires_at_its_absolute_limit(database: Database, token: str) -> None:
    with database.transaction() as session:
        session.execute(update(LoginSession).values(last_used_at=NOW + timedelta(days=89, hours=23)))

    with pytest.raises(TokenExpired):
        Authenticator(database, LIFETIME, now=NOW + timedelta(days=90)).authenticate(token)


def test_an_api_key_expires_at_the_given_time(database: Database, key: str) -> None:
    with pytest.raises(TokenExpired):
        Authenticator(database, LIFETIME, now=NOW + timedelta(days=30)).authenticate(key)


def test_a_key_without_an_expiry_stays_valid(database: Database, key: str) -> None:
    with database.transaction() as session:
        session.execute(update(ApiKey).values(expires_at=None))

    caller = Authenticator(database, LIFETIME, now=NOW + timedelta(days=3650)).authenticate(key)

    assert caller.expires_at is None


def test_an_ended_session_is_refused_at_once(database: Database, account: Account, token: str) -> None:
    caller = Authenticator(database, LIFETIME, now=NOW).authenticate(token)
    with database.transaction() as session:
        sessions.end(session, account.id, caller.token_id, now=NOW)

    with pytest.raises(TokenRevoked):
        Authenticator(database, LIFETIME, now=NOW).authenticate(token)


def test_a_revoked_key_is_refused_at_once(database: Database, account: Account, key: str) -> None:
    caller = Authenticator(database, LIFETIME, now=NOW).authenticate(key)
    with database.transaction() as session:
        api_keys.revoke(session, account.id, caller.token_id, now=NOW)

    with pytest.raises(TokenRevoked):
        Authenticator(database, LIFETIME, now=NOW).authenticate(key)


def test_a_token_of_a_disabled_account_is_refused_even_if_it_was_not_ended(
    database: Database, token: str
) -> None:
    with database.transaction() as session:
        session.execute(update(Account).values(disabled_at=NOW))

    with pytest.raises(TokenRevoked):
        Authenticator(database, LIFETIME, now=NOW).authenticate(token)


def test_an_account_that_changes_its_workspace_calls_for_the_new_one(
    database: Database, account: Account, token: str
) -> None:
    before = Authenticator(database, LIFETIME, now=NOW).authenticate(token)
    with database.transaction() as session:
        other = workspaces.create(session, name="Babbage", now=NOW)
        session.execute(update(Account).values(workspace_id=other.id))

    after = Authenticator(database, LIFETIME, now=NOW).authenticate(token)

    assert (before.workspace_id, after.workspace_id) == (account.workspace_id, other.id)


@pytest.mark.parametrize("seconds", [0, 3600])
def test_a_token_that_is_still_valid_passes_the_recheck(
    database: Database, token: str, key: str, seconds: int
) -> None:
    callers = [
        Authenticator(database, LIFETIME, now=NOW).authenticate(credential) for credential in (token, key)
    ]

    with database.reading() as session:
        for caller in callers:
            authentication.recheck(session, caller, lifetime=LIFETIME, now=NOW + timedelta(seconds=seconds))


def test_a_token_that_was_revoked_during_the_wait_fails_the_recheck(
    database: Database, account: Account, token: str
) -> None:
    caller = Authenticator(database, LIFETIME, now=NOW).authenticate(token)
    with database.transaction() as session:
        accounts.disable(session, account.id, now=NOW)

    with database.reading() as session, pytest.raises(TokenRevoked):
        authentication.recheck(session, caller, lifetime=LIFETIME, now=NOW)


def test_a_token_that_expired_during_the_wait_fails_the_recheck(database: Database, key: str) -> None:
    caller = Authenticator(database, LIFETIME, now=NOW).authenticate(key)

    with database.reading() as session, pytest.raises(TokenExpired):
        authentication.recheck(session, caller, lifetime=LIFETIME, now=NOW + timedelta(days=30))


def test_an_account_that_changed_its_workspace_fails_the_recheck(database: Database, token: str) -> None:
    caller = Authenticator(database, LIFETIME, now=NOW).authenticate(token)
    with database.transaction() as session:
        other = workspaces.create(session, name="Babbage", now=NOW)
        session.execute(update(Account).values(workspace_id=other.id))

    with database.reading() as session, pytest.raises(TokenRevoked):
        authentication.recheck(session, caller, lifetime=LIFETIME, now=NOW)


@pytest.mark.parametrize(
    ("passed", "works"),
    [(timedelta(days=14) - timedelta(seconds=1), True), (timedelta(days=14), False)],
)
def test_the_idle_limit_is_exact_to_the_second(
    database: Database, token: str, passed: timedelta, *, works: bool
) -> None:
    assert _works(database, token, NOW + passed) is works


@pytest.mark.parametrize(
    ("passed", "works"),
    [(timedelta(days=90) - timedelta(seconds=1), True), (timedelta(days=90), False)],
)
def test_the_absolute_limit_is_exact_to_the_second(
    database: Database, token: str, passed: timedelta, *, works: bool
) -> None:
    with database.transaction() as session:
        session.execute(update(LoginSession).values(last_used_at=NOW + timedelta(days=89)))

    assert _works(database, token, NOW + passed) is works


def test_two_thousand_guessed_tokens_are_invalid(database: Database, token: str, key: str) -> None:
    guesses = [new_token(kind) for kind in TokenKind for _ in range(1000)]

    hits = [guess for guess in guesses if _works(database, guess, NOW)]

    assert hits == []
    assert _works(database, token, NOW)
    assert _works(database, key, NOW)


def test_no_table_contains_a_token(database: Database, token: str, key: str) -> None:
    with database.reading() as session:
        stored = [
            value
            for table in Base.metadata.sorted_tables
            for row in session.execute(select(table)).all()
            for value in row
        ]

    text = " ".join(str(value) for value in stored)
    assert "CRM" in text
    assert token[4:] not in text
    assert key[4:] not in text


def test_a_read_only_database_still_authenticates(
    database: Database, account: Account, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> AbstractContextManager[Session]:
        raise Unavailable

    monkeypatch.setattr(database, "transaction", refuse)

    caller = Authenticator(database, LIFETIME, now=NOW + timedelta(hours=1)).authenticate(token)

    assert caller.account_id == account.id


def test_many_threads_can_authenticate_at_the_same_time(
    database: Database, account: Account, token: str
) -> None:
    authenticator = Authenticator(database, LIFETIME, now=NOW + timedelta(hours=1))
    found: list[str] = []

    def ask() -> None:
        found.append(authenticator.authenticate(token).account_id)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [account.id] * 8
