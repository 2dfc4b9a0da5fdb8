"""/api/crm/vendors and /api/crm/connections: the CRMs, and the workspace's connections to them."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from app.domain.callers import Scope
from app.domain.errors import AdminRequired, NotFound
from app.features.crm import connection_changes, connections, properties, sentences
from app.features.crm.connections import CrmConnection
from app.features.crm.index import readings
from app.features.crm.index.readings import CrmReading
from app.features.crm.schemas import (
    ConnectionChangeSchema,
    ConnectionResponseSchema,
    ConnectionsResponseSchema,
    NewConnection,
    NewConnectionSchema,
    PropertiesResponseSchema,
    VendorsResponseSchema,
)
from app.features.crm.vendors import registry
from app.features.crm.vendors.person import CrmField
from app.features.crm.vendors.properties import Property
from app.infra import clock
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.languages.texts import in_response
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("crm_connections", __name__, tag="CRM")
REPLAY: dict[int | str, Any] = {
    200: {
        "description": "A replay of the creating request: the connection as it is now.",
        "content": {"application/json": {"schema": ConnectionResponseSchema}},
    }
}


@blueprint.get("/api/crm/vendors")
@Operation()
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(VendorsResponseSchema)
def vendors() -> Response:
    """List the CRMs that can be connected, with the default mapping of each."""
    known = [
        {
            "name": crm.name,
            "title": crm.title,
            "takes_token": crm.takes_token,
            "offers_oauth": crm.offers_oauth,
            "needs_url": crm.needs_url,
            "mapping": dict(crm.mapping),
        }
        for crm in registry.load(services().settings).values()
    ]
    return json_response({"vendors": known, "fields": [field.value for field in CrmField]})


@blueprint.get("/api/crm/connections")
@Operation()
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.READ)
@blueprint.output(ConnectionsResponseSchema)
def index() -> Response:
    """List the workspace's connections, without their secrets."""
    with services().database.reading() as session:
        found = connections.of_workspace(session, caller().workspace_id)
        known = readings.of_workspace(session, caller().workspace_id)
    shown = [to_json(connection, known.get(connection.id)) for connection in found]
    return json_response({"connections": shown})


@blueprint.post("/api/crm/connections")
@Operation(errors=(AdminRequired,), takes_idempotency_key=True)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(NewConnectionSchema, arg_name="body")
@blueprint.output(
    ConnectionResponseSchema, status_code=201, description="The connection; a worker checks it."
)
@blueprint.doc(responses=REPLAY)
def create(body: NewConnection) -> Response:
    """Connect a CRM with a token; only an admin can do it, from a session.

    The token is stored encrypted and never returned. A worker checks it, for which the request waits up to
    three seconds: a token or an address that is wrong is refused with 422. If the CRM is slower, `status` is
    `checking` until it is `connected`, or `reconnect` with the reason in `error`.
    """
    connection, is_replayed = connection_changes.create(body)
    shown = {"connection": to_json(connection, _reading(connection))}
    return json_response(shown, 200, REPLAYED) if is_replayed else json_response(shown, 201)


@blueprint.post("/api/crm/connections/<connection_id>")
@Operation(
    errors=(AdminRequired, NotFound),
    takes_idempotency_key=True,
    path_parameters={"connection_id": id_parameter("crm")},
)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(ConnectionChangeSchema, arg_name="body")
@blueprint.output(ConnectionResponseSchema)
def change(connection_id: str, body: dict[str, Any]) -> Response:
    """Change what is written or the token, and check the credentials; only an admin can, from a session.

    A property that the CRM does not have, or that cannot be written, and a constant value that it does not
    accept are refused, as far as the properties could be read when the credentials were checked.

    A new token is checked as that of a new connection; if it is refused, the connection keeps its former one.
    Pushes that wait for a token that works are made then.
    """
    connection, is_replayed = connection_changes.change(connection_id, body)
    shown = {"connection": to_json(connection, _reading(connection))}
    return json_response(shown, 200, REPLAYED if is_replayed else None)


@blueprint.get("/api/crm/connections/<connection_id>/properties")
@Operation(errors=(NotFound,), path_parameters={"connection_id": id_parameter("crm")})
@blueprint.auth_required(bearer, roles=[Scope.SAVE])
@limited(Policy.READ)
@blueprint.output(PropertiesResponseSchema)
def index_properties(connection_id: str) -> Response:
    """List the properties that people have in the CRM, as they were read with the last check.

    They can be mapped, or have a constant value. There are none if the credentials may not read them.
    """
    with services().database.reading() as session:
        connection = connections.get(session, caller().workspace_id, connection_id)
        found = properties.of_connection(session, connection)
    return json_response({"properties": list(map(_property_json, found.values()))})


@blueprint.delete("/api/crm/connections/<connection_id>")
@Operation(errors=(AdminRequired, NotFound), path_parameters={"connection_id": id_parameter("crm")})
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def delete(connection_id: str) -> Response:
    """Disconnect a CRM: its secrets and the log of its pushes are deleted; the CRM keeps what was pushed."""
    connection_changes.delete(connection_id)
    return Response(status=204)


def to_json(connection: CrmConnection, reading: CrmReading | None) -> dict[str, Any]:
    """Return the connection without its secrets, and how far its CRM has been read."""
    return {
        "id": connection.id,
        "vendor": connection.vendor,
        "base_url": connection.base_url,
        "status": connection.status,
        "error": connection.error,
        "error_message": in_response(sentences.sentence(connection.error)) or None,
        "mapping": connection.mapping,
        "constants": connection.constants,
        "new_people": connection.new_people,
        "excluded_stages": connection.excluded_stages or [],
        "created_by": connection.created_by,
        "created_at": clock.rfc3339(connection.created_at),
        "checked_at": clock.rfc3339(connection.checked_at),
        "reading": None if reading is None else _reading_json(reading),
    }


def _property_json(one: Property) -> dict[str, Any]:
    options = [{"value": value, "label": label} for value, label in one.options]
    return one.as_json() | {"options": options}


def _reading(connection: CrmConnection) -> CrmReading | None:
    with services().database.reading() as session:
        return readings.of_workspace(session, connection.workspace_id).get(connection.id)


def _reading_json(reading: CrmReading) -> dict[str, Any]:
    return {
        "records": reading.records,
        "read_at": clock.rfc3339(reading.finished_at),
        "stages": reading.stages,
        "in_progress": reading.started_at is not None,
        "error": reading.error,
        "error_message": in_response(sentences.reading_sentence(reading.error)) or None,
        "notes": [
            {"code": code, "message": in_response(sentences.reading_sentence(code))} for code in reading.notes
        ],
    }
