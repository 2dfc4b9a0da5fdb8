"""POST /api/ext/company-login: exchange the code of a sign-in with a company account for a session token."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.api.login import LoginResponseSchema, signed_in
from app.domain.errors import AccountDisabled, CompanySignInFailed, TooManyAttempts
from app.engine.accounts import accounts
from app.engine.accounts.sessions import Method
from app.features.company_sign_in import codes
from app.infra.database import database_clock
from app.web import admission
from app.web.bodies.body import json_response
from app.web.failure_limits import FailureCounter
from app.web.operations import Operation
from app.web.schemas.fields import StrictSchema
from app.web.schemas.sign_in_schemas import ClientSchema
from app.web.services import services
from app.web.sign_in import session_start
from app.web.sign_in.login_attempts import LoginAttempt

blueprint = APIBlueprint("company_login", __name__, tag="Login")

MAX_CODE_LENGTH = 100


class CompanyLoginSchema(StrictSchema):
    """The code from the browser, and the secret whose SHA-256 was sent when the sign-in was started."""

    code = fields.String(
        required=True,
        load_only=True,
        validate=validate.Length(min=1, max=MAX_CODE_LENGTH),
        metadata={"example": "SplxlOBeZQQYbYS6WxSbIASplxlOBeZQQYbYS6WxSbI"},
    )
    code_verifier = fields.String(
        required=True,
        load_only=True,
        validate=validate.Regexp(
            rf"{codes.VERIFIER.pattern}\Z",
            error="Send 43 to 128 letters, digits, hyphens, dots, underscores or tildes (RFC 7636).",
        ),
        metadata={"example": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
    )
    client = fields.Nested(ClientSchema)


@blueprint.post("/api/ext/company-login")
@Operation(errors=(CompanySignInFailed, AccountDisabled, TooManyAttempts))
@blueprint.input(CompanyLoginSchema, arg_name="body")
@blueprint.output(LoginResponseSchema)
def company_login(body: dict[str, Any]) -> Response:
    """Exchange the code for a session; it is valid for a minute and once, even if the verifier is wrong."""
    failures = FailureCounter.for_client("login", services().settings.limit_login_address)
    failures.check()
    with admission.transaction() as session:
        account_id = codes.redeem(session, body["code"], body["code_verifier"], now=database_clock.now())
    if account_id is None:
        failures.add()
        raise CompanySignInFailed("The code is not valid, or not any more. Sign in again.")
    with admission.transaction() as session:
        account = accounts.locked(session, account_id)
        if account.disabled_at is not None:
            raise AccountDisabled
        started = session_start.start(
            session,
            account,
            network=LoginAttempt(account.email).network,
            client=body.get("client", {}),
            method=Method.COMPANY,
            now=database_clock.value(session),
        )
        return json_response(signed_in(session, started))
