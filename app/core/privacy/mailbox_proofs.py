"""Proofs of access to a mailbox: a code is sent there, and the right code opens the data for a while.

Nothing here depends on what is stored about the address, so a request for a known and an unknown address is
the same work. The address is encrypted, the code is stored as a keyed digest, and the row is deleted soon.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Index, String, and_, delete, select, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from app.domain.ids import new_id
from app.infra import encryption
from app.infra.database_clock import Moment
from app.infra.db import Base
from app.infra.digest_keys import digest_keys

CODE_LIFETIME = timedelta(minutes=20)
OPEN_FOR = timedelta(minutes=30)
"""How long the data can be seen after the right code was entered."""
MAX_ATTEMPTS = 5
"""The wrong codes after which a proof is void; a code has 100 million values."""
_SENDING = timedelta(seconds=90)
"""How long a worker has to hand over the message before another one tries."""
_PURPOSE = "mailbox proof"
_UNSENT = text("sent_at IS NULL")
_BATCH = 50


class MailboxProof(Base):
    """A request to prove a mailbox; `email` is encrypted.

    `code` is the digest of the last code that was sent, null before it and after it was used. `next_at` is
    when the message is due. `opened_at` is when the right code was entered.
    """

    __tablename__ = "mailbox_proofs"
    __table_args__ = (
        Index("ix_mailbox_proofs_next_at", "next_at", sqlite_where=_UNSENT, postgresql_where=_UNSENT),
    )

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    email: Mapped[bytes]
    code: Mapped[bytes | None]
    attempts: Mapped[int]
    next_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    opened_at: Mapped[datetime | None]
    expires_at: Mapped[datetime] = mapped_column(index=True)


@dataclass(frozen=True, slots=True)
class CodeMessage:
    """A code to send to an address."""

    email: str
    code: str


def request(session: Session, email: str, *, now: Moment) -> str:
    """Insert a proof for an address in normal form, and return its id; a worker sends the code."""
    proof_id = new_id("mbx")
    sealed = encryption.encrypt(digest_keys(session), _PURPOSE, proof_id, email.encode())
    values = {"next_at": now, "expires_at": now + CODE_LIFETIME}
    session.add(MailboxProof(id=proof_id, email=sealed, attempts=0, **values))
    session.flush()
    return proof_id


def due(session: Session, *, now: Moment) -> Sequence[str]:
    """Return the ids of proofs whose message is due."""
    query = select(MailboxProof.id).where(*_is_due(now))
    return session.scalars(query.order_by(MailboxProof.next_at).limit(_BATCH)).all()


def begin_sending(session: Session, proof_id: str, *, now: Moment) -> CodeMessage | None:
    """Store a new code and return the message; None if it was sent, or another worker sends it."""
    code = f"{secrets.randbelow(100_000_000):08}"
    row = session.execute(
        update(MailboxProof)
        .where(
            MailboxProof.id == proof_id, _UNSENT, MailboxProof.next_at <= now, MailboxProof.expires_at > now
        )
        .values(code=_digest(session, proof_id, code), next_at=now + _SENDING)
        .returning(MailboxProof.email)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return None if row is None else CodeMessage(_decrypted(session, proof_id, row.email), code)


def finish_sending(session: Session, proof_id: str, *, now: Moment) -> None:
    """Record that the mail server accepted the message."""
    sent = update(MailboxProof).where(MailboxProof.id == proof_id).values(sent_at=now)
    session.execute(sent.execution_options(synchronize_session=False))


def enter(session: Session, proof_id: str, code: str, *, now: Moment) -> bool:
    """Open the proof if the code is right; return whether it is. A code can be used once."""
    row = session.execute(
        update(MailboxProof)
        .where(
            MailboxProof.id == proof_id,
            MailboxProof.code.is_not(None),
            MailboxProof.attempts < MAX_ATTEMPTS,
            MailboxProof.expires_at > now,
        )
        .values(attempts=MailboxProof.attempts + 1)
        .returning(MailboxProof.code)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    given = _digest(session, proof_id, code)
    if row is None or not hmac.compare_digest(row.code, given):
        return False
    opened = update(MailboxProof).where(MailboxProof.id == proof_id)
    values = {"code": None, "opened_at": now, "sent_at": now, "expires_at": now + OPEN_FOR}
    session.execute(opened.values(values).execution_options(synchronize_session=False))
    return True


def opened_email(session: Session, proof_id: str, *, now: Moment) -> str | None:
    """Return the address of an open proof; None if it is not open any more."""
    query = select(MailboxProof.email).where(
        MailboxProof.id == proof_id, MailboxProof.opened_at.is_not(None), MailboxProof.expires_at > now
    )
    sealed = session.scalar(query)
    return None if sealed is None else _decrypted(session, proof_id, sealed)


def close(session: Session, proof_id: str) -> None:
    """Delete the proof."""
    session.execute(delete(MailboxProof).where(MailboxProof.id == proof_id))


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete the proofs that have expired."""
    session.execute(delete(MailboxProof).where(MailboxProof.expires_at <= now))


def _is_due(now: Moment) -> tuple[ColumnElement[bool], ...]:
    return and_(_UNSENT), MailboxProof.next_at <= now, MailboxProof.expires_at > now


def _digest(session: Session, proof_id: str, code: str) -> bytes:
    return digest_keys(session).digest(_PURPOSE, f"{proof_id}\0{code}")


def _decrypted(session: Session, proof_id: str, sealed: bytes) -> str:
    return encryption.decrypt(digest_keys(session), _PURPOSE, proof_id, sealed).decode()
