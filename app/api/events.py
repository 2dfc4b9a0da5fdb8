"""GET /api/events: the latest events of the workspace."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.domain import ids
from app.domain.callers import Scope
from app.domain.errors import ValidationFailed
from app.domain.event_types import EventType
from app.engine.events import events as core
from app.web import costs
from app.web.bodies.body import json_response
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import TIME
from app.web.schemas.fields import ResponseSchema
from app.web.schemas.paging import IdCursor, page_size, split
from app.web.schemas.queries import QuerySchema
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("events", __name__, tag="Events and webhooks")

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


class EventsQuery(QuerySchema):
    """The type and page of a list of events."""

    type = fields.String(validate=validate.OneOf([type_.value for type_ in EventType]))
    limit = page_size(DEFAULT_LIMIT, MAX_LIMIT)
    cursor = IdCursor("evt")


class EventSchema(ResponseSchema):
    """An event; its webhooks have the same body."""

    id = fields.String(required=True, metadata={"example": ids.EXAMPLES["evt"]})
    type = fields.String(required=True, metadata={"example": EventType.CONTACT_JOB_CHANGED.value})
    timestamp = fields.DateTime(required=True, metadata={"example": TIME})
    data = fields.Dict(
        required=True,
        metadata={
            "description": "Ids and figures; it has no personal data.",
            "example": {"contact_id": ids.EXAMPLES["con"], "source": "import"},
        },
    )


class EventsResponseSchema(ResponseSchema):
    """The workspace's events of the last 180 days, newest first."""

    events = fields.List(fields.Nested(EventSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


@blueprint.get("/api/events")
@Operation(errors=(ValidationFailed,))
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.READ)
@blueprint.input(EventsQuery, location="query", arg_name="query")
@blueprint.output(EventsResponseSchema)
def index(query: dict[str, Any]) -> Response:
    """List the events of the workspace, newest first.

    Those about spending limits are left out without the permission `see_costs`.
    """
    with services().database.reading() as session:
        rows = core.latest(
            session,
            caller().workspace_id,
            type_=query.get("type"),
            left_out=costs.hidden_events(),
            before=query.get("cursor"),
            limit=query["limit"] + 1,
        )
    page, next_cursor = split(rows, query["limit"])
    return json_response({"events": list(map(core.to_public, page)), "next_cursor": next_cursor})
