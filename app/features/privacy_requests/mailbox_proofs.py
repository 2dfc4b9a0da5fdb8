"""Proofs of access to a mailbox: a code is sent there, and the right one gives access to the data.

Nothing here depends on what is stored about the address, so a request for a known and an unknown address is
the same work. The address is encrypted, and the row is deleted soon.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import String, delete, select, update
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.ids import new_id
from app.features.privacy_requests import mailbox_codes
from app.infra.crypto import encryption
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session

OPEN_FOR = timedelta(minutes=30)
"""How long the data can be seen after the right code was entered."""
MAX_ATTEMPTS = 5
"""The codes after which a proof is void."""
_PURPOSE = "mailbox proof"


class MailboxProof(Base):
    """A request to prove a mailbox; `address_digest` is keyed, and `email` is encrypted.

    `opened_at` is when the right code was entered.
    """

    __tablename__ = "mailbox_proofs"

    id: Mapped[str] = mapped_column(String(28), primary_key=True)
    address_digest: Mapped[bytes]
    email: Mapped[bytes]
    attempts: Mapped[int]
    opened_at: Mapped[datetime | None]
    expires_at: Mapped[datetime] = mapped_column(index=True)


def request(session: Session, email: str, *, now: Moment) -> str:
    """Insert a proof for an address in normal form, which its code opens; return its id."""
    proof_id = new_id("mbx")
    sealed = encryption.encrypt(session.keys, _PURPOSE, proof_id, email.encode())
    address = mailbox_codes.address_digest(session, email)
    values = {"address_digest": address, "attempts": 0, "expires_at": now + mailbox_codes.USABLE_FOR}
    session.add(MailboxProof(id=proof_id, email=sealed, **values))
    session.flush()
    return proof_id


def enter(session: Session, proof_id: str, code: str, *, now: Moment) -> bool:
    """Open the proof if the code is right; return whether it is."""
    address = session.scalar(
        update(MailboxProof)
        .where(
            MailboxProof.id == proof_id,
            MailboxProof.opened_at.is_(None),
            MailboxProof.attempts < MAX_ATTEMPTS,
            MailboxProof.expires_at > now,
        )
        .values(attempts=MailboxProof.attempts + 1)
        .returning(MailboxProof.address_digest)
        .execution_options(synchronize_session=False)
    )
    if address is None or not mailbox_codes.use(session, address, code, now=now):
        return False
    opened = update(MailboxProof).where(MailboxProof.id == proof_id)
    values = {"opened_at": now, "expires_at": now + OPEN_FOR}
    session.execute(opened.values(values).execution_options(synchronize_session=False))
    return True


def opened_email(session: Session, proof_id: str, *, now: Moment) -> str | None:
    """Return the address of an open proof; None if it is not open any more."""
    query = select(MailboxProof.email).where(
        MailboxProof.id == proof_id, MailboxProof.opened_at.is_not(None), MailboxProof.expires_at > now
    )
    sealed = session.scalar(query)
    if sealed is None:
        return None
    return encryption.decrypt(session.keys, _PURPOSE, proof_id, sealed).decode()


def close(session: Session, proof_id: str) -> None:
    """Delete the proof."""
    session.execute(delete(MailboxProof).where(MailboxProof.id == proof_id))


def purge_expired(session: Session, *, now: Moment) -> None:
    """Delete the proofs that have expired, and the codes."""
    session.execute(delete(MailboxProof).where(MailboxProof.expires_at <= now))
    mailbox_codes.purge_expired(session, now=now)
