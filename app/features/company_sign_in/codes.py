"""Codes that the extension exchanges for a session after a sign-in in the browser (as in RFC 6749 and 7636).

A session token in a URL would stay in the browser's history. A code is valid for a minute and once, and only
together with the secret whose SHA-256 the extension sent when it started the sign-in.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta

from sqlalchemy import ForeignKey, LargeBinary, delete
from sqlalchemy.orm import Mapped, mapped_column

from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session

LIFETIME = timedelta(minutes=1)
CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
"""A SHA-256 in base64url (RFC 7636, section 4.2)."""
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)


class SignInCode(Base):
    """A code that has not been exchanged yet; only its hash is stored."""

    __tablename__ = "sign_in_codes"

    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    challenge: Mapped[str]
    expires_at: Mapped[datetime] = mapped_column(index=True)


def issue(session: Session, account_id: str, challenge: str, *, now: Moment) -> str:
    """Insert a code for the account and return it; delete the expired ones."""
    session.execute(delete(SignInCode).where(SignInCode.expires_at <= now))
    code = secrets.token_urlsafe(32)
    session.add(
        SignInCode(
            digest=_digest(code), account_id=account_id, challenge=challenge, expires_at=now + LIFETIME
        )
    )
    session.flush()
    return code


def redeem(session: Session, code: str, verifier: str, *, now: Moment) -> str | None:
    """Return the account's id if the code is valid and the verifier is right; the code is used up anyway."""
    deleted = delete(SignInCode).where(SignInCode.digest == _digest(code), SignInCode.expires_at > now)
    row = session.execute(deleted.returning(SignInCode.account_id, SignInCode.challenge)).one_or_none()
    if row is None or not hmac.compare_digest(row.challenge, challenge_of(verifier)):
        return None
    account_id: str = row.account_id
    return account_id


def revoke_all(session: Session, account_id: str) -> None:
    """Delete the codes of the account that were not exchanged."""
    session.execute(delete(SignInCode).where(SignInCode.account_id == account_id))


def challenge_of(verifier: str) -> str:
    """Return the challenge of a verifier, by the method S256 (RFC 7636, section 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode()).digest()
