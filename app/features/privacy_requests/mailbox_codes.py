"""Codes that are sent to e-mail addresses: at most one in 20 minutes to each, no matter who requests it.

Each request for an address is for the same code, as long as that can still be used for 20 minutes: requests
of a stranger neither fill a mailbox nor keep its owner from getting a code. The address is encrypted, the
code is stored as a keyed digest, and the row is deleted when the code is used or expires. A message that the
mail server does not accept is tried again a few times; the next request for the address begins anew.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import String, delete, or_, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.ids import new_id
from app.domain.kinds import MAIL_CODE
from app.engine.accounts import accounts
from app.engine.work import items, specs, turns
from app.engine.work.items import NewItem, WorkItem
from app.engine.work.specs import WorkSpec
from app.engine.work.turns import Turn
from app.infra.crypto import encryption
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert_into
from app.infra.database.session import Session
from app.infra.languages.catalogues import SOURCE

USABLE_FOR = timedelta(minutes=20)
"""How long a code can be used after any request for it; a request for an older one replaces it."""
LIFETIME = 2 * USABLE_FOR
DIGITS = 12
"""Enough to need no limit on guesses, which a stranger could use up to lock out the owner of the mailbox."""
SENDING = specs.register(
    WorkSpec(
        task=MAIL_CODE,
        label="mailbox_code",
        lease=timedelta(seconds=90),
        republish_after=timedelta(seconds=30),
        max_attempts=5,
        retry_after=timedelta(minutes=2),
        per_key=2,
    )
)
"""Two messages at a time: a mail server that does not respond must not occupy more threads."""
_PURPOSE = "mailbox code"


class MailboxCode(Base):
    """The code of an address; `address_digest` is keyed, and `email` is encrypted.

    `code_digest` is of the last code that was sent, null before it. `language` is that of the request.
    """

    __tablename__ = "mailbox_codes"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    address_digest: Mapped[bytes] = mapped_column(unique=True, index=True)
    email: Mapped[bytes]
    code_digest: Mapped[bytes | None]
    sent_at: Mapped[datetime | None]
    language: Mapped[str | None] = mapped_column(String(8))
    expires_at: Mapped[datetime] = mapped_column(index=True)


@dataclass(frozen=True, slots=True)
class CodeMessage:
    """A code to send to an address, in the language of its account, or that of the request."""

    email: str
    language: str
    code: str


def address_digest(session: Session, email: str) -> bytes:
    """Return the digest by which the code of an address in normal form is found."""
    return session.keys.digest(_PURPOSE, email)


def request(session: Session, email: str, *, language: str = SOURCE, now: Moment) -> str:
    """Return the id of the address's code; a worker sends it, unless it was sent in the last 20 minutes."""
    address, code_id = address_digest(session, email), new_id("mbc")
    unsent = {"code_digest": None, "sent_at": None, "language": language, "expires_at": now + LIFETIME}
    sealed = encryption.encrypt(session.keys, _PURPOSE, code_id, email.encode())
    insertion = insert_into(session.get_bind().dialect.name, MailboxCode).values(
        id=code_id, address_digest=address, email=sealed, **unsent
    )
    failed = select(WorkItem.id).where(WorkItem.id == MailboxCode.id, WorkItem.failed_at.is_not(None))
    is_over = or_(MailboxCode.expires_at < now + USABLE_FOR, failed.exists())
    begun: str | None = session.scalar(
        insertion.on_conflict_do_update(index_elements=["address_digest"], set_=unsent, where=is_over)
        .returning(MailboxCode.id)
        .execution_options(synchronize_session=False)
    )
    if begun is None:
        return session.scalars(select(MailboxCode.id).where(MailboxCode.address_digest == address)).one()
    items.add(session, SENDING, NewItem(begun, None, now))
    return begun


def begin_sending(session: Session, turn: Turn, *, now: Moment) -> CodeMessage | None:
    """Store a new code and return the message; None if it was used or has expired meanwhile."""
    code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
    row = session.execute(
        update(MailboxCode)
        .where(MailboxCode.id == turn.id, MailboxCode.expires_at > now)
        .values(code_digest=_digest(session, code))
        .returning(MailboxCode.email, MailboxCode.language)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if row is None:
        turns.end(session, turn)
        return None
    turns.renew(session, turn, now=now)
    email = encryption.decrypt(session.keys, _PURPOSE, turn.id, row.email).decode()
    account = accounts.by_email(session, email)
    chosen = None if account is None else account.language
    return CodeMessage(email, chosen or row.language or SOURCE, code)


def finish_sending(session: Session, turn: Turn, *, now: Moment) -> None:
    """Record that the mail server accepted the message."""
    sent = update(MailboxCode).where(MailboxCode.id == turn.id).values(sent_at=now)
    session.execute(sent.execution_options(synchronize_session=False))
    turns.end(session, turn)


def use(session: Session, address: bytes, code: str, *, now: Moment) -> bool:
    """Delete the code of the address if it is this one; return whether it is. A code can be used once."""
    is_valid = (MailboxCode.address_digest == address, MailboxCode.expires_at > now)
    stored, given = session.scalar(select(MailboxCode.code_digest).where(*is_valid)), _digest(session, code)
    if stored is None or not hmac.compare_digest(stored, given):
        return False
    used = delete(MailboxCode).where(*is_valid, MailboxCode.code_digest == given).returning(MailboxCode.id)
    return session.scalar(used.execution_options(synchronize_session=False)) is not None


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete the codes that have expired."""
    expired = delete(MailboxCode).where(MailboxCode.expires_at <= now).returning(MailboxCode.id)
    items.remove(session, session.scalars(expired.execution_options(synchronize_session=False)).all())


def _digest(session: Session, code: str) -> bytes:
    return session.keys.digest(f"{_PURPOSE} digits", code)
