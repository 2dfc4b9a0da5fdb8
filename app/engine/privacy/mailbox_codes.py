"""Codes that are sent to e-mail addresses: at most one in 20 minutes to each, no matter who requests it.

Each request for an address is for the same code, as long as that can still be used for 20 minutes: requests
of a stranger neither fill a mailbox nor keep its owner from getting a code. The address is encrypted, the
code is stored as a keyed digest, and the row is deleted when the code is used or expires.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from sqlalchemy import Index, String, delete, select, text, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.ids import new_id
from app.infra.crypto import encryption
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base, insert_into
from app.infra.database.session import Session
from app.infra.database.statements import IdRow, Statement

USABLE_FOR = timedelta(minutes=20)
"""How long a code can be used after any request for it; a request for an older one replaces it."""
LIFETIME = 2 * USABLE_FOR
DIGITS = 12
"""Enough to need no limit on guesses, which a stranger could use up to lock out the owner of the mailbox."""
_SENDING = timedelta(seconds=90)
"""How long a worker has to send the message before another one tries."""
_PURPOSE = "mailbox code"
_UNSENT = text("sent_at IS NULL")
_BATCH = 50


class MailboxCode(Base):
    """The code of an address; `address_digest` is keyed, and `email` is encrypted.

    `code_digest` is of the last code that was sent, null before it. `next_at` is when the message is due.
    """

    __tablename__ = "mailbox_codes"
    __table_args__ = (
        Index("ix_mailbox_codes_next_at", "next_at", sqlite_where=_UNSENT, postgresql_where=_UNSENT),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    address_digest: Mapped[bytes] = mapped_column(unique=True, index=True)
    email: Mapped[bytes]
    code_digest: Mapped[bytes | None]
    next_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    expires_at: Mapped[datetime] = mapped_column(index=True)


@dataclass(frozen=True, slots=True)
class CodeMessage:
    """A code to send to an address."""

    email: str
    code: str


def address_digest(session: Session, email: str) -> bytes:
    """Return the digest by which the code of an address in normal form is found."""
    return session.keys.digest(_PURPOSE, email)


def request(session: Session, email: str, *, now: Moment) -> str:
    """Return the id of the address's code; a worker sends it, unless it was sent in the last 20 minutes."""
    address, code_id = address_digest(session, email), new_id("mbc")
    values = {
        "id": code_id,
        "email": encryption.encrypt(session.keys, _PURPOSE, code_id, email.encode()),
        "code_digest": None,
        "next_at": now,
        "sent_at": None,
        "expires_at": now + LIFETIME,
    }
    insertion = insert_into(session.get_bind().dialect.name, MailboxCode).values(
        address_digest=address, **values
    )
    is_old = MailboxCode.expires_at < now + USABLE_FOR
    session.execute(
        insertion.on_conflict_do_update(index_elements=["address_digest"], set_=values, where=is_old)
    )
    return session.scalars(select(MailboxCode.id).where(MailboxCode.address_digest == address)).one()


def due(session: Session, *, now: Moment) -> Sequence[str]:
    """Return the ids of codes whose message is due."""
    return [code.id for code in _due(now).all(session, {})]


@lru_cache(maxsize=8)
def _due(now: Moment) -> Statement[IdRow]:
    query = select(MailboxCode.id).where(_UNSENT, MailboxCode.next_at <= now, MailboxCode.expires_at > now)
    return Statement(
        IdRow, lambda _dialect: query.order_by(MailboxCode.next_at, MailboxCode.id).limit(_BATCH)
    )


def begin_sending(session: Session, code_id: str, *, now: Moment) -> CodeMessage | None:
    """Store a new code and return the message; None if it was sent, or another worker sends it."""
    code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
    is_due = (MailboxCode.id == code_id, _UNSENT, MailboxCode.next_at <= now, MailboxCode.expires_at > now)
    row = session.execute(
        update(MailboxCode)
        .where(*is_due)
        .values(code_digest=_digest(session, code), next_at=now + _SENDING)
        .returning(MailboxCode.email)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    if row is None:
        return None
    email = encryption.decrypt(session.keys, _PURPOSE, code_id, row.email)
    return CodeMessage(email.decode(), code)


def finish_sending(session: Session, code_id: str, *, now: Moment) -> None:
    """Record that the mail server accepted the message."""
    sent = update(MailboxCode).where(MailboxCode.id == code_id).values(sent_at=now)
    session.execute(sent.execution_options(synchronize_session=False))


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
    session.execute(delete(MailboxCode).where(MailboxCode.expires_at <= now))


def _digest(session: Session, code: str) -> bytes:
    return session.keys.digest(f"{_PURPOSE} digits", code)
