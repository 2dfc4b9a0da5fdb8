"""The company accounts with which accounts sign in: users of an OpenID provider, by issuer and subject.

An e-mail address can be given to someone else; a subject cannot. So the address only finds the account at the
first sign-in, and only if the provider says that it is verified. The person who created the account may know
its password without owning the address, so from then on only the company signs the account in.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import ForeignKey, String, delete, exists, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.audit_actions import Action
from app.domain.errors import AccountDisabled, CompanyAccountRefused
from app.engine.accounts import accounts, totp
from app.engine.accounts.accounts import Account, EmailTaken, Role
from app.engine.accounts.workspaces import Workspace
from app.engine.audit_log import entries as audit_log
from app.features.company_sign_in import codes
from app.features.company_sign_in.users import CompanyUser
from app.infra.crypto import passwords
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert
from app.infra.database.session import Session
from app.infra.telemetry.log import log

MAX_SUBJECT = 255  # OpenID Connect Core 1.0, section 2


class CompanyIdentity(Base):
    """A user of an OpenID provider, and the account that this user signs in to."""

    __tablename__ = "company_identities"

    issuer: Mapped[str] = mapped_column(primary_key=True)
    subject: Mapped[str] = mapped_column(String(MAX_SUBJECT), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime]


def sign_in(session: Session, user: CompanyUser, workspaces: Mapping[str, str], *, now: datetime) -> Account:
    """Return the user's account, with the role that the provider states; link or create it if necessary.

    `workspaces` are the workspaces for new accounts, by e-mail domain.
    """
    account_id = (
        _account_id(session, user) or _linked(session, user, now) or _created(session, user, workspaces, now)
    )
    if account_id is None:
        raise CompanyAccountRefused
    account = accounts.locked(session, account_id)
    if account.disabled_at is not None:
        raise AccountDisabled
    if user.access is not None:
        accounts.set_role(session, account_id, Role(user.access))
    return account


def withdraw(session: Session, user: CompanyUser, *, now: Moment) -> None:
    """Revoke all sessions, API keys and unused codes of the account of a user who no longer has access."""
    account_id = _account_id(session, user)
    if account_id is not None:
        accounts.end_all(session, account_id, now=now)
        codes.revoke_all(session, account_id)


def link(session: Session, issuer: str, subject: str, account_id: str, *, now: Moment) -> bool:
    """Link a user of the provider to this account; return False if the user has another account."""
    statement = insert(session, CompanyIdentity).values(
        issuer=issuer, subject=subject, account_id=account_id, created_at=now
    )
    linked = statement.on_conflict_do_nothing().returning(CompanyIdentity.account_id)
    added = session.scalars(linked).all()
    audit_log.record_each(session, Action.COMPANY_IDENTITY_LINK, added, account_id=account_id)
    found = session.get_one(CompanyIdentity, (issuer, subject), populate_existing=True)
    return found.account_id == account_id


def unlink(session: Session, account_id: str) -> int:
    """Remove all company accounts of an account; return their number."""
    removed = delete(CompanyIdentity).where(CompanyIdentity.account_id == account_id)
    number = len(session.execute(removed.returning(CompanyIdentity.subject)).all())
    if number:
        audit_log.record_each(session, Action.COMPANY_IDENTITY_UNLINK, [account_id], account_id=account_id)
    return number


def have_domain(session: Session, issuer: str, workspace_id: str, domain: str) -> bool:
    """Return whether a user of the provider has an account of the workspace with this e-mail domain."""
    query = select(Account.email).join(CompanyIdentity, CompanyIdentity.account_id == Account.id)
    emails = session.scalars(
        query.where(CompanyIdentity.issuer == issuer, Account.workspace_id == workspace_id)
    )
    return any(email.rpartition("@")[2] == domain for email in emails)


def _account_id(session: Session, user: CompanyUser) -> str | None:
    query = select(CompanyIdentity.account_id)
    return session.scalar(
        query.where(CompanyIdentity.issuer == user.issuer, CompanyIdentity.subject == user.subject)
    )


def _linked(session: Session, user: CompanyUser, now: Moment) -> str | None:
    """Link the account with the user's verified e-mail address and return its id, or None without one.

    Its password, codes, sessions and API keys end.
    """
    account = None if user.email is None else accounts.by_email(session, user.email)
    if account is None:
        return None
    accounts.locked(session, account.id)  # so that two first sign-ins do not both link it
    has_other = exists().where(
        CompanyIdentity.account_id == account.id,
        CompanyIdentity.issuer == user.issuer,
        CompanyIdentity.subject != user.subject,
    )
    if session.scalar(select(has_other)):
        raise CompanyAccountRefused(
            "The account with this e-mail address belongs to another company account. If that was yours, ask "
            "your admin to remove it: flask accounts unlink EMAIL."
        )
    if _account_id(session, user) is None:  # otherwise the user has linked it in another window
        link(session, user.issuer, user.subject, account.id, now=now)
        _end_earlier_access(session, account, now)
    return account.id


def _end_earlier_access(session: Session, account: Account, now: Moment) -> None:
    accounts.set_password(session, account.id, passwords.unusable(), now=now)
    codes.revoke_all(session, account.id)
    if account.totp_enabled_at is not None:
        totp.disable(session, account.id)


def _created(session: Session, user: CompanyUser, workspaces: Mapping[str, str], now: Moment) -> str | None:
    """Create an account in the workspace of the user's e-mail domain, and return its id."""
    workspace_id = workspaces.get(user.domain)
    if user.email is None or workspace_id is None:
        raise CompanyAccountRefused(
            "There is no account for this company account. Ask your admin to create one with its verified "
            "e-mail address."
        )
    if session.get(Workspace, workspace_id) is None:
        log.error("workspace in OIDC_CREATE_ACCOUNTS does not exist", workspace=workspace_id)
        raise CompanyAccountRefused
    try:
        account = accounts.create(
            session,
            workspace_id,
            email=user.email,
            name=user.name,
            password_hash=passwords.unusable(),
            role=accounts.default_role(session, workspace_id),
            now=now,
        )
    except EmailTaken:  # by the same user's sign-in in another window
        return _linked(session, user, now)
    link(session, user.issuer, user.subject, account.id, now=now)
    return account.id
