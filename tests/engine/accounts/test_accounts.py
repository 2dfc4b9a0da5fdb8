from __future__ import annotations

from datetime import UTC, datetime

import pytest
from jobs_support import LIFETIME
from sqlalchemy import select

from app.domain.audit_actions import Action
from app.domain.callers import Scope
from app.domain.errors import ApiAccessRequired
from app.engine.accounts import accounts, api_keys, sessions, workspaces
from app.engine.accounts.accounts import Account, EmailTaken, Role
from app.engine.accounts.api_keys import ApiKey
from app.engine.accounts.sessions import LoginSession
from app.engine.audit_log.entries import PendingEntry
from app.infra.database.session import Session

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)


@pytest.fixture
def account(session: Session) -> Account:
    workspace = workspaces.create(session, name="Acme", now=NOW)
    return accounts.create(
        session,
        workspace.id,
        email="ada@acme.example",
        name="Ada",
        password_hash="hash",
        role=Role.ADMIN,
        api_access=True,
        now=NOW,
    )


@pytest.fixture
def signed_in(session: Session, account: Account) -> LoginSession:
    return sessions.start(session, account.id, network=b"n", lifetime=LIFETIME, now=NOW)[0]


@pytest.fixture
def key(session: Session, account: Account) -> ApiKey:
    return api_keys.create(session, account.id, name="CRM", scopes=Scope, expires_at=None, now=NOW)[0]


def test_an_account_is_found_by_its_email(session: Session, account: Account) -> None:
    found = accounts.by_email(session, "ada@acme.example")

    assert found is account
    assert (account.role, account.api_access, account.disabled_at) == ("admin", True, None)


def test_an_unknown_email_has_no_account(session: Session, account: Account) -> None:
    found = accounts.by_email(session, "eve@acme.example")

    assert account.id
    assert found is None


def test_two_accounts_cannot_have_the_same_email(session: Session, account: Account) -> None:
    with pytest.raises(EmailTaken):
        accounts.create(
            session, account.workspace_id, email=account.email, name="Eve", password_hash="h", now=NOW
        )

    assert [token.name for token in accounts.list_all(session)] == ["Ada"]


def test_an_account_is_by_default_a_member_without_api_access(session: Session, account: Account) -> None:
    member = accounts.create(
        session, account.workspace_id, email="bob@acme.example", name="Bob", password_hash="h", now=NOW
    )

    assert (member.role, member.api_access) == ("member", False)


def test_accounts_are_listed_by_email(session: Session, account: Account) -> None:
    accounts.create(
        session, account.workspace_id, email="aaa@acme.example", name="A", password_hash="h", now=NOW
    )

    listed = accounts.list_all(session)

    assert [token.email for token in listed] == ["aaa@acme.example", "ada@acme.example"]


def test_api_access_can_be_granted_and_revoked(session: Session, account: Account) -> None:
    accounts.revoke_api_access(session, account.id, now=NOW)

    with pytest.raises(ApiAccessRequired):
        accounts.require_api_access(session, account.id)

    accounts.grant_api_access(session, account.id)
    accounts.require_api_access(session, account.id)


def test_revoking_api_access_revokes_the_keys_and_not_the_sessions(
    session: Session, account: Account, signed_in: LoginSession, key: ApiKey
) -> None:
    accounts.revoke_api_access(session, account.id, now=NOW)

    session.expire_all()
    assert key.revoked_at == NOW
    assert signed_in.revoked_at is None


def test_disabling_revokes_sessions_and_keys_and_enabling_does_not_restore_them(
    session: Session, account: Account, signed_in: LoginSession, key: ApiKey
) -> None:
    accounts.disable(session, account.id, now=NOW)
    accounts.enable(session, account.id)

    session.flush()
    session.expire_all()
    assert account.disabled_at is None
    assert (signed_in.revoked_at, key.revoked_at) == (NOW, NOW)


def test_disabling_twice_keeps_the_first_time(session: Session, account: Account) -> None:
    accounts.disable(session, account.id, now=NOW)

    accounts.disable(session, account.id, now=NOW.replace(hour=20))

    assert account.disabled_at == NOW


def test_a_new_password_revokes_sessions_and_keys(
    session: Session, account: Account, signed_in: LoginSession, key: ApiKey
) -> None:
    accounts.set_password(session, account.id, "new hash", now=NOW)

    session.flush()
    session.expire_all()
    assert account.password_hash == "new hash"
    assert (signed_in.revoked_at, key.revoked_at) == (NOW, NOW)


def test_the_tokens_of_other_accounts_stay_valid(
    session: Session, account: Account, signed_in: LoginSession
) -> None:
    other = accounts.create(
        session, account.workspace_id, email="bob@acme.example", name="Bob", password_hash="h", now=NOW
    )

    accounts.disable(session, other.id, now=NOW)

    session.expire_all()
    assert signed_in.revoked_at is None


def test_a_role_that_an_account_has_already_is_no_change(session: Session, account: Account) -> None:
    accounts.set_role(session, account.id, Role.ADMIN)
    accounts.set_role(session, account.id, Role.MEMBER)
    session.flush()

    recorded = session.scalars(select(PendingEntry.reason).where(PendingEntry.action == Action.ACCOUNT_ROLE))

    assert list(recorded) == ["member"]
