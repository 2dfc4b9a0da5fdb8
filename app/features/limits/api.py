"""/api/limits: the spending limits of a workspace's accounts and API keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields

from app.domain import ids
from app.domain.callers import Scope
from app.domain.errors import AdminRequired, FieldError, InsufficientScope, NotFound, ValidationFailed
from app.domain.permissions import Permission
from app.engine.ledger import limit_settings
from app.engine.ledger.limit_settings import SubjectLimit
from app.features.limits.schemas import AccountLimitsSchema, SpendingLimitSchema
from app.web import permissions
from app.web.accounts import limit_changes
from app.web.bodies.body import json_response
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema
from app.web.schemas.limit_schemas import PERIODS, KeyLimitsSchema
from app.web.schemas.paging import IdCursor, page_size, split
from app.web.schemas.queries import QuerySchema
from app.web.services import services
from app.web.sign_in.admins import admin_caller
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("limits", __name__, tag="Limits and usage")

MAX_PAGE = 100


class LimitsQuery(QuerySchema):
    """The page of a list of limits."""

    limit = page_size(MAX_PAGE, MAX_PAGE)
    cursor = IdCursor("lim")


class LimitsResponseSchema(ResponseSchema):
    """Limits and their use, newest first."""

    limits = fields.List(fields.Nested(SpendingLimitSchema), required=True)


class LimitsPageSchema(LimitsResponseSchema):
    """A page of limits."""

    next_cursor = fields.String(required=True, allow_none=True)


@blueprint.get("/api/limits")
@Operation(errors=(ValidationFailed,))
@blueprint.auth_required(bearer, roles=[Scope.REVEAL, Scope.ENRICH])
@limited(Policy.READ)
@blueprint.input(LimitsQuery, location="query", arg_name="query")
@blueprint.output(LimitsPageSchema)
def index(query: dict[str, Any]) -> Response:
    """List the spending limits and their use, newest first.

    Admins see those of the workspace, members those of their account and its keys. An API key sees its own
    and those of its account.
    """
    permissions.require(Permission.SEE_COSTS)
    with services().database.reading() as session:
        rows = limit_changes.visible(session, before=query.get("cursor"), limit=query["limit"] + 1)
    page, next_cursor = split(rows, query["limit"])
    return json_response({"limits": _to_json(page), "next_cursor": next_cursor})


@blueprint.put("/api/limits/accounts/<account_id>")
@Operation(errors=(AdminRequired, NotFound), path_parameters={"account_id": id_parameter("acc")})
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(AccountLimitsSchema, arg_name="body")
@blueprint.output(LimitsResponseSchema)
def put_account_limits(account_id: str, body: dict[str, int | None]) -> Response:
    """Set or remove the monthly limit of an account, which covers its sessions and its API keys.

    It requires a session of an admin of the workspace. What was spent in this month counts at once.
    """
    with services().database.reading() as session:
        admin_caller(session)
    return _put(account_id, "acc", body)


@blueprint.put("/api/limits/keys/<key_id>")
@Operation(errors=(NotFound,), path_parameters={"key_id": id_parameter("key")})
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(KeyLimitsSchema, arg_name="body")
@blueprint.output(LimitsResponseSchema)
def put_key_limits(key_id: str, body: dict[str, int | None]) -> Response:
    """Set or remove limits of an API key.

    It requires a session of the key's owner or of an admin. The key itself may lower its limits.
    """
    if not body:
        message = "Send monthly_limit or spending_cap."
        raise ValidationFailed(errors=(FieldError("", message),))
    if caller().key_id not in {None, key_id}:
        raise InsufficientScope(
            "An API key can only lower its own limits. Sign in to change those of others."
        )
    return _put(key_id, "key", body)


def _put(subject_id: str, prefix: ids.Prefix, body: dict[str, int | None]) -> Response:
    limits = {PERIODS[name]: credits_ for name, credits_ in body.items()}
    return json_response({"limits": _to_json(limit_changes.change(subject_id, prefix, limits))})


def _to_json(limits: Sequence[SubjectLimit]) -> list[dict[str, Any]]:
    return [limit_settings.to_public(limit) for limit in limits]
