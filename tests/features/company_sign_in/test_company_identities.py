from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from jobs_support import LIFETIME
from sqlalchemy import select

from app.domain.audit_actions import Action
from app.domain.callers import Scope
from app.domain.errors import AccountDisabled, CompanyAccountRefused
from app.engine.accounts import accounts, api_keys, sessions, workspaces
from app.engine.accounts.accounts import Account, EmailTaken
from app.engine.accounts.sessions import LoginSession
from app.engine.audit_log.entries import PendingEntry
from app.features.company_sign_in import codes, identities
from app.features.company_sign_in.users import CompanyUser
from app.infra.crypto import passwords
from app.infra.database.session import Session

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
ADA = CompanyUser("https://login.example", "sub-ada", "ada@acme.example", "Ada Lovelace", None)


@pytest.fixture
def workspace_id(session: Session) -> str:
    return workspaces.create(session, name="Acme", now=NOW).id


@pytest.fixture
def account(session: Session, workspace_id: str) -> Account:
    return accounts.create(
        session, workspace_id, email="ada@acme.example", name="Ada", password_hash="h", now=NOW
    )


def test_the_first_sign_in_links_the_account_with_the_verified_address(
    session: Session, account: Account
) -> None:
    signed_in = identities.sign_in(session, ADA, {}, now=NOW)

    assert signed_in.id == account.id


def test_the_first_sign_in_ends_all_earlier_access_to_the_account(session: Session, account: Account) -> None:
    """Whoever created the account knows its password, and need not be the owner of the address."""
    account.password_hash = passwords.hash_password("known to who created it")
    account.totp_enabled_at = NOW
    started, _ = sessions.start(session, account.id, network=b"", lifetime=LIFETIME, now=NOW)
    key, _ = api_keys.create(session, account.id, name="CRM", scopes=Scope, expires_at=None, now=NOW)
    code = codes.issue(session, account.id, codes.challenge_of("v" * 43), now=NOW)

    identities.sign_in(session, ADA, {}, now=NOW)

    session.flush()
    session.expire_all()
    assert not passwords.verify(account.password_hash, "known to who created it")
    assert (started.revoked_at, key.revoked_at, account.totp_enabled_at) == (NOW, NOW, None)
    assert codes.redeem(session, code, "v" * 43, now=NOW) is None


def test_later_sign_ins_end_nothing(
    session: Session, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    identities.sign_in(session, ADA, {}, now=NOW)
    accounts.set_password(session, account.id, "set by the operator", now=NOW)
    started, _ = sessions.start(session, account.id, network=b"", lifetime=LIFETIME, now=NOW)
    found = iter([None])  # the account is linked in another window after it was not found
    account_id = identities._account_id  # noqa: SLF001 -- to see it before the other window
    monkeypatch.setattr(identities, "_account_id", lambda *arguments: next(found, account_id(*arguments)))

    identities.sign_in(session, ADA, {}, now=NOW)
    identities.sign_in(session, ADA, {}, now=NOW)

    session.flush()
    session.expire_all()
    assert (account.password_hash, started.revoked_at) == ("set by the operator", None)


def test_a_linked_user_keeps_the_account_after_a_change_of_address(
    session: Session, account: Account
) -> None:
    identities.sign_in(session, ADA, {}, now=NOW)
    renamed = replace(ADA, email="ada.king@acme.example")

    assert identities.sign_in(session, renamed, {}, now=NOW).id == account.id
    assert identities.sign_in(session, replace(ADA, email=None), {}, now=NOW).id == account.id


def test_another_user_who_got_the_address_does_not_get_the_account(
    session: Session, account: Account
) -> None:
    identities.sign_in(session, ADA, {}, now=NOW)

    with pytest.raises(CompanyAccountRefused):
        identities.sign_in(session, replace(ADA, subject="sub-new-ada"), {}, now=NOW)


def test_an_address_that_is_not_verified_links_and_creates_nothing(
    session: Session, account: Account, workspace_id: str
) -> None:
    unverified = replace(ADA, email=None)

    with pytest.raises(CompanyAccountRefused):
        identities.sign_in(session, unverified, {"acme.example": workspace_id}, now=NOW)


def test_an_account_is_created_in_the_workspace_of_the_domain_without_a_password(
    session: Session, workspace_id: str
) -> None:
    created = identities.sign_in(session, ADA, {"acme.example": workspace_id}, now=NOW)

    assert (created.workspace_id, created.email, created.name) == (workspace_id, ADA.email, ADA.name)
    assert (created.role, created.api_access) == ("admin", False)  # the first account of the workspace
    assert not passwords.verify(created.password_hash, "")


@pytest.mark.parametrize("domain", ["other.example", "sub.acme.example", "example"])
def test_no_account_is_created_for_another_domain(session: Session, workspace_id: str, domain: str) -> None:
    with pytest.raises(CompanyAccountRefused):
        identities.sign_in(session, ADA, {domain: workspace_id}, now=NOW)


def test_no_account_is_created_in_a_workspace_that_does_not_exist(session: Session) -> None:
    with pytest.raises(CompanyAccountRefused):
        identities.sign_in(session, ADA, {"acme.example": "wks_missing"}, now=NOW)


def test_the_role_follows_the_provider_at_each_sign_in(session: Session, account: Account) -> None:
    identities.sign_in(session, replace(ADA, access="admin"), {}, now=NOW)
    assert account.role == "admin"

    identities.sign_in(session, replace(ADA, access="member"), {}, now=NOW)
    assert account.role == "member"


def test_without_a_role_claim_the_role_stays(session: Session, account: Account) -> None:
    account.role = "admin"

    identities.sign_in(session, ADA, {}, now=NOW)

    assert account.role == "admin"


def test_a_disabled_account_is_refused(session: Session, account: Account) -> None:
    accounts.disable(session, account.id, now=NOW)

    with pytest.raises(AccountDisabled):
        identities.sign_in(session, ADA, {}, now=NOW)


def test_a_user_without_access_any_more_loses_the_sessions(session: Session, account: Account) -> None:
    identities.sign_in(session, ADA, {}, now=NOW)
    started, _ = sessions.start(session, account.id, network=b"", lifetime=LIFETIME, now=NOW)

    identities.withdraw(session, replace(ADA, access="none"), now=NOW)

    session.expire_all()
    assert session.get_one(LoginSession, started.id).revoked_at is not None


def test_an_address_that_is_taken_at_the_same_moment_gets_no_second_account(
    session: Session, workspace_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(*_arguments: object, **_options: object) -> Account:
        raise EmailTaken

    monkeypatch.setattr(accounts, "create", taken)

    with pytest.raises(CompanyAccountRefused):
        identities.sign_in(session, ADA, {"acme.example": workspace_id}, now=NOW)


def test_a_user_without_an_account_has_nothing_to_withdraw(session: Session, account: Account) -> None:
    identities.withdraw(session, ADA, now=NOW)

    assert account.disabled_at is None


def test_an_account_without_company_accounts_has_none_to_unlink(session: Session, account: Account) -> None:
    assert identities.unlink(session, account.id) == 0

    actions = set(session.scalars(select(PendingEntry.action)))

    assert Action.COMPANY_IDENTITY_UNLINK not in actions
