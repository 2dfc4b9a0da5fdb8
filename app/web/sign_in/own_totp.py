"""Two-factor sign-in of the account that is signed in: set up, turned on and turned off."""

from __future__ import annotations

from app.domain.errors import FieldError, ValidationFailed
from app.domain.messages import Message
from app.engine.accounts import accounts, sessions, totp
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission
from app.web.failure_limits import FailureCounter
from app.web.sign_in import own_password
from app.web.sign_in.auth import session_caller
from app.web.sign_in.login_attempts import TOTP_RATE


def enrol(current_password: str) -> tuple[str, str]:
    """Store a new secret, which has no effect until it is confirmed; return it and its `otpauth` URI.

    Raises:
        ValidationFailed: the password is wrong.
        TooManyAttempts: as in `LoginAttempt`.
        TotpAlreadyOn: it is on.

    """
    account_id = session_caller().account_id
    email = own_password.check(account_id, current_password).email
    with admission.transaction() as session:
        secret = totp.enrol(session, account_id, now=database_clock.now())
    return secret, totp.uri(secret, email)


def turn_on(code: str) -> list[str]:
    """Turn two-factor sign-in of the caller's account on, and return its recovery codes.

    All sessions but the caller's end, since the password alone was enough to start them.

    Wrong codes are counted, as at sign-in, while the account is locked: whoever has only a session must not
    guess the code of an app that the owner is setting up.

    Raises:
        ValidationFailed: this is not the code that the app shows.
        TooManyAttempts: too many wrong codes were sent.
        TotpAlreadyOn: it is on.

    """
    current = session_caller()
    wrong_codes = FailureCounter.for_account("totp_confirm", TOTP_RATE, current.account_id)
    with admission.transaction() as session:
        accounts.locked(session, current.account_id)
        wrong_codes.check()
        now = database_clock.value(session)
        recovery_codes = totp.confirm(session, current.account_id, code, now=now)
        if recovery_codes is None:
            wrong_codes.add()
        else:
            sessions.end_all(session, current.account_id, spared=current.token_id, now=now)
    if recovery_codes is None:
        detail = Message(
            "This is not the code that the authenticator app shows now. Check the clock of its device. "
            "If you began more than an hour ago, begin again."
        )
        raise ValidationFailed(errors=(FieldError("/code", detail),))
    log.info("two-factor sign-in turned on", account=current.account_id)
    return recovery_codes


def turn_off(current_password: str) -> None:
    """Turn two-factor sign-in of the caller's account off.

    Raises:
        ValidationFailed: the password is wrong.
        TooManyAttempts: as in `LoginAttempt`.

    """
    account_id = session_caller().account_id
    own_password.check(account_id, current_password)
    with admission.transaction() as session:
        totp.disable(session, account_id)
    log.info("two-factor sign-in turned off", account=account_id)
