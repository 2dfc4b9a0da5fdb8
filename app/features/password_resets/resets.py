"""The links with which an account gets a new password: each works once, until it expires.

Only a hash of the link's token is stored. A link ends when the account gets another address or password
meanwhile, or the admin who made it is no longer one, and all links of an account end when one is used.
Messages are requested as the codes of mailboxes are: at most one in 20 minutes to each address, and a request
does the same work for an address without an account, so that neither the response nor its time says who has
one.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import ForeignKey, String, delete, or_, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.audit_actions import Action
from app.domain.ids import new_id
from app.domain.kinds import MAIL_PASSWORD_RESET
from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account, Role
from app.engine.audit_log import entries as audit_log
from app.engine.work import items, specs, turns
from app.engine.work.items import NewItem, WorkItem
from app.engine.work.specs import WorkSpec
from app.engine.work.turns import Turn
from app.features.password_resets import rules
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert_into
from app.infra.database.session import Session
from app.infra.languages.catalogues import SOURCE
from app.settings import Settings

MAILED_FOR = timedelta(hours=1)
"""How long a link that was sent by mail can be used."""
SHOWN_FOR = timedelta(hours=24)
"""How long a link can be used that an admin passes on."""
PAUSE = timedelta(minutes=20)
"""The time after which another message is sent to the same address."""
SENDING = specs.register(
    WorkSpec(
        task=MAIL_PASSWORD_RESET,
        label="password_reset",
        lease=timedelta(seconds=90),
        republish_after=timedelta(seconds=30),
        max_attempts=5,
        retry_after=timedelta(minutes=2),
        per_key=2,
    )
)
_PURPOSE = "password reset"


class PasswordReset(Base):
    """A link of an account.

    One that is sent by mail has no token before, and no account if nobody has the address. `address_digest`
    is keyed; `issued_for` is a hash of the address and the password that the account had. `admin_id` is the
    account of the admin who made it. `language` is that of the request for a message.
    """

    __tablename__ = "password_resets"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    address_digest: Mapped[bytes | None] = mapped_column(unique=True)
    token_digest: Mapped[bytes | None] = mapped_column(unique=True)
    issued_for: Mapped[bytes | None]
    admin_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    language: Mapped[str | None] = mapped_column(String(8))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


@dataclass(frozen=True, slots=True)
class ResetMessage:
    """A link to send to an address, in the account's language, or that of the request."""

    email: str
    language: str
    token: str = field(repr=False)


def issue(
    session: Session, account: Account, *, admin_id: str | None = None, now: Moment
) -> tuple[str, datetime]:
    """Insert a link for the account, which replaces those shown earlier; return its token and its end.

    `admin_id` is the account of an admin; an operator's command has none.
    """
    earlier = delete(PasswordReset).where(
        PasswordReset.account_id == account.id, PasswordReset.address_digest.is_(None)
    )
    session.execute(earlier.execution_options(synchronize_session=False))
    token = secrets.token_urlsafe(32)
    reset = PasswordReset(
        id=new_id("pwr"),
        account_id=account.id,
        token_digest=_digest(token),
        issued_for=_state(account),
        admin_id=admin_id,
        created_at=now,
        expires_at=now + SHOWN_FOR,
    )
    session.add(reset)
    session.flush()
    session.refresh(reset)
    audit_log.record(
        session, Action.PASSWORD_RESET_LINK, object_id=account.id, workspace_id=account.workspace_id
    )
    return token, reset.expires_at


def request(session: Session, email: str, *, language: str = SOURCE, now: Moment) -> str | None:
    """Request a link for the address if an account has it, in this language unless the account has one.

    Return the id of the work, or None if one was sent a short time ago.
    """
    account = accounts.by_email(session, email)
    address = session.keys.digest(_PURPOSE, email)
    unsent = {
        "account_id": account.id if account else None,
        "token_digest": None,
        "issued_for": None,
        "language": language,
        "created_at": now,
        "expires_at": now + MAILED_FOR,
    }
    insertion = insert_into(session.get_bind().dialect.name, PasswordReset).values(
        id=new_id("pwr"), address_digest=address, **unsent
    )
    failed = select(WorkItem.id).where(WorkItem.id == PasswordReset.id, WorkItem.failed_at.is_not(None))
    is_over = or_(PasswordReset.created_at <= now - PAUSE, failed.exists())
    begun: str | None = session.scalar(
        insertion.on_conflict_do_update(index_elements=["address_digest"], set_=unsent, where=is_over)
        .returning(PasswordReset.id)
        .execution_options(synchronize_session=False)
    )
    if begun is not None:
        items.add(session, SENDING, NewItem(begun, None, now))
    return begun


def begin_sending(session: Session, turn: Turn, settings: Settings, *, now: Moment) -> ResetMessage | None:
    """Store a new token and return the message; None if there is no account, or it may have no password."""
    query = select(PasswordReset.account_id, PasswordReset.language).where(
        PasswordReset.id == turn.id, PasswordReset.expires_at > now
    )
    account_id, requested = session.execute(query).one_or_none() or (None, None)
    account = None if account_id is None else accounts.locked(session, account_id)
    if account is None or rules.refusal(account, settings):
        turns.end(session, turn)
        return None
    token = secrets.token_urlsafe(32)
    stored = update(PasswordReset).where(PasswordReset.id == turn.id)
    stored = stored.values(
        token_digest=_digest(token), issued_for=_state(account), expires_at=now + MAILED_FOR
    )
    session.execute(stored.execution_options(synchronize_session=False))
    audit_log.record(
        session, Action.PASSWORD_RESET_MAIL, object_id=account.id, workspace_id=account.workspace_id
    )
    turns.renew(session, turn, now=now)
    return ResetMessage(account.email, account.language or requested or SOURCE, token)


def account_of(session: Session, token: str, *, now: Moment) -> Account | None:
    """Return the account of a link that can be used, and lock it; None for every other token."""
    query = select(PasswordReset.account_id, PasswordReset.issued_for, PasswordReset.admin_id)
    found = session.execute(
        query.where(PasswordReset.token_digest == _digest(token), PasswordReset.expires_at > now)
    ).one_or_none()
    if found is None or found.account_id is None:
        return None
    account = accounts.locked(session, found.account_id)
    is_current = account.disabled_at is None and secrets.compare_digest(found.issued_for, _state(account))
    return account if is_current and _may_have_made(session, found.admin_id) else None


def _may_have_made(session: Session, admin_id: str | None) -> bool:
    """Return whether who made a link is still an admin: somebody who leaves may have kept one."""
    if admin_id is None:
        return True
    is_admin = (Account.id == admin_id, Account.role == Role.ADMIN.value, Account.disabled_at.is_(None))
    return session.scalar(select(Account.id).where(*is_admin)) is not None


def end_all(session: Session, account_id: str) -> None:
    """Delete the links of the account."""
    ended = delete(PasswordReset).where(PasswordReset.account_id == account_id).returning(PasswordReset.id)
    items.remove(session, session.scalars(ended.execution_options(synchronize_session=False)).all())


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete the links that have expired."""
    expired = delete(PasswordReset).where(PasswordReset.expires_at <= now).returning(PasswordReset.id)
    items.remove(session, session.scalars(expired.execution_options(synchronize_session=False)).all())


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _state(account: Account) -> bytes:
    """Return a hash of what a link is issued for: another address or password ends it."""
    return hashlib.sha256(f"{account.email}\0{account.password_hash}".encode()).digest()
