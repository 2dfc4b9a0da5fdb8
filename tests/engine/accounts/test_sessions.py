from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from jobs_support import LIFETIME
from sqlalchemy import func, insert, select

from app.domain import tokens
from app.domain.callers import Scope
from app.domain.errors import NotFound
from app.domain.tokens import TokenKind
from app.engine.accounts import accounts, sessions, workspaces
from app.engine.accounts.accounts import Account
from app.engine.accounts.sessions import LoginSession
from app.infra.database.session import Session

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@pytest.fixture
def account(session: Session) -> Account:
    workspace = workspaces.create(session, name="Acme", now=NOW)
    return accounts.create(
        session, workspace.id, email="ada@acme.example", name="Ada", password_hash="h", now=NOW
    )


def test_only_the_hash_of_a_sessions_token_is_stored(session: Session, account: Account) -> None:
    started, token = sessions.start(
        session,
        account.id,
        network=b"n",
        client_name="chrome",
        client_version="1.0",
        lifetime=LIFETIME,
        now=NOW,
    )

    assert tokens.kind_of(token) is TokenKind.SESSION
    assert started.token_hash == tokens.digest(token)
    assert (started.client_name, started.client_version) == ("chrome", "1.0")
    assert token not in str(vars(started))


def test_a_session_has_all_scopes(session: Session, account: Account) -> None:
    started, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)

    assert started.granted == tuple(Scope)


def test_a_session_expires_when_it_is_idle_for_two_weeks(session: Session, account: Account) -> None:
    started, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)

    assert started.ends_at(LIFETIME) == NOW + timedelta(days=14)


def test_a_session_in_daily_use_expires_after_ninety_days(session: Session, account: Account) -> None:
    started, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)

    started.last_used_at = NOW + timedelta(days=89)

    assert started.ends_at(LIFETIME) == NOW + timedelta(days=90)


def test_signing_out_revokes_only_that_session(session: Session, account: Account) -> None:
    first, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)
    second, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)

    sessions.end(session, account.id, first.id, now=NOW)

    session.flush()
    session.expire_all()
    assert (first.revoked_at, second.revoked_at) == (NOW, None)


def test_the_least_recently_used_sessions_above_the_limit_end(session: Session, account: Account) -> None:
    first, second, third, newest = (
        sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=at)[0]
        for at in (NOW, NOW + timedelta(minutes=1), NOW + timedelta(minutes=2), NOW + timedelta(minutes=3))
    )
    now = NOW + timedelta(hours=1)
    first.last_used_at = now

    sessions.end_excess(session, newest, limit=2, lifetime=LIFETIME, now=now)

    session.expire_all()
    assert [row.revoked_at for row in (first, second, third, newest)] == [None, now, now, None]


def test_thousands_of_sessions_above_the_limit_end_at_once(session: Session, account: Account) -> None:
    newest, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)
    columns = {column.key: getattr(newest, column.key) for column in LoginSession.__table__.c}
    others = [{"id": f"ses_{number}", "token_hash": str(number).encode()} for number in range(12_000)]
    session.execute(insert(LoginSession), [columns | other for other in others])

    sessions.end_excess(session, newest, limit=100, lifetime=LIFETIME, now=NOW)

    valid = select(func.count()).select_from(LoginSession).where(LoginSession.revoked_at.is_(None))
    assert session.scalar(valid) == 100


def test_expired_sessions_do_not_count_towards_the_limit(session: Session, account: Account) -> None:
    now = NOW + LIFETIME.idle
    idle, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)
    newest, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=now)

    sessions.end_excess(session, newest, limit=1, lifetime=LIFETIME, now=now)

    session.expire_all()
    assert (idle.revoked_at, newest.revoked_at) == (None, None)


def test_revoking_all_sessions_does_not_change_those_revoked_before(
    session: Session, account: Account
) -> None:
    first, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)
    second, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)
    sessions.end(session, account.id, first.id, now=NOW)

    sessions.end_all(session, account.id, now=NOW + timedelta(hours=1))

    session.expire_all()
    assert (first.revoked_at, second.revoked_at) == (NOW, NOW + timedelta(hours=1))


def test_revoking_a_session_again_does_not_change_the_time(session: Session, account: Account) -> None:
    started, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)
    sessions.end(session, account.id, started.id, now=NOW)

    sessions.end(session, account.id, started.id, now=NOW + timedelta(hours=1))

    assert started.revoked_at == NOW


@pytest.mark.parametrize("session_id", ["ses_" + "0" * 24, "no id", ""])
def test_a_session_that_the_account_does_not_have_is_not_found(
    session: Session, account: Account, session_id: str
) -> None:
    with pytest.raises(NotFound):
        sessions.end(session, account.id, session_id, now=NOW)


def test_another_accounts_session_is_not_found_and_stays_valid(session: Session, account: Account) -> None:
    started, _ = sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)

    with pytest.raises(NotFound):
        sessions.end(session, "acc_of_somebody_else", started.id, now=NOW)

    assert started.revoked_at is None


def test_revoking_all_but_one_returns_how_many_were_revoked(session: Session, account: Account) -> None:
    begun = [
        sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)[0] for _ in range(3)
    ]

    ended = sessions.end_all(session, account.id, spared=begun[1].id, now=NOW)

    session.expire_all()
    assert ended == 2
    assert [other.revoked_at for other in begun] == [NOW, None, NOW]


def test_only_valid_sessions_are_listed_last_used_first(session: Session, account: Account) -> None:
    ended, idle, old, first, second = (
        sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)[0] for _ in range(5)
    )
    ended.revoked_at = NOW
    idle.last_used_at = NOW - timedelta(days=14)
    old.expires_at = NOW
    first.last_used_at = NOW - timedelta(hours=1)
    session.flush()

    listed = sessions.of_account(session, account.id, lifetime=LIFETIME, now=NOW)

    assert [other.id for other in listed] == [second.id, first.id]


def test_a_network_is_known_once_the_account_has_signed_in_from_it(
    session: Session, account: Account
) -> None:
    sessions.start(session, account.id, network=b"home", lifetime=LIFETIME, now=NOW)

    assert sessions.has_signed_in_from(session, account.id, b"home")
    assert not sessions.has_signed_in_from(session, account.id, b"elsewhere")
    assert not sessions.has_signed_in_from(session, None, b"home")


def test_sessions_are_deleted_after_their_absolute_expiry(session: Session, account: Account) -> None:
    sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW - timedelta(days=90))
    sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)

    forgotten = sessions.purge_expired(session, now=NOW)

    assert forgotten == 1
    assert session.scalar(select(func.count()).select_from(LoginSession)) == 1
