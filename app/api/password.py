"""POST /api/password: change the password of the signed-in account."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from app.web.rate_limits import Policy, limited
from app.web.schemas.sign_in_schemas import PasswordSchema
from app.web.sign_in import own_password
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("password", __name__, tag="Sessions")


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
    own_password.change(body["current_password"], body["new_password"])
    return Response(status=204)
