"""/api/webhook-endpoints: the URLs of the workspace that receive its events; for admins."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain.errors import AdminRequired, NotFound
from app.domain.event_types import SUBSCRIBABLE
from app.domain.ids import EXAMPLES
from app.engine.events import endpoints
from app.engine.events.endpoints import DisabledReason, WebhookEndpoint
from app.features.webhooks import endpoint_changes
from app.features.webhooks.endpoint_schemas import EndpointChangeSchema, NewEndpointSchema
from app.features.webhooks.message_formats import MessageFormat
from app.infra.clock import rfc3339
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import TIME
from app.web.schemas.fields import ResponseSchema
from app.web.schemas.webhook_urls import EXAMPLE
from app.web.services import services
from app.web.sign_in.admins import admin_caller
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("webhook_endpoints", __name__, tag="Events and webhooks")
ENDPOINT_ID = {"endpoint_id": id_parameter("whe")}


class EndpointSchema(ResponseSchema):
    """A webhook endpoint of the workspace."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["whe"]})
    url = fields.String(required=True, metadata={"example": EXAMPLE})
    types = fields.List(
        fields.String(metadata={"enum": [*SUBSCRIBABLE]}),
        required=True,
        metadata={"example": ["contact.job_changed"]},
    )
    format_ = fields.String(
        data_key="format",
        required=True,
        metadata={"enum": [form.value for form in MessageFormat], "example": "standard"},
    )
    secret = fields.String(
        required=True,
        metadata={
            "description": "Signs the deliveries to this endpoint, as Standard Webhooks specifies.",
            "example": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        },
    )
    enabled = fields.Boolean(required=True)
    disabled_at = fields.DateTime(required=True, allow_none=True, metadata={"example": TIME})
    disabled_reason = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "enum": [*(reason.value for reason in DisabledReason), None],
            "description": "`failing`: nothing was accepted for days. `gone`: it answered 410.",
            "example": "failing",
        },
    )
    failing_since = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"description": "Since when every delivery fails; null after a success.", "example": TIME},
    )
    created_at = fields.DateTime(required=True, metadata={"example": TIME})


class EndpointsResponseSchema(ResponseSchema):
    """The endpoints of the workspace, newest first."""

    webhook_endpoints = fields.List(fields.Nested(EndpointSchema), required=True)


class EndpointResponseSchema(EndpointSchema):
    """The endpoint as it is now."""


class TestedEndpointSchema(ResponseSchema):
    """The event that is delivered to the tested endpoint."""

    event_id = fields.String(required=True, metadata={"example": EXAMPLES["evt"]})


REPLAY: dict[int | str, dict[str, str | dict[str, dict[str, Any]]]] = {
    200: {
        "description": "A replay of the creating request: the endpoint as it is now.",
        "content": {"application/json": {"schema": EndpointResponseSchema}},
    }
}


@blueprint.get("/api/webhook-endpoints")
@Operation(errors=(AdminRequired,))
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(EndpointsResponseSchema)
def index() -> Response:
    """List the webhook endpoints of the workspace; this requires the session of an admin."""
    with services().database.reading() as session:
        rows = endpoints.of_workspace(session, admin_caller(session).workspace_id)
    return json_response({"webhook_endpoints": list(map(_to_json, rows))})


@blueprint.post("/api/webhook-endpoints")
@Operation(errors=(AdminRequired,), takes_idempotency_key=True)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(NewEndpointSchema, arg_name="body")
@blueprint.output(EndpointResponseSchema, status_code=201)
@blueprint.doc(responses=REPLAY)
def create(body: dict[str, Any]) -> Response:
    """Create a webhook endpoint; this requires the session of an admin."""
    endpoint, replayed = endpoint_changes.create(body)
    if replayed:
        return json_response(_to_json(endpoint), 200, REPLAYED)
    return json_response(_to_json(endpoint), 201)


@blueprint.post("/api/webhook-endpoints/<endpoint_id>")
@Operation(errors=(AdminRequired, NotFound), takes_idempotency_key=True, path_parameters=ENDPOINT_ID)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(EndpointChangeSchema, arg_name="body")
@blueprint.output(EndpointResponseSchema)
def change(endpoint_id: str, body: dict[str, Any]) -> Response:
    """Change the types of an endpoint, disable it, or enable it again.

    Deliveries that were waiting when it was disabled are not repeated by themselves; replay them with
    `POST /api/webhooks/<webhook_id>/replay`.
    """
    endpoint, replayed = endpoint_changes.change(endpoint_id, body)
    return json_response(_to_json(endpoint), 200, REPLAYED if replayed else None)


@blueprint.delete("/api/webhook-endpoints/<endpoint_id>")
@Operation(errors=(AdminRequired, NotFound), path_parameters=ENDPOINT_ID)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def delete(endpoint_id: str) -> Response:
    """Delete an endpoint with the log of its deliveries."""
    endpoint_changes.delete(endpoint_id)
    return Response(status=204)


@blueprint.post("/api/webhook-endpoints/<endpoint_id>/test")
@Operation(errors=(AdminRequired, NotFound), takes_idempotency_key=True, path_parameters=ENDPOINT_ID)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output(TestedEndpointSchema)
def test(endpoint_id: str) -> Response:
    """Deliver a test event, `webhook_endpoint.test`, to this endpoint.

    It is queued; a disabled endpoint is tested, too. The log of deliveries shows the result.
    """
    event_id, replayed = endpoint_changes.send_test(endpoint_id)
    return json_response({"event_id": event_id}, 200, REPLAYED if replayed else None)


def _to_json(endpoint: WebhookEndpoint) -> dict[str, Any]:
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "types": endpoint.types,
        "format": endpoint.format,
        "secret": endpoints.secret(services().digest_keys, endpoint.id),
        "enabled": endpoint.disabled_at is None,
        "disabled_at": rfc3339(endpoint.disabled_at),
        "disabled_reason": endpoint.disabled_reason,
        "failing_since": rfc3339(endpoint.failing_since),
        "created_at": rfc3339(endpoint.created_at),
    }
