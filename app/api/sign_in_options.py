"""GET /api/ext/sign-in-options: how accounts can sign in to this server."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.web.bodies.body import json_response
from app.web.feature import sign_in_option
from app.web.schemas.fields import ResponseSchema
from app.web.services import services

blueprint = APIBlueprint("sign_in_options", __name__, tag="Login")


class CompanyOptionSchema(ResponseSchema):
    """The sign-in with a company account."""

    name = fields.String(
        required=True, metadata={"example": "Acme", "description": "What follows 'Sign in with'."}
    )
    path = fields.String(
        required=True, metadata={"example": "/sign-in/company", "description": "Where a browser starts."}
    )
    extension_ids = fields.List(
        fields.String(metadata={"example": "abcdefghijklmnopabcdefghijklmnop"}),
        required=True,
        metadata={"description": "The ids of the Chrome extensions that may use it."},
    )


class SignInOptionsResponseSchema(ResponseSchema):
    """The ways to sign in that this server accepts."""

    password = fields.Boolean(required=True, metadata={"example": True})
    company = fields.Nested(CompanyOptionSchema, required=True, allow_none=True)


@blueprint.get("/api/ext/sign-in-options")
@blueprint.output(SignInOptionsResponseSchema)
def sign_in_options() -> Response:
    """List the ways to sign in, for the form of a client that no one has signed in to."""
    settings = services().settings
    option = sign_in_option(settings)
    return json_response({"password": settings.password_sign_in, "company": option and option._asdict()})
