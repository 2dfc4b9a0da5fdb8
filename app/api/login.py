"""POST /api/ext/login: exchange an e-mail address and a password for a session token."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.api.session import SessionResponseSchema, describe
from app.domain.errors import (
    AccountDisabled,
    InvalidCredentials,
    InvalidTotp,
    PasswordSignInOff,
    TooManyAttempts,
    TotpRequired,
)
from app.infra import clock
from app.infra.database.session import Session
from app.web.bodies.body import json_response
from app.web.operations import Operation
from app.web.schemas.sign_in_schemas import LoginSchema
from app.web.services import services
from app.web.sign_in import password_sign_in
from app.web.sign_in.session_start import StartedSession

blueprint = APIBlueprint("login", __name__, tag="Login")


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
@Operation(
    errors=(
        InvalidCredentials,
        TotpRequired,
        InvalidTotp,
        AccountDisabled,
        PasswordSignInOff,
        TooManyAttempts,
    )
)
@blueprint.input(LoginSchema, arg_name="body")
@blueprint.output(LoginResponseSchema)
def login(body: dict[str, Any]) -> Response:
    """Sign in.

    A wrong password and an unknown e-mail address give the same response in the same time. An account with
    two-factor sign-in also needs `totp`: without it, the response to a correct password is `totp_required`.
    """
    checked = password_sign_in.check(body["email"], body["password"])
    started = password_sign_in.start(checked, code=body.get("totp"), client=body.get("client", {}))
    with services().database.reading() as session:
        return json_response(signed_in(session, started))


def signed_in(session: Session, started: StartedSession) -> dict[str, Any]:
    """Return the response body of a sign-in."""
    return {
        "access_token": started.token,
        "token_type": "Bearer",
        "expires_at": clock.rfc3339(started.caller.expires_at),
        **describe(session, started.caller),
    }
