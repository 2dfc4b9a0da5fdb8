"""`sessions`: where the account is signed in, and signing out there."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema
from flask import Response
from marshmallow import fields

from app.api.http.auth import bearer, session_caller
from app.api.http.rate_limits import Policy, limited
from app.api.http.responses import json_response
from app.api.http.services import services
from app.core.accounts import sessions
from app.core.accounts.sessions import LoginSession
from app.domain.ids import EXAMPLES
from app.infra import clock, database_clock
from app.infra.log import log

blueprint = APIBlueprint("sessions", __name__, tag="Sessions")


class SignedInOut(Schema):
    """One session, without its token; its id is no secret."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["ses"]})
    client_name = fields.String(required=True, allow_none=True, metadata={"example": "chrome-extension"})
    client_version = fields.String(required=True, allow_none=True, metadata={"example": "1.0.0"})
    created_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T09:30:00.000Z"})
    last_used_at = fields.DateTime(
        required=True, metadata={"example": "2026-11-20T09:31:00.000Z", "description": "To the minute."}
    )
    expires_at = fields.DateTime(
        required=True,
        metadata={
            "example": "2026-12-04T09:31:00.000Z",
            "description": "When it ends if it is not used again.",
        },
    )
    current = fields.Boolean(required=True, metadata={"description": "Whether it is the one that asks."})


class SessionsOut(Schema):
    """The account's sessions that have not ended, the last used first, at most 100."""

    sessions = fields.List(fields.Nested(SignedInOut), required=True)


@blueprint.get("/api/sessions")
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(SessionsOut)
def index() -> Response:
    """List where the account is signed in; it needs a session, not an API key."""
    who = session_caller()
    with services().database.reading() as session:
        found = sessions.of_account(session, who.account_id, now=database_clock.now())
    return json_response({"sessions": [_shown(each, current=each.id == who.token_id) for each in found]})


@blueprint.delete("/api/sessions")
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def end_others() -> Response:
    """Sign out everywhere else: every session of the account ends at once but the one that asks."""
    who = session_caller()
    with services().database.transaction() as session:
        ended = sessions.end_all(session, who.account_id, spared=who.token_id, now=database_clock.now())
    log.info("other sessions ended", account=who.account_id, sessions=ended)
    return Response(status=204)


@blueprint.delete("/api/sessions/<session_id>")
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def end(session_id: str) -> Response:
    """End one session of the account at once; it may be the one that asks, and doing it again is harmless."""
    who = session_caller()
    with services().database.transaction() as session:
        sessions.end(session, who.account_id, session_id, now=database_clock.now())
    log.info("session ended", account=who.account_id, session=session_id)
    return Response(status=204)


def _shown(held: LoginSession, *, current: bool) -> dict[str, Any]:
    return {
        "id": held.id,
        "client_name": held.client_name,
        "client_version": held.client_version,
        "created_at": clock.rfc3339(held.created_at),
        "last_used_at": clock.rfc3339(held.last_used_at),
        "expires_at": clock.rfc3339(held.ends_at),
        "current": current,
    }
