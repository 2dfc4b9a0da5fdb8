"""/api/totp: two-factor sign-in of the signed-in account, with an authenticator app."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.domain.callers import Caller
from app.domain.errors import FieldError, TotpAlreadyOn, ValidationFailed
from app.engine.accounts import sessions, totp
from app.engine.accounts.accounts import Account
from app.infra import clock
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.body import json_response
from app.web.operations import documented
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema, StrictSchema, password
from app.web.services import services
from app.web.sign_in import own_password
from app.web.sign_in.auth import bearer, session_caller

blueprint = APIBlueprint("totp", __name__, tag="Sessions")


class TotpResponseSchema(ResponseSchema):
    """Whether two-factor sign-in is on."""

    enabled = fields.Boolean(required=True)
    enabled_at = fields.DateTime(
        required=True, allow_none=True, metadata={"example": "2026-11-20T09:30:00.000Z"}
    )
    recovery_codes_left = fields.Integer(required=True, metadata={"example": 10})


class CurrentPasswordSchema(StrictSchema):
    """The account's password."""

    current_password = password()


class SecretResponseSchema(ResponseSchema):
    """The secret for the authenticator app, as text and as the URI of a QR code; shown only once."""

    secret = fields.String(required=True, metadata={"example": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"})
    uri = fields.String(
        required=True,
        metadata={"example": "otpauth://totp/Contact%20lookup:ada%40acme.example?secret=JBSWY3DPEHPK3PXP"},
    )


class CodeSchema(StrictSchema):
    """The first code of the authenticator app."""

    code = fields.String(
        required=True,
        load_only=True,
        validate=validate.Length(min=1, max=totp.MAX_CODE_LENGTH),
        metadata={"example": "123456"},
    )


class RecoveryCodesResponseSchema(ResponseSchema):
    """Ten codes, each of which replaces the authenticator app once; shown only once."""

    recovery_codes = fields.List(fields.String(metadata={"example": "7KQ2MP-XW9R4T"}), required=True)


@blueprint.get("/api/totp")
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(TotpResponseSchema)
def show() -> Response:
    """Return whether two-factor sign-in is on; this requires a session, not an API key."""
    account_id = session_caller().account_id
    with services().database.reading() as session:
        enabled_at = session.get_one(Account, account_id).totp_enabled_at
        codes_left = totp.recovery_codes_left(session, account_id)
    return json_response(
        {
            "enabled": enabled_at is not None,
            "enabled_at": None if enabled_at is None else clock.rfc3339(enabled_at),
            "recovery_codes_left": codes_left,
        }
    )


@blueprint.post("/api/totp")
@blueprint.auth_required(bearer)
@documented(TotpAlreadyOn)
@limited(Policy.WRITE)
@blueprint.input(CurrentPasswordSchema, arg_name="body")
@blueprint.output(SecretResponseSchema, status_code=201)
def enrol(body: dict[str, Any]) -> Response:
    """Start to set up an authenticator app; nothing changes until its first code is confirmed."""
    account_id = session_caller().account_id
    email = own_password.check(account_id, body["current_password"]).email
    with admission.transaction() as session:
        secret = totp.enrol(session, account_id, now=database_clock.now())
    return json_response({"secret": secret, "uri": totp.uri(secret, email)}, 201)


@blueprint.post("/api/totp/confirm")
@blueprint.auth_required(bearer)
@documented(TotpAlreadyOn)
@limited(Policy.WRITE)
@blueprint.input(CodeSchema, arg_name="body")
@blueprint.output(RecoveryCodesResponseSchema)
def confirm(body: dict[str, Any]) -> Response:
    """Turn two-factor sign-in on with the app's first code; the response has the recovery codes.

    The other sessions of the account end, because they were started without a code.
    """
    return json_response({"recovery_codes": turn_on(session_caller(), body["code"])})


@blueprint.post("/api/totp/disable")
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(CurrentPasswordSchema, arg_name="body")
@blueprint.output({}, status_code=204)
def disable(body: dict[str, Any]) -> Response:
    """Turn two-factor sign-in off; its secret and recovery codes are deleted."""
    turn_off(session_caller().account_id, body["current_password"])
    return Response(status=204)


def turn_on(current: Caller, code: str) -> list[str]:
    """Turn two-factor sign-in of the caller's account on, and return its recovery codes.

    All sessions but the caller's end, since the password alone was enough to start them.

    Raises:
        ValidationFailed: this is not the code that the app shows.
        TotpAlreadyOn: it is on.

    """
    with admission.transaction() as session:
        now = database_clock.value(session)
        recovery_codes = totp.confirm(session, current.account_id, code, now=now)
        if recovery_codes is not None:
            sessions.end_all(session, current.account_id, spared=current.token_id, now=now)
    if recovery_codes is None:
        detail = "This is not the code that the authenticator app shows now. Check the clock of its device."
        raise ValidationFailed(errors=(FieldError("/code", detail),))
    log.info("two-factor sign-in turned on", account=current.account_id)
    return recovery_codes


def turn_off(account_id: str, current_password: str) -> None:
    """Turn two-factor sign-in of an account off.

    Raises:
        ValidationFailed: the password is wrong.
        TooManyAttempts: as in `LoginAttempt`.

    """
    own_password.check(account_id, current_password)
    with admission.transaction() as session:
        totp.disable(session, account_id)
    log.info("two-factor sign-in turned off", account=account_id)
