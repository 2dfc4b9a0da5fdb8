"""/api/sessions: list and end the sessions of the signed-in account."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain.errors import NotFound
from app.domain.ids import EXAMPLES
from app.engine.accounts import sessions
from app.engine.accounts.sessions import LoginSession
from app.infra import clock
from app.infra.database import database_clock
from app.web.bodies.body import json_response
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema
from app.web.services import services
from app.web.sign_in import own_sessions
from app.web.sign_in.auth import bearer, session_caller

blueprint = APIBlueprint("sessions", __name__, tag="Sessions")


class LoginSessionSchema(ResponseSchema):
    """A session without its token; its id is not secret."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["ses"]})
    client_name = fields.String(required=True, allow_none=True, metadata={"example": "chrome-extension"})
    client_version = fields.String(required=True, allow_none=True, metadata={"example": "1.0.0"})
    created_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T09:30:00.000Z"})
    last_used_at = fields.DateTime(
        required=True,
        metadata={"example": "2026-11-20T09:31:00.000Z", "description": "Accurate to the minute."},
    )
    expires_at = fields.DateTime(
        required=True,
        metadata={
            "example": "2026-12-04T09:31:00.000Z",
            "description": "When the session expires if it is not used again.",
        },
    )
    current = fields.Boolean(
        required=True, metadata={"description": "Whether it is the session of this request."}
    )


class SessionsResponseSchema(ResponseSchema):
    """The account's open sessions, most recently used first, at most 100."""

    sessions = fields.List(fields.Nested(LoginSessionSchema), required=True)


@blueprint.get("/api/sessions")
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(SessionsResponseSchema)
def index() -> Response:
    """List the open sessions of the account; this requires a session, not an API key."""
    current = session_caller()
    with services().database.reading() as session:
        open_sessions = sessions.of_account(
            session, current.account_id, lifetime=services().session_lifetime, now=database_clock.now()
        )
    return json_response(
        {"sessions": [_to_json(row, current=row.id == current.token_id) for row in open_sessions]}
    )


@blueprint.delete("/api/sessions")
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def end_others() -> Response:
    """End every other session of the account at once."""
    own_sessions.end_others()
    return Response(status=204)


@blueprint.delete("/api/sessions/<session_id>")
@Operation(errors=(NotFound,), path_parameters={"session_id": id_parameter("ses")})
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def end(session_id: str) -> Response:
    """End one session of the account at once.

    It may be the session of this request. Ending a session again is harmless.
    """
    own_sessions.end(session_id)
    return Response(status=204)


def _to_json(login_session: LoginSession, *, current: bool) -> dict[str, Any]:
    return {
        "id": login_session.id,
        "client_name": login_session.client_name,
        "client_version": login_session.client_version,
        "created_at": clock.rfc3339(login_session.created_at),
        "last_used_at": clock.rfc3339(login_session.last_used_at),
        "expires_at": clock.rfc3339(login_session.ends_at(services().session_lifetime)),
        "current": current,
    }
