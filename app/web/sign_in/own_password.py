"""The check of the password of an account that is signed in, before it changes how it signs in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from app.domain.audit_actions import Action
from app.domain.errors import FieldError, ValidationFailed
from app.engine.accounts.accounts import Account
from app.web.services import services
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
            refuse()
    return checked


def refuse() -> NoReturn:
    """Raise ValidationFailed for the current password; the token is valid, so this is not a 401."""
    raise ValidationFailed(errors=(FieldError("/current_password", "This is not the account's password."),))
