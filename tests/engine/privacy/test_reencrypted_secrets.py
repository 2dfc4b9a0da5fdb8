from __future__ import annotations

from dataclasses import replace

import pyotp
from jobs_support import NOW
from sqlalchemy import update

from app.engine.accounts import accounts, totp
from app.engine.accounts.totp import TotpSecret
from app.infra.crypto.digest_keys import DigestKeys
from app.infra.database.session import Session

ONLY_NEW = DigestKeys(b"another key", b"another key", ((7, b"7" * 32),))


def add_key(session: Session) -> None:
    """Give the session the new key in front of the one that it has."""
    session._keys = replace(session.keys, encryption=ONLY_NEW.encryption)  # noqa: SLF001 -- set once otherwise


def remove_old_key(session: Session) -> None:
    session._keys = ONLY_NEW  # noqa: SLF001 -- set once otherwise


def test_secrets_of_authenticator_apps_are_encrypted_under_the_new_key(
    session: Session, workspace_id: str
) -> None:
    account = accounts.create(
        session, workspace_id, email="ada@acme.example", name="Ada", password_hash="h", now=NOW
    )
    app = pyotp.TOTP(totp.enrol(session, account.id, now=NOW))
    add_key(session)

    assert totp.encrypt_again(session) == 1

    remove_old_key(session)
    assert totp.confirm(session, account.id, app.at(NOW), now=NOW)


def test_a_secret_that_cannot_be_read_is_kept(session: Session, workspace_id: str) -> None:
    account = accounts.create(
        session, workspace_id, email="ada@acme.example", name="Ada", password_hash="h", now=NOW
    )
    totp.enrol(session, account.id, now=NOW)
    session.execute(update(TotpSecret).values(secret=b"unreadable"))
    session.expire_all()

    assert totp.encrypt_again(session) == 0
