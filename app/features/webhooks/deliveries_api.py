"""/api/webhooks: the log of the workspace's deliveries and their attempts, and their replay."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain import ids
from app.domain.callers import Scope
from app.domain.errors import AdminRequired, EndpointDisabled, NotFound, ValidationFailed
from app.features.webhooks import attempts as webhook_attempts
from app.features.webhooks import delivery_log, endpoint_changes
from app.features.webhooks.attempts import AttemptState
from app.features.webhooks.delivery_log import DeliveryState
from app.infra.database import database_clock
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import TIME
from app.web.schemas.fields import ResponseSchema
from app.web.schemas.paging import IdCursor, page_size, split
from app.web.schemas.queries import QuerySchema
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("webhooks", __name__, tag="Events and webhooks")

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
WEBHOOK_ID = {"webhook_id": id_parameter("whk")}


class WebhooksQuery(QuerySchema):
    """The filter and page of the log."""

    failed = fields.Boolean(
        truthy={"true"},
        falsy={"false"},
        load_default=False,
        metadata={"description": "Only deliveries that failed or were given up."},
    )
    limit = page_size(DEFAULT_LIMIT, MAX_LIMIT)
    cursor = IdCursor("whk")


class WebhookSchema(ResponseSchema):
    """A delivery of an event, or of the end of a job, to a URL; of the URL, only the host is shown."""

    id = fields.String(
        required=True,
        metadata={"description": "The `webhook-id` of the messages.", "example": ids.EXAMPLES["whk"]},
    )
    type = fields.String(required=True, metadata={"example": "contact.job_changed"})
    job_id = fields.String(required=True, allow_none=True, metadata={"example": None})
    event_id = fields.String(required=True, allow_none=True, metadata={"example": ids.EXAMPLES["evt"]})
    endpoint_id = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Null for the `webhook_url` of an enrichment.",
            "example": ids.EXAMPLES["whe"],
        },
    )
    host = fields.String(required=True, allow_none=True, metadata={"example": "hooks.acme.example"})
    attempts = fields.Integer(required=True, metadata={"example": 1})
    state = fields.String(required=True, metadata={"enum": [state.value for state in DeliveryState]})
    next_at = fields.DateTime(required=True, allow_none=True, metadata={"example": TIME})
    delivered_at = fields.DateTime(required=True, allow_none=True, metadata={"example": TIME})
    created_at = fields.DateTime(required=True, metadata={"example": TIME})


class AttemptSchema(ResponseSchema):
    """One POST of a delivery; attempts are kept for 30 days."""

    attempted_at = fields.DateTime(required=True, metadata={"example": TIME})
    state = fields.String(required=True, metadata={"enum": [state.value for state in AttemptState]})
    status = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "The receiver's HTTP status.", "example": 204},
    )
    error = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Why it failed; null after a success.", "example": "timeout"},
    )
    latency_ms = fields.Integer(required=True, allow_none=True, metadata={"example": 84})


class WebhookLogSchema(WebhookSchema):
    """A delivery with its attempts, oldest first."""

    log = fields.List(fields.Nested(AttemptSchema), required=True)


class ReplayedWebhookSchema(WebhookSchema):
    """The delivery as it is now."""


class WebhooksResponseSchema(ResponseSchema):
    """The workspace's deliveries, newest first."""

    webhooks = fields.List(fields.Nested(WebhookSchema), required=True)
    next_cursor = fields.String(required=True, allow_none=True)


@blueprint.get("/api/webhooks")
@Operation(errors=(ValidationFailed,))
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.READ)
@blueprint.input(WebhooksQuery, location="query", arg_name="query")
@blueprint.output(WebhooksResponseSchema)
def index(query: dict[str, Any]) -> Response:
    """List the workspace's deliveries, newest first."""
    with services().database.reading() as session:
        rows = delivery_log.latest(
            session,
            workspace_id=caller().workspace_id,
            failed=query["failed"],
            before=query.get("cursor"),
            limit=query["limit"] + 1,
        )
    page, next_cursor = split(rows, query["limit"], "webhook.id")
    return json_response({"webhooks": [row.to_public() for row in page], "next_cursor": next_cursor})


@blueprint.get("/api/webhooks/<webhook_id>")
@Operation(errors=(NotFound,), path_parameters=WEBHOOK_ID)
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.READ)
@blueprint.output(WebhookLogSchema)
def show(webhook_id: str) -> Response:
    """Return a delivery with the log of its attempts."""
    with services().database.reading() as session:
        status = delivery_log.get_of_workspace(session, caller().workspace_id, webhook_id)
        attempts = webhook_attempts.list_for_webhook(session, webhook_id)
        now = database_clock.value(session)
    log_entries = [webhook_attempts.to_public(attempt, now=now) for attempt in attempts]
    return json_response({**status.to_public(), "log": log_entries})


@blueprint.post("/api/webhooks/<webhook_id>/replay")
@Operation(
    errors=(AdminRequired, NotFound, EndpointDisabled), takes_idempotency_key=True, path_parameters=WEBHOOK_ID
)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output(ReplayedWebhookSchema)
def replay(webhook_id: str) -> Response:
    """Deliver again, with the same `webhook-id` and a new series of retries; for the session of an admin."""
    status, replayed = endpoint_changes.replay(webhook_id)
    return json_response(status.to_public(), 200, REPLAYED if replayed else None)
