"""/api/webhook-endpoints: the URLs of the workspace that receive its events; for admins."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.domain.audit_actions import Action
from app.domain.errors import AdminRequired, NotFound
from app.domain.event_types import SUBSCRIBABLE
from app.domain.ids import EXAMPLES
from app.engine.events import deliveries, endpoints, events
from app.engine.events.endpoints import DisabledReason, WebhookEndpoint
from app.infra.clock import rfc3339
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED, begin, finish, is_replay
from app.web.operations import documented, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.contact_schemas import TIME
from app.web.schemas.fields import ResponseSchema, StrictBoolean, StrictSchema
from app.web.schemas.webhook_urls import EXAMPLE, webhook_url
from app.web.services import services
from app.web.sign_in.admins import admin_caller
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("webhook_endpoints", __name__, tag="Events and webhooks")
ENDPOINT_ID = {"endpoint_id": id_parameter("whe")}


def _types(**options: Any) -> fields.List[str]:
    return fields.List(
        fields.String(validate=validate.OneOf(SUBSCRIBABLE)),
        validate=validate.Length(min=1, max=len(SUBSCRIBABLE)),
        metadata={"example": ["contact.job_changed"], "description": "The types of events to deliver."},
        **options,
    )


class NewEndpointSchema(StrictSchema):
    """The endpoint to create."""

    url = webhook_url(required=True, description="Receives the events, each signed with the secret.")
    types = _types(required=True)


class EndpointChangeSchema(StrictSchema):
    """What to change; what is absent stays."""

    types = _types()
    enabled = StrictBoolean(
        metadata={"description": "A disabled endpoint receives nothing, and its retries end."}
    )


class EndpointSchema(ResponseSchema):
    """A webhook endpoint of the workspace."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["whe"]})
    url = fields.String(required=True, metadata={"example": EXAMPLE})
    types = fields.List(
        fields.String(metadata={"enum": [*SUBSCRIBABLE]}),
        required=True,
        metadata={"example": ["contact.job_changed"]},
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
@documented(AdminRequired)
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(EndpointsResponseSchema)
def index() -> Response:
    """List the webhook endpoints of the workspace; this requires the session of an admin."""
    with services().database.reading() as session:
        rows = endpoints.of_workspace(session, admin_caller(session).workspace_id)
        return json_response({"webhook_endpoints": [_to_json(session, row) for row in rows]})


@blueprint.post("/api/webhook-endpoints")
@documented(AdminRequired, takes_idempotency_key=True)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(NewEndpointSchema, arg_name="body")
@blueprint.output(EndpointResponseSchema, status_code=201)
@blueprint.doc(responses=REPLAY)
def create(body: dict[str, Any]) -> Response:
    """Create a webhook endpoint; this requires the session of an admin."""
    with admission.transaction() as session:
        workspace_id = admin_caller(session).workspace_id
        now = database_clock.value(session)
        reference = begin(session, now=now)
        if reference:
            existing = endpoints.get(session, workspace_id, reference)
            return json_response(_to_json(session, existing), 200, REPLAYED)
        endpoint = endpoints.create(session, workspace_id, **body, now=now)
        finish(session, endpoint.id)
        response = json_response(_to_json(session, endpoint), 201)
    log.info("webhook endpoint created", workspace=workspace_id, endpoint=endpoint.id)
    return response


@blueprint.post("/api/webhook-endpoints/<endpoint_id>")
@documented(AdminRequired, NotFound, takes_idempotency_key=True, path_parameters=ENDPOINT_ID)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(EndpointChangeSchema, arg_name="body")
@blueprint.output(EndpointResponseSchema)
def change(endpoint_id: str, body: dict[str, Any]) -> Response:
    """Change the types of an endpoint, disable it, or enable it again.

    Deliveries that were waiting when it was disabled are not repeated by themselves; replay them with
    `POST /api/webhooks/<webhook_id>/replay`.
    """
    with admission.transaction() as session:
        endpoint = endpoints.locked(session, admin_caller(session).workspace_id, endpoint_id)
        now = database_clock.value(session)
        if is_replay(session, endpoint_id, now=now):
            return json_response(_to_json(session, endpoint), 200, REPLAYED)
        endpoint.types = sorted(set(body.get("types", endpoint.types)))
        if body.get("enabled") is True:
            endpoints.enable(endpoint)
        if body.get("enabled") is False:
            deliveries.disable(session, endpoint, now=now)
        session.flush()
        endpoints.record(session, Action.WEBHOOK_ENDPOINT_CHANGE, endpoint)
        response = json_response(_to_json(session, endpoint))
    log.info("webhook endpoint changed", endpoint=endpoint_id)
    return response


@blueprint.delete("/api/webhook-endpoints/<endpoint_id>")
@documented(AdminRequired, NotFound, path_parameters=ENDPOINT_ID)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def delete(endpoint_id: str) -> Response:
    """Delete an endpoint with the log of its deliveries."""
    with admission.transaction() as session:
        endpoints.delete(session, endpoints.locked(session, admin_caller(session).workspace_id, endpoint_id))
    log.info("webhook endpoint deleted", endpoint=endpoint_id)
    return Response(status=204)


@blueprint.post("/api/webhook-endpoints/<endpoint_id>/test")
@documented(AdminRequired, NotFound, takes_idempotency_key=True, path_parameters=ENDPOINT_ID)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output(TestedEndpointSchema)
def test(endpoint_id: str) -> Response:
    """Deliver a test event, `webhook_endpoint.test`, to this endpoint.

    It is queued; a disabled endpoint is tested, too. The log of deliveries shows the result.
    """
    with admission.transaction() as session:
        workspace_id = admin_caller(session).workspace_id
        now = database_clock.now()
        earlier = begin(session, now=now)
        if earlier:
            return json_response({"event_id": earlier}, 200, REPLAYED)
        event_id = events.record_test(session, workspace_id, endpoint_id, now=now)
        finish(session, event_id)
    return json_response({"event_id": event_id})


def _to_json(session: Session, endpoint: WebhookEndpoint) -> dict[str, Any]:
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "types": endpoint.types,
        "secret": endpoints.secret(session.keys, endpoint.id),
        "enabled": endpoint.disabled_at is None,
        "disabled_at": rfc3339(endpoint.disabled_at),
        "disabled_reason": endpoint.disabled_reason,
        "failing_since": rfc3339(endpoint.failing_since),
        "created_at": rfc3339(endpoint.created_at),
    }
