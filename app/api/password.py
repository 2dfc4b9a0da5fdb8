"""POST /api/password: change the password of the signed-in account."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.engine.accounts import accounts, login_throttle
from app.infra.crypto import passwords
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import StrictSchema, password
from app.web.sign_in import own_password
from app.web.sign_in.auth import bearer, session_caller

blueprint = APIBlueprint("password", __name__, tag="Sessions")


class PasswordSchema(StrictSchema):
    """The current password and the new one."""

    current_password = password()
    new_password = fields.String(
        required=True,
        load_only=True,
        validate=validate.Length(min=passwords.MIN_LENGTH, max=passwords.MAX_LENGTH),
        metadata={"example": "a longer sentence that no one else would think of"},
    )


@blueprint.post("/api/password")
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(PasswordSchema, arg_name="body")
@blueprint.output({}, status_code=204)
def change(body: dict[str, Any]) -> Response:
    """Change the account's password; this requires a session, not an API key.

    All API keys and sessions of the account end at once, including the current session. Sign in again with
    the new password. Wrong passwords count towards the limits of the login.
    """
    change_password(session_caller().account_id, body)
    return Response(status=204)


def change_password(account_id: str, body: dict[str, Any]) -> None:
    """Change the password after a check of the current one, and end all sessions and API keys of the account.

    Raises:
        ValidationFailed: the current password is wrong.
        TooManyAttempts: as in `LoginAttempt`.

    """
    checked = own_password.check(account_id, body["current_password"])
    new_hash = passwords.hash_password(body["new_password"])
    with admission.transaction() as session:
        if accounts.locked(session, account_id).password_hash != checked.password_hash:  # changed meanwhile
            own_password.refuse()
        accounts.set_password(session, account_id, new_hash, now=database_clock.now())
        login_throttle.reset(session, checked.email)
    log.info("password changed", account=account_id)
