"""The password of the account that is signed in: checked before it changes how it signs in, and changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, ValidationFailed
from app.engine.accounts import accounts, login_throttle
from app.engine.accounts.accounts import Account
from app.infra.crypto import passwords
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission
from app.web.services import services
from app.web.sign_in.auth import session_caller
from app.web.sign_in.login_attempts import LoginAttempt, record_outcome


@dataclass(frozen=True, slots=True)
class CheckedPassword:
    """An account's e-mail address, and the hash of the password that was checked."""

    email: str
    password_hash: str = field(repr=False)


def check(account_id: str, password: str) -> CheckedPassword:
    """Check the account's password; wrong ones count towards the limits of the login.

    Raises:
        ValidationFailed: it is wrong.
        TooManyAttempts: as in `LoginAttempt`.

    """
    with services().database.reading() as session:
        account = session.get_one(Account, account_id)
        checked = CheckedPassword(account.email, account.password_hash)
    attempt = LoginAttempt(checked.email)
    with record_outcome():
        attempt.check_limits()
        attempt.account()
        if not attempt.verify(checked.password_hash, password):
            attempt.record_failure(account, action=Action.PASSWORD_CHECK)
            _refuse()
    return checked


def change(current_password: str, new_password: str) -> None:
    """Change the password after a check of the current one, and end all sessions and API keys of the account.

    Raises:
        ValidationFailed: the current password is wrong.
        TooManyAttempts: as in `LoginAttempt`.

    """
    account_id = session_caller().account_id
    checked = check(account_id, current_password)
    new_hash = passwords.hash_password(new_password)
    with admission.transaction() as session:
        if accounts.locked(session, account_id).password_hash != checked.password_hash:  # changed meanwhile
            _refuse()
        accounts.set_password(session, account_id, new_hash, now=database_clock.now())
        login_throttle.reset(session, checked.email)
    log.info("password changed", account=account_id)


def _refuse() -> NoReturn:
    """Raise ValidationFailed for the current password; the token is valid, so this is not a 401."""
    raise ValidationFailed(errors=(FieldError("/current_password", "This is not the account's password."),))
