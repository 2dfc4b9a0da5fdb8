"""POST /api/ext/login: exchange an e-mail address and a password for a session token."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.api import session_start
from app.api.session import SessionResponseSchema
from app.domain.errors import (
    AccountDisabled,
    InvalidCredentials,
    InvalidTotp,
    PasswordSignInOff,
    TooManyAttempts,
    TotpRequired,
)
from app.engine.accounts import accounts, login_throttle, totp
from app.engine.accounts.accounts import Account
from app.engine.accounts.sessions import Method
from app.infra.crypto import passwords
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.web.bodies.body import json_response
from app.web.operations import documented
from app.web.schemas.fields import SingleLineString, StrictSchema, email, password
from app.web.services import services
from app.web.sign_in.login_attempts import LoginAttempt, record_outcome, record_refusal

blueprint = APIBlueprint("login", __name__, tag="Login")


class ClientSchema(StrictSchema):
    """The client program, shown in the account's list of sessions."""

    name = SingleLineString(100, required=True, metadata={"example": "chrome-extension"})
    version = SingleLineString(100, metadata={"example": "1.0.0"})


class LoginSchema(StrictSchema):
    """The credentials."""

    email = email(required=True)
    password = password()
    totp = fields.String(
        load_only=True,
        validate=validate.Length(min=1, max=totp.MAX_CODE_LENGTH),
        metadata={
            "example": "123456",
            "description": "With two-factor sign-in: the code of the authenticator app, or a recovery code.",
        },
    )
    client = fields.Nested(ClientSchema)


class LoginResponseSchema(SessionResponseSchema):
    """A session token, and the response of `session`."""

    access_token = fields.String(
        required=True,
        metadata={"description": "The session token, shown only once.", "example": f"ses_{'0' * 49}"},
    )
    token_type = fields.String(required=True, metadata={"example": "Bearer"})
    expires_at = fields.DateTime(
        required=True,
        metadata={
            "example": "2026-12-04T09:30:00.000Z",
            "description": "When the session expires if it is not used.",
        },
    )


@blueprint.post("/api/ext/login")
@documented(
    InvalidCredentials, TotpRequired, InvalidTotp, AccountDisabled, PasswordSignInOff, TooManyAttempts
)
@blueprint.input(LoginSchema, arg_name="body")
@blueprint.output(LoginResponseSchema)
def login(body: dict[str, Any]) -> Response:
    """Sign in.

    A wrong password and an unknown e-mail address give the same response in the same time. An account with
    two-factor sign-in also needs `totp`: without it, the response to a correct password is `totp_required`.
    """
    return json_response(sign_in(body))


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


def sign_in(body: dict[str, Any]) -> dict[str, Any]:
    """Check the credentials, start a session, and return the response body; see `LoginSchema`."""
    return start(check_password(body), body)


def check_password(body: dict[str, Any]) -> CheckedLogin:
    """Check the e-mail address and the password.

    Raises:
        InvalidCredentials, PasswordSignInOff: they are wrong, or passwords are turned off.
        TooManyAttempts: as in `LoginAttempt`.

    """
    if not services().settings.password_sign_in:
        raise PasswordSignInOff
    attempt = LoginAttempt(body["email"])
    with record_outcome():
        attempt.check_limits()
        account = attempt.account()  # no transaction stays open while the password is checked
        is_correct = attempt.verify(account.password_hash if account else None, body["password"])
        if account is None or not is_correct:
            attempt.record_failure(account)
            raise InvalidCredentials
    password_hash = account.password_hash
    return CheckedLogin(account, password_hash, _renewed(password_hash, body["password"]), attempt)


def start(checked: CheckedLogin, body: dict[str, Any]) -> dict[str, Any]:
    """Check the code of two-factor sign-in, start a session, and return the response body.

    Raises:
        TotpRequired, InvalidTotp: the account needs a code, and it is missing or wrong.
        InvalidCredentials, AccountDisabled: the password was changed meanwhile; the account is disabled.
        TooManyAttempts: too many failed.

    """
    with record_outcome():
        if checked.account.totp_enabled_at is not None:
            checked.attempt.check_limits()
        try:
            return _start(checked, body)
        except InvalidTotp:
            checked.attempt.record_failure(
                checked.account, reason=InvalidTotp.code, slows_other_networks=False
            )
            raise
        except AccountDisabled as refusal:
            with services().database.transaction() as session:
                record_refusal(session, checked.account, reason=refusal.code)
            raise


def _start(checked: CheckedLogin, body: dict[str, Any]) -> dict[str, Any]:
    with services().database.transaction() as session:
        account = accounts.locked(session, checked.account.id)
        if account.password_hash != checked.password_hash:  # changed during the check
            raise InvalidCredentials
        if account.disabled_at is not None:
            raise AccountDisabled
        now = database_clock.value(session)
        if account.totp_enabled_at is not None:
            _require_code(session, checked.attempt, account, body.get("totp"), now)
        account.password_hash = checked.new_hash
        login_throttle.reset(session, account.email)
        return session_start.start(
            session,
            account,
            network=checked.attempt.network,
            client=body.get("client", {}),
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
