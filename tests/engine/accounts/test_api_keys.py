from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from users_support import keys_of

from app.domain import tokens
from app.domain.callers import Scope
from app.domain.errors import NotFound, ValidationFailed
from app.domain.ids import new_id
from app.domain.tokens import TokenKind
from app.engine.accounts import accounts, api_keys, workspaces
from app.engine.accounts.accounts import Account
from app.engine.accounts.api_keys import ApiKey
from app.infra.database.session import Session

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@pytest.fixture
def account(session: Session) -> Account:
    workspace = workspaces.create(session, name="Acme", now=NOW)
    return accounts.create(
        session, workspace.id, email="ada@acme.example", name="Ada", password_hash="h", now=NOW
    )


@pytest.fixture
def other(session: Session, account: Account) -> Account:
    return accounts.create(
        session, account.workspace_id, email="bob@acme.example", name="Bob", password_hash="h", now=NOW
    )


def test_only_the_hash_and_the_first_characters_of_a_key_are_stored(
    session: Session, account: Account
) -> None:
    key, text = api_keys.create(session, account.id, name="CRM", scopes=Scope, expires_at=None, now=NOW)

    assert tokens.kind_of(text) is TokenKind.API_KEY
    assert (key.token_hash, key.prefix) == (tokens.digest(text), text[:12])
    assert text not in str(vars(key))


def test_a_key_has_each_of_its_scopes_once(session: Session, account: Account) -> None:
    scopes = [Scope.REVEAL, Scope.LOOKUP, Scope.REVEAL]

    key, _ = api_keys.create(session, account.id, name="CRM", scopes=scopes, expires_at=None, now=NOW)

    assert key.scopes == [Scope.LOOKUP, Scope.REVEAL]


def test_a_key_expires_at_the_given_time(session: Session, account: Account) -> None:
    end = NOW + timedelta(days=1)

    key, _ = api_keys.create(session, account.id, name="CRM", scopes=Scope, expires_at=end, now=NOW)

    assert key.expires_at == end


def test_the_list_has_the_accounts_valid_keys_newest_first(
    session: Session, account: Account, other: Account
) -> None:
    first, _ = api_keys.create(session, account.id, name="1", scopes=Scope, expires_at=None, now=NOW)
    first.id = "key_000000000000000000000000"
    second, _ = api_keys.create(session, account.id, name="2", scopes=Scope, expires_at=None, now=NOW)
    gone, _ = api_keys.create(session, account.id, name="3", scopes=Scope, expires_at=None, now=NOW)
    api_keys.create(session, other.id, name="4", scopes=Scope, expires_at=None, now=NOW)
    api_keys.revoke(session, account.id, gone.id, now=NOW)

    listed = keys_of(session, account.id)

    assert [key.name for key in listed] == [second.name, first.name]


def test_revoking_twice_keeps_the_first_time(session: Session, account: Account) -> None:
    key, _ = api_keys.create(session, account.id, name="CRM", scopes=Scope, expires_at=None, now=NOW)
    api_keys.revoke(session, account.id, key.id, now=NOW)

    api_keys.revoke(session, account.id, key.id, now=NOW + timedelta(hours=1))

    assert key.revoked_at == NOW


def test_another_accounts_key_is_not_found(session: Session, account: Account, other: Account) -> None:
    theirs, _ = api_keys.create(session, other.id, name="CRM", scopes=Scope, expires_at=None, now=NOW)

    with pytest.raises(NotFound) as foreign:
        api_keys.revoke(session, account.id, theirs.id, now=NOW)
    with pytest.raises(NotFound) as unknown:
        api_keys.revoke(session, account.id, new_id("key"), now=NOW)
    with pytest.raises(NotFound) as misshapen:
        api_keys.revoke(session, account.id, "key_%", now=NOW)

    assert theirs.revoked_at is None
    assert foreign.value.as_dict() == unknown.value.as_dict() == misshapen.value.as_dict()


def test_keys_that_no_longer_work_leave_room_for_others(
    session: Session, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_keys, "MAX_KEYS", 1)

    def create(expires_at: datetime | None) -> ApiKey:
        return api_keys.create(session, account.id, name="CRM", scopes=Scope, expires_at=expires_at, now=NOW)[
            0
        ]

    create(NOW)  # it ends at this moment
    revoked = create(None)
    api_keys.revoke(session, account.id, revoked.id, now=NOW)
    create(NOW + timedelta(days=1))

    with pytest.raises(ValidationFailed):
        create(None)
