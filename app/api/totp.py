"""/api/totp: two-factor sign-in of the signed-in account, with an authenticator app."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.domain.errors import TotpAlreadyOn
from app.engine.accounts import totp
from app.engine.accounts.accounts import Account
from app.infra import clock
from app.web.bodies.body import json_response
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema, StrictSchema
from app.web.schemas.sign_in_schemas import CurrentPasswordSchema
from app.web.services import services
from app.web.sign_in import own_totp
from app.web.sign_in.auth import bearer, session_caller

blueprint = APIBlueprint("totp", __name__, tag="Sessions")


class TotpResponseSchema(ResponseSchema):
    """Whether two-factor sign-in is on."""

    enabled = fields.Boolean(required=True)
    enabled_at = fields.DateTime(
        required=True, allow_none=True, metadata={"example": "2026-11-20T09:30:00.000Z"}
    )
    recovery_codes_left = fields.Integer(required=True, metadata={"example": 10})


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
@Operation(errors=(TotpAlreadyOn,))
@limited(Policy.WRITE)
@blueprint.input(CurrentPasswordSchema, arg_name="body")
@blueprint.output(SecretResponseSchema, status_code=201)
def enrol(body: dict[str, Any]) -> Response:
    """Start to set up an authenticator app; nothing changes until its first code is confirmed."""
    secret, uri = own_totp.enrol(body["current_password"])
    return json_response({"secret": secret, "uri": uri}, 201)


@blueprint.post("/api/totp/confirm")
@blueprint.auth_required(bearer)
@Operation(errors=(TotpAlreadyOn,))
@limited(Policy.WRITE)
@blueprint.input(CodeSchema, arg_name="body")
@blueprint.output(RecoveryCodesResponseSchema)
def confirm(body: dict[str, Any]) -> Response:
    """Turn two-factor sign-in on with the app's first code; the response has the recovery codes.

    The other sessions of the account end, because they were started without a code.
    """
    return json_response({"recovery_codes": own_totp.turn_on(body["code"])})


@blueprint.post("/api/totp/disable")
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(CurrentPasswordSchema, arg_name="body")
@blueprint.output({}, status_code=204)
def disable(body: dict[str, Any]) -> Response:
    """Turn two-factor sign-in off; its secret and recovery codes are deleted."""
    own_totp.turn_off(body["current_password"])
    return Response(status=204)
