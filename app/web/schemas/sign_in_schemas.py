"""The requests with which an account signs in, and changes how it signs in."""

from __future__ import annotations

from marshmallow import fields, validate

from app.engine.accounts import totp
from app.infra.crypto import passwords
from app.web.schemas.fields import SingleLineString, StrictSchema, email, password


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


class CurrentPasswordSchema(StrictSchema):
    """The account's password."""

    current_password = password()


class PasswordSchema(StrictSchema):
    """The current password and the new one."""

    current_password = password()
    new_password = fields.String(
        required=True,
        load_only=True,
        validate=validate.Length(min=passwords.MIN_LENGTH, max=passwords.MAX_LENGTH),
        metadata={"example": "a longer sentence that no one else would think of"},
    )
