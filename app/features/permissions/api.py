"""/api/permissions: what the members of the workspace, and each of its accounts, may do."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response

from app.domain.callers import Caller
from app.domain.errors import AdminRequired, NotFound
from app.domain.permissions import Permission
from app.features.permissions import seats
from app.features.permissions.schemas import AccountPermissionsSchema, MemberPermissionsSchema, SeatsSchema
from app.infra.telemetry.log import log
from app.web.bodies.body import json_response
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.services import services
from app.web.sign_in.admins import admin_caller
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("permissions", __name__, tag="Permissions")


@blueprint.get("/api/permissions")
@Operation(errors=(AdminRequired,))
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(SeatsSchema)
def index() -> Response:
    """List what members may do, and each account; this requires the session of an admin.

    `GET /api/ext/session` has what the caller itself may do.
    """
    return _seats(_admin())


@blueprint.put("/api/permissions/members")
@Operation(errors=(AdminRequired,))
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(MemberPermissionsSchema, arg_name="body")
@blueprint.output(SeatsSchema)
def put_members(body: dict[Permission, bool]) -> Response:
    """Set what members of the workspace may do by default; this requires the session of an admin."""
    admin = _admin()
    seats.change_members(admin.workspace_id, body)
    log.info("permissions of members changed", workspace=admin.workspace_id, by=admin.account_id)
    return _seats(admin)


@blueprint.put("/api/permissions/accounts/<account_id>")
@Operation(errors=(AdminRequired, NotFound), path_parameters={"account_id": id_parameter("acc")})
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(AccountPermissionsSchema, arg_name="body")
@blueprint.output(SeatsSchema)
def put_account(account_id: str, body: dict[Permission, bool | None]) -> Response:
    """Set what an account may do, and its API keys at most; this requires the session of an admin.

    While the account is an admin, it may do all.
    """
    admin = _admin()
    seats.change_account(admin.workspace_id, account_id, body)
    log.info("permissions of account changed", account=account_id, by=admin.account_id)
    return _seats(admin)


def _admin() -> Caller:
    with services().database.reading() as session:
        return admin_caller(session)


def _seats(admin: Caller) -> Response:
    with services().database.reading() as session:
        return json_response(seats.to_json(seats.read(session, admin.workspace_id)))
