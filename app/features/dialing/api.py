"""/api/dial-link: the form of the links by which the workspace dials."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response

from app.domain.errors import AdminRequired
from app.features.dialing import link_forms, settings
from app.features.dialing.schemas import DialLinkSchema, StoredDialLinkSchema
from app.web.bodies.body import json_response
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("dialing", __name__, tag="Workspace")


@blueprint.get("/api/dial-link")
@Operation()
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(StoredDialLinkSchema)
def get_dial_link() -> Response:
    """Return the form of the links by which the workspace dials."""
    with services().database.reading() as session:
        return json_response({"dial_link": settings.form_of(session, caller().workspace_id)})


@blueprint.put("/api/dial-link")
@Operation(errors=(AdminRequired,))
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(DialLinkSchema, arg_name="body")
@blueprint.output(StoredDialLinkSchema)
def put_dial_link(body: dict[str, str | None]) -> Response:
    """Choose the form of the links; it requires a session of an admin."""
    return json_response({"dial_link": settings.choose(body["dial_link"] or link_forms.DEFAULT)})
