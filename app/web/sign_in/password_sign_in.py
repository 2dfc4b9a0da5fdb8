"""The sign-in with an e-mail address and a password, in the extension and in the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from app.domain.errors import (
    AccountDisabled,
    InvalidCredentials,
    InvalidTotp,
    PasswordSignInOff,
    TotpRequired,
)
from app.engine.accounts import accounts, login_throttle, totp
from app.engine.accounts.accounts import Account
from app.engine.accounts.sessions import Method
from app.infra.crypto import passwords
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.web.services import services
from app.web.sign_in import session_start
from app.web.sign_in.login_attempts import LoginAttempt, record_outcome, record_refusal
from app.web.sign_in.session_start import StartedSession


@dataclass(frozen=True, slots=True)
class CheckedLogin:
    """An account whose password was right, the hash that it was checked with, and the one to store."""

    account: Account
    password_hash: str = field(repr=False)
    new_hash: str = field(repr=False)
    attempt: LoginAttempt

    @classmethod
    def of(cls, account: Account) -> CheckedLogin:
        """Return the login of an account whose password was checked by an earlier request."""
        return cls(account, account.password_hash, account.password_hash, LoginAttempt(account.email))


def check(email: str, password: str) -> CheckedLogin:
    """Check the e-mail address and the password.

    Raises:
        InvalidCredentials, PasswordSignInOff: they are wrong, or passwords are turned off.
        TooManyAttempts: as in `LoginAttempt`.

    """
    if not services().settings.password_sign_in:
        raise PasswordSignInOff
    attempt = LoginAttempt(email)
    with record_outcome():
        attempt.check_limits()
        account = attempt.account()  # no transaction stays open while the password is checked
        is_correct = attempt.verify(account.password_hash if account else None, password)
        if account is None or not is_correct:
            attempt.record_failure(account)
            raise InvalidCredentials
    password_hash = account.password_hash
    return CheckedLogin(account, password_hash, _renewed(password_hash, password), attempt)


def start(checked: CheckedLogin, *, code: str | None, client: Mapping[str, str]) -> StartedSession:
    """Check the code of two-factor sign-in, and start a session for the client program.

    Raises:
        TotpRequired, InvalidTotp: the account needs a code, and it is missing or wrong.
        InvalidCredentials, AccountDisabled: the password was changed meanwhile; the account is disabled.
        TooManyAttempts: too many failed.

    """
    with record_outcome():
        if checked.account.totp_enabled_at is not None:
            checked.attempt.check_limits()
        try:
            return _start(checked, code, client)
        except InvalidTotp:
            checked.attempt.record_failure(
                checked.account, reason=InvalidTotp.code, slows_other_networks=False
            )
            raise
        except AccountDisabled as refusal:
            with services().database.transaction() as session:
                record_refusal(session, checked.account, reason=refusal.code)
            raise


def _start(checked: CheckedLogin, code: str | None, client: Mapping[str, str]) -> StartedSession:
    with services().database.transaction() as session:
        account = accounts.locked(session, checked.account.id)
        if account.password_hash != checked.password_hash:  # changed during the check
            raise InvalidCredentials
        if account.disabled_at is not None:
            raise AccountDisabled
        now = database_clock.value(session)
        if account.totp_enabled_at is not None:
            _require_code(session, checked.attempt, account, code, now)
        account.password_hash = checked.new_hash
        login_throttle.reset(session, account.email)
        return session_start.start(
            session,
            account,
            network=checked.attempt.network,
            client=client,
            method=Method.PASSWORD,
            now=now,
        )


def _require_code(
    session: Session, attempt: LoginAttempt, account: Account, code: str | None, now: datetime
) -> None:
    """Use up the code of two-factor sign-in.

    Wrong codes are counted while the account is locked: of many that are sent at once, no more are compared
    than the limit permits. The two calls of Redis are short.
    """
    if not code:
        raise TotpRequired
    wrong_codes = attempt.wrong_codes(session, account.id, code)
    wrong_codes.check()
    if not totp.use(session, account.id, code, now=now):
        wrong_codes.add()
        raise InvalidTotp


def _renewed(password_hash: str, password: str) -> str:
    """Return the hash, or a new one if its parameters are outdated."""
    return passwords.hash_password(password) if passwords.is_outdated(password_hash) else password_hash
