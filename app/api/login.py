"""`login`: an e-mail and a password for a session token and everything a popup opens with."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.api.http.login_attempts import LoginAttempt, record_outcome
from app.api.http.responses import json_response
from app.api.http.services import services
from app.api.schemas.fields import NonBlankString, StrictSchema, email
from app.api.session import SessionOut, describe
from app.core.accounts import accounts, login_throttle, sessions
from app.core.accounts.accounts import Account
from app.domain.callers import Caller
from app.domain.errors import AccountDisabled, InvalidCredentials
from app.infra import clock, database_clock, passwords
from app.infra.log import log

blueprint = APIBlueprint("login", __name__, tag="Login")


class ClientIn(StrictSchema):
    """The program that signs in, for the account's list of sessions."""

    name = NonBlankString(100, required=True, metadata={"example": "chrome-extension"})
    version = NonBlankString(100, metadata={"example": "1.0.0"})


class LoginIn(StrictSchema):
    """Who signs in."""

    email = email(required=True)
    password = fields.String(
        required=True,
        load_only=True,
        validate=validate.Length(min=1, max=passwords.MAX_LENGTH),
        metadata={"example": "correct horse battery staple"},
    )
    client = fields.Nested(ClientIn)


class LoginOut(SessionOut):
    """A session token, and everything that `session` answers."""

    access_token = fields.String(
        required=True, metadata={"description": "Shown this once.", "example": f"ses_{'0' * 49}"}
    )
    token_type = fields.String(required=True, metadata={"example": "Bearer"})
    expires_at = fields.DateTime(
        required=True,
        metadata={"example": "2026-12-04T09:30:00.000Z", "description": "When it ends if it is not used."},
    )


@blueprint.post("/api/ext/login")
@blueprint.input(LoginIn, arg_name="body")
@blueprint.output(LoginOut)
def login(body: dict[str, Any]) -> Response:
    """Sign in; the answer is the same, in the same time, for a wrong password and an unknown e-mail."""
    attempt = LoginAttempt(body["email"])
    with record_outcome():
        attempt.check_limits()
        account = attempt.account()  # no transaction stays open while the password is checked
        right = attempt.verify(account.password_hash if account else None, body["password"])
        if account is None or not right:
            attempt.record_failure()
            raise InvalidCredentials
        return json_response(_start(account, body, attempt))


def _start(account: Account, body: dict[str, Any], attempt: LoginAttempt) -> dict[str, Any]:
    stored, client = account.password_hash, body.get("client", {})
    renewed = passwords.hash_password(body["password"]) if passwords.is_outdated(stored) else stored
    with services().database.transaction() as session:
        account = accounts.locked(session, account.id)
        if account.password_hash != stored:  # changed while it was checked
            raise InvalidCredentials
        if account.disabled_at is not None:
            raise AccountDisabled
        account.password_hash = renewed
        login_throttle.succeeded(session, account.email)
        started, token = sessions.start(
            session,
            account.id,
            network=attempt.network,
            client_name=client.get("name"),
            client_version=client.get("version"),
            now=database_clock.value(session),
        )
        who = Caller(
            account.id, account.workspace_id, "session", started.id, started.granted, started.ends_at
        )
        described = describe(session, who)
    log.info("signed in", account=account.id, session=started.id)
    return {
        "access_token": token,
        "token_type": "Bearer",
        "expires_at": clock.rfc3339(started.ends_at),
        **described,
    }
