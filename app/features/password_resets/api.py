"""POST /api/accounts/<account_id>/password-reset: a link with which a colleague gets a new password."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain.errors import AdminRequired, NotFound, OperatorRequired, PasswordResetRefused
from app.features.password_resets import actions
from app.infra import clock
from app.web.bodies.body import json_response
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema
from app.web.services import services
from app.web.sign_in.admins import admin_caller
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("password_reset_links", __name__, tag="Sessions")


class ResetLinkSchema(ResponseSchema):
    """A link that works once."""

    url = fields.URL(
        required=True,
        metadata={
            "description": "Shown only once: give it to the person whose account it is.",
            "example": f"https://contacts.example.com/sign-in/reset?token={'0' * 43}",
        },
    )
    expires_at = fields.DateTime(required=True, metadata={"example": "2026-11-21T09:30:00.000Z"})


@blueprint.post("/api/accounts/<account_id>/password-reset")
@Operation(
    errors=(AdminRequired, NotFound, OperatorRequired, PasswordResetRefused),
    path_parameters={"account_id": id_parameter("acc")},
)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output(ResetLinkSchema, status_code=201, description="The link; an earlier one no longer works.")
def create(account_id: str) -> Response:
    """Create a link for a colleague who has forgotten the password; this requires the session of an admin.

    The password stays until the link is used. Then all sessions and API keys of the account end.
    """
    with services().database.reading() as session:
        admin_caller(session)
    link = actions.create_link(account_id)
    return json_response({"url": link.url, "expires_at": clock.rfc3339(link.expires_at)}, 201)
