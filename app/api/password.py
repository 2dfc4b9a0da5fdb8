"""`password`: a signed-in account gives itself a new password."""

from __future__ import annotations

from typing import Any, NoReturn

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.api.http.auth import bearer, session_caller
from app.api.http.login_attempts import LoginAttempt, record_outcome
from app.api.http.rate_limits import Policy, limited
from app.api.http.services import services
from app.api.schemas.fields import StrictSchema
from app.core.accounts import accounts, login_throttle
from app.core.accounts.accounts import Account
from app.domain.errors import FieldError, ValidationFailed
from app.infra import database_clock, passwords
from app.infra.log import log

blueprint = APIBlueprint("password", __name__, tag="Sessions")


class PasswordIn(StrictSchema):
    """The password as it is and as it shall be."""

    current_password = fields.String(
        required=True,
        load_only=True,
        validate=validate.Length(min=1, max=passwords.MAX_LENGTH),
        metadata={"example": "correct horse battery staple"},
    )
    new_password = fields.String(
        required=True,
        load_only=True,
        validate=validate.Length(min=passwords.MIN_LENGTH, max=passwords.MAX_LENGTH),
        metadata={"example": "a longer sentence that nobody else would think of"},
    )


@blueprint.post("/api/password")
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(PasswordIn, arg_name="body")
@blueprint.output({}, status_code=204)
def change(body: dict[str, Any]) -> Response:
    """Change the account's password; it needs a session, not an API key.

    Everything the account handed out ends at once: its API keys and its sessions, the one that asks too.
    Sign in again with the new password. Wrong passwords are counted as at the sign-in.
    """
    who = session_caller()
    with services().database.reading() as session:
        email, stored = _known(session.get_one(Account, who.account_id))
    attempt = LoginAttempt(email)
    with record_outcome():
        attempt.check_limits()
        attempt.account()
        if not attempt.verify(stored, body["current_password"]):
            attempt.record_failure()
            _refuse()
    new_hash = passwords.hash_password(body["new_password"])
    with services().database.transaction() as session:
        if accounts.locked(session, who.account_id).password_hash != stored:  # changed meanwhile
            _refuse()
        accounts.set_password(session, who.account_id, new_hash, now=database_clock.now())
        login_throttle.succeeded(session, email)
    log.info("password changed", account=who.account_id)
    return Response(status=204)


def _known(account: Account) -> tuple[str, str]:
    return account.email, account.password_hash


def _refuse() -> NoReturn:
    """Say that the current password is wrong: the token is right, so this is no 401."""
    raise ValidationFailed(errors=(FieldError("/current_password", "This is not the account's password."),))
