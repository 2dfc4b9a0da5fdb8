"""Two-factor sign-in of password accounts: codes of an authenticator app (RFC 6238), and recovery codes.

A code has 6 digits, changes every 30 seconds and is accepted once, also one step early or late. A user
who loses the app signs in with one of ten recovery codes, each of which works once.
"""

from __future__ import annotations

import re
import secrets
from datetime import datetime, timedelta

import pyotp
from sqlalchemy import ForeignKey, LargeBinary, delete, func, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.audit_actions import Action
from app.domain.errors import TotpAlreadyOn
from app.engine.accounts import accounts
from app.engine.audit_log import entries as audit_log
from app.infra.crypto import encryption
from app.infra.crypto.encryption import Undecryptable
from app.infra.database.database_clock import Moment
from app.infra.database.db import Base
from app.infra.database.session import Session
from app.infra.telemetry.log import log

STEP_SECONDS = 30
ALLOWED_DRIFT = 1
CONFIRMED_WITHIN = timedelta(hours=1)
RECOVERY_CODES = 10
MAX_CODE_LENGTH = 32
ISSUER = "Contact lookup"
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Characters of recovery codes, without those that look like another."""
_HALF = 6
_PURPOSE = "totp"
_APP_CODE = re.compile(r"[0-9]{6}", re.ASCII)
_SEPARATORS = re.compile(r"[\s-]+")


class TotpSecret(Base):
    """The encrypted secret of an account's authenticator app, which may await its confirmation.

    `last_step` is the step of the newest code that was used, so that no code is accepted twice.
    """

    __tablename__ = "totp_secrets"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    secret: Mapped[bytes] = mapped_column(LargeBinary)
    last_step: Mapped[int]
    created_at: Mapped[datetime]


class RecoveryCode(Base):
    """A keyed digest of a recovery code that has not been used."""

    __tablename__ = "recovery_codes"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    digest: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)


def enrol(session: Session, account_id: str, *, now: Moment) -> str:
    """Store a new secret, which has no effect until it is confirmed, and return it in base 32.

    Raises:
        TotpAlreadyOn: the account has a confirmed secret.

    """
    if accounts.locked(session, account_id).totp_enabled_at is not None:
        raise TotpAlreadyOn
    secret = pyotp.random_base32()
    encrypted = encryption.encrypt(session.keys, _PURPOSE, account_id, secret.encode())
    session.execute(delete(TotpSecret).where(TotpSecret.account_id == account_id))
    session.add(TotpSecret(account_id=account_id, secret=encrypted, last_step=0, created_at=now))
    session.flush()
    return secret


def uri(secret: str, email: str) -> str:
    """Return the `otpauth` URI of a secret, which authenticator apps read from a QR code."""
    return pyotp.TOTP(secret, interval=STEP_SECONDS).provisioning_uri(name=email, issuer_name=ISSUER)


def confirm(session: Session, account_id: str, code: str, *, now: datetime) -> list[str] | None:
    """Turn two-factor sign-in on with the app's first code; return recovery codes, or None if it is wrong.

    No code is right for a secret that was stored more than an hour ago.

    Raises:
        TotpAlreadyOn: the account has a confirmed secret.

    """
    account = accounts.locked(session, account_id)
    if account.totp_enabled_at is not None:
        raise TotpAlreadyOn
    pending = session.get(TotpSecret, account_id)
    if pending is None or pending.created_at + CONFIRMED_WITHIN < now:
        return None
    if not _use_app_code(session, account_id, _normal(code), now):
        return None
    account.totp_enabled_at = now
    audit_log.record_each(session, Action.TOTP_ENABLE, [account_id], account_id=account_id)
    return _new_recovery_codes(session, account_id)


def use(session: Session, account_id: str, code: str, *, now: datetime) -> bool:
    """Return whether the code is valid, and use it up; the caller has locked the account."""
    normal = _normal(code)
    if is_app_code(code):
        return _use_app_code(session, account_id, normal, now)
    digest = _digest(session, account_id, normal)
    query = delete(RecoveryCode).where(RecoveryCode.account_id == account_id, RecoveryCode.digest == digest)
    return session.execute(query.returning(RecoveryCode.account_id)).one_or_none() is not None


def is_app_code(code: str) -> bool:
    """Return whether the code is compared with the app's codes, and not with the recovery codes."""
    return _APP_CODE.fullmatch(_normal(code)) is not None


def disable(session: Session, account_id: str) -> None:
    """Turn two-factor sign-in off, and delete the secret and the recovery codes."""
    accounts.locked(session, account_id).totp_enabled_at = None
    for table in (TotpSecret, RecoveryCode):
        session.execute(delete(table).where(table.account_id == account_id))
    audit_log.record_each(session, Action.TOTP_DISABLE, [account_id], account_id=account_id)


def recovery_codes_left(session: Session, account_id: str) -> int:
    """Return the number of recovery codes that have not been used."""
    query = select(func.count()).select_from(RecoveryCode).where(RecoveryCode.account_id == account_id)
    return session.scalar(query) or 0


def _use_app_code(session: Session, account_id: str, code: str, now: datetime) -> bool:
    """Return whether this is a code of the app that is newer than the last used one, and remember it."""
    row = session.get(TotpSecret, account_id, with_for_update=True, populate_existing=True)
    secret = None if row is None else _secret(session, row)
    if row is None or secret is None:
        return False
    app = pyotp.HOTP(secret)
    current = int(now.timestamp()) // STEP_SECONDS
    for step in range(max(current - ALLOWED_DRIFT, row.last_step + 1), current + ALLOWED_DRIFT + 1):
        if app.verify(code, step):
            row.last_step = step
            return True
    return False


def _secret(session: Session, row: TotpSecret) -> str | None:
    try:
        return encryption.decrypt(session.keys, _PURPOSE, row.account_id, row.secret).decode()
    except Undecryptable:  # its key is lost: an admin resets it, with `flask accounts reset-totp`
        log.warning("secret of two-factor sign-in cannot be decrypted", account=row.account_id)
        return None


def encrypt_again(session: Session) -> int:
    """Encrypt all readable secrets under the current key; return how many."""
    rows = session.scalars(select(TotpSecret).order_by(TotpSecret.account_id).with_for_update()).all()
    readable = [(row, secret) for row in rows if (secret := _secret(session, row)) is not None]
    for row, secret in readable:
        row.secret = encryption.encrypt(session.keys, _PURPOSE, row.account_id, secret.encode())
    session.flush()
    return len(readable)


def _new_recovery_codes(session: Session, account_id: str) -> list[str]:
    codes = ["".join(secrets.choice(_ALPHABET) for _ in range(2 * _HALF)) for _ in range(RECOVERY_CODES)]
    session.execute(delete(RecoveryCode).where(RecoveryCode.account_id == account_id))
    session.add_all(
        RecoveryCode(account_id=account_id, digest=_digest(session, account_id, code)) for code in codes
    )
    session.flush()
    return [f"{code[:_HALF]}-{code[_HALF:]}" for code in codes]


def _digest(session: Session, account_id: str, code: str) -> bytes:
    """Return the digest of a recovery code; its 59 random bits and the key need no slow hash."""
    return session.keys.digest("recovery-code", f"{account_id}\0{code}")


def _normal(code: str) -> str:
    """Return the code as it is compared: without spaces and hyphens, in capitals."""
    return _SEPARATORS.sub("", code).upper()
