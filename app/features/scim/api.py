"""/api/scim: an admin makes the token of the identity provider, and says what its groups mean."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from app.domain.callers import Caller
from app.domain.errors import AdminRequired, NotFound
from app.features.scim import setup
from app.features.scim.schemas import GroupMappingSchema, NewScimTokenSchema, ProvisioningSchema
from app.web.bodies.body import json_response
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.admins import admin_caller
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("provisioning", __name__, tag="Provisioning")

GROUP = {
    "group_id": {
        "schema": {"type": "string", "pattern": "^scg_[0-9a-v]{24}$"},
        "example": "scg_0crnqk4e1k9jv0d2m4f6h8bf",
    }
}


@blueprint.get("/api/scim")
@Operation(errors=(AdminRequired,))
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(ProvisioningSchema)
def index() -> Response:
    """Describe the provisioning of the workspace; this requires the session of an admin."""
    return json_response(setup.describe(_admin().workspace_id))


@blueprint.post("/api/scim/token")
@Operation(errors=(AdminRequired,))
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output(NewScimTokenSchema, status_code=201, description="The token; the earlier one ended.")
def create_token() -> Response:
    """Make a new token for the identity provider; this requires the session of an admin."""
    _admin()
    return json_response({"token": setup.rotate()}, 201)


@blueprint.delete("/api/scim/token")
@Operation(errors=(AdminRequired,))
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def delete_token() -> Response:
    """End the token; accounts and groups stay. This requires the session of an admin."""
    _admin()
    setup.revoke()
    return Response(status=204)


@blueprint.put("/api/scim/groups/<group_id>")
@Operation(errors=(AdminRequired, NotFound), path_parameters=GROUP)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(GroupMappingSchema, arg_name="body")
@blueprint.output(ProvisioningSchema)
def put_group(group_id: str, body: dict[str, Any]) -> Response:
    """Set the role and the permissions of the members of a group; this requires the session of an admin."""
    admin = _admin()
    setup.map_group(group_id, role=body["role"], permissions=body["permissions"])
    return json_response(setup.describe(admin.workspace_id))


def _admin() -> Caller:
    with services().database.reading() as session:
        return admin_caller(session)
