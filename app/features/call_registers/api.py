"""/api/call-registers: the do-not-call registers, and what the workspace does with the numbers in them."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from app.domain.call_registers import Effect
from app.domain.callers import Scope
from app.domain.errors import AdminRequired, NotFound, ValidationFailed
from app.features.call_registers import choices, overviews
from app.features.call_registers.schemas import ChosenRegisterSchema, EffectSchema, RegistersSchema
from app.web.bodies.body import json_response
from app.web.operations import Operation
from app.web.rate_limits import Policy, limited
from app.web.sign_in.auth import bearer

REGISTER_ID = {
    "register_id": {"schema": {"type": "string", "pattern": "^[a-z0-9-]{1,40}$"}, "example": "uk-tps"}
}
blueprint = APIBlueprint("call_registers", __name__, tag="Do-not-call registers")


@blueprint.get("/api/call-registers")
@Operation()
@blueprint.auth_required(bearer, roles=[Scope.LOOKUP])
@limited(Policy.READ)
@blueprint.output(RegistersSchema)
def index() -> Response:
    """List the do-not-call registers, their dates, and what your workspace does with the numbers in them."""
    return json_response({"registers": [overviews.to_public(row) for row in choices.shown()]})


@blueprint.put("/api/call-registers/<register_id>")
@Operation(errors=(AdminRequired, NotFound, ValidationFailed), path_parameters=REGISTER_ID)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(EffectSchema, arg_name="body")
@blueprint.output(ChosenRegisterSchema)
def choose(register_id: str, body: dict[str, Any]) -> Response:
    """Choose what your workspace does with the numbers in a register; it requires a session of an admin.

    `flag` shows them with a warning, `hide_for_members` only to admins, `hide` to nobody. A number that is
    hidden from an account is never charged to it.
    """
    return json_response(overviews.to_public(choices.choose(register_id, Effect(body["effect"]))))
