"""POST /api/ext/login: exchange an e-mail address and a password for a session token."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.api.docs.operations import documented
from app.api.http.body import json_response
from app.api.http.login_attempts import LoginAttempt, record_outcome
from app.api.http.services import services
from app.api.schemas.fields import NonBlankString, StrictSchema, email
from app.api.session import SessionResponseSchema, describe
from app.core.accounts import accounts, login_throttle, sessions
from app.core.accounts.accounts import Account
from app.core.accounts.sessions import LoginSession
from app.domain.callers import Caller
from app.domain.errors import AccountDisabled, InvalidCredentials, TooManyAttempts
from app.infra import clock, database_clock, passwords
from app.infra.log import log

blueprint = APIBlueprint("login", __name__, tag="Login")


class ClientSchema(StrictSchema):
    """The client program, shown in the account's list of sessions."""

    name = NonBlankString(100, required=True, metadata={"example": "chrome-extension"})
    version = NonBlankString(100, metadata={"example": "1.0.0"})


class LoginSchema(StrictSchema):
    """The credentials."""

    email = email(required=True)
    password = fields.String(
        required=True,
        load_only=True,
        validate=validate.Length(min=1, max=passwords.MAX_LENGTH),
        metadata={"example": "correct horse battery staple"},
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
@documented(InvalidCredentials, AccountDisabled, TooManyAttempts)
@blueprint.input(LoginSchema, arg_name="body")
@blueprint.output(LoginResponseSchema)
def login(body: dict[str, Any]) -> Response:
    """Sign in.

    A wrong password and an unknown e-mail address give the same response in the same time.
    """
    return json_response(sign_in(body))


def sign_in(body: dict[str, Any]) -> dict[str, Any]:
    """Check the credentials, start a session, and return the response body; see `LoginSchema`.

    Raises:
        InvalidCredentials, AccountDisabled: no session was started.
        TooManyAttempts: as in `LoginAttempt`.

    """
    attempt = LoginAttempt(body["email"])
    with record_outcome():
        attempt.check_limits()
        account = attempt.account()  # no transaction stays open while the password is checked
        is_correct = attempt.verify(account.password_hash if account else None, body["password"])
        if account is None or not is_correct:
            attempt.record_failure()
            raise InvalidCredentials
        return _start(account, body, attempt)


def _start(account: Account, body: dict[str, Any], attempt: LoginAttempt) -> dict[str, Any]:
    """Start a session, and return the response body."""
    checked_hash, client = account.password_hash, body.get("client", {})
    new_hash = _renewed(checked_hash, body["password"])  # outside the transaction, because it takes long
    lifetime = services().session_lifetime
    with services().database.transaction() as session:
        account = accounts.locked(session, account.id)
        if account.password_hash != checked_hash:  # changed during the check
            raise InvalidCredentials
        if account.disabled_at is not None:
            raise AccountDisabled
        account.password_hash = new_hash
        login_throttle.reset(session, account.email)
        login_session, token = sessions.start(
            session,
            account.id,
            network=attempt.network,
            client_name=client.get("name"),
            client_version=client.get("version"),
            lifetime=lifetime,
            now=database_clock.value(session),
        )
        expires_at = login_session.ends_at(lifetime)
        description = describe(session, _caller(account, login_session, expires_at))
    log.info("signed in", account=account.id, session=login_session.id)
    return {
        "access_token": token,
        "token_type": "Bearer",
        "expires_at": clock.rfc3339(expires_at),
        **description,
    }


def _renewed(password_hash: str, password: str) -> str:
    """Return the hash, or a new one if its parameters are outdated."""
    return passwords.hash_password(password) if passwords.is_outdated(password_hash) else password_hash


def _caller(account: Account, login_session: LoginSession, expires_at: datetime) -> Caller:
    return Caller(
        account.id,
        account.workspace_id,
        "session",
        login_session.id,
        login_session.granted,
        expires_at,
    )
