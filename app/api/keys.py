"""/api/keys: create, list and revoke the API keys of the signed-in account."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.domain.callers import Scope
from app.domain.errors import ApiAccessRequired, NotFound
from app.domain.ids import EXAMPLES
from app.domain.permissions import Permission
from app.domain.spending import Period
from app.engine.ledger import key_limits
from app.engine.ledger.key_limits import LimitedKey
from app.infra import clock
from app.infra.database import database_clock
from app.web.accounts import key_changes
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED
from app.web.operations import Operation, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema
from app.web.schemas.key_schemas import NewKeySchema
from app.web.schemas.limit_schemas import LimitUsageSchema, usage_json
from app.web.services import services
from app.web.sign_in.auth import bearer

blueprint = APIBlueprint("keys", __name__, tag="API keys")


class KeySchema(ResponseSchema):
    """An API key without its secret."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["key"]})
    name = fields.String(required=True, metadata={"example": "CRM sync"})
    prefix = fields.String(required=True, metadata={"example": "key_1a2B3c4D"})
    scopes = fields.List(fields.String(validate=validate.OneOf(list(Scope))), required=True)
    permissions = fields.List(
        fields.String(validate=validate.OneOf(list(Permission))),
        required=True,
        metadata={"description": "The key has those of them that its account has, too."},
    )
    created_at = fields.DateTime(required=True, metadata={"example": "2026-11-20T09:30:00.000Z"})
    expires_at = fields.DateTime(
        required=True, allow_none=True, metadata={"example": "2030-01-01T00:00:00.000Z"}
    )
    last_used_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={"example": "2026-11-20T09:31:00.000Z", "description": "Accurate to the minute."},
    )
    spending_cap = fields.Nested(LimitUsageSchema, required=True, allow_none=True)
    monthly_limit = fields.Nested(LimitUsageSchema, required=True, allow_none=True)


class NewKeyResponseSchema(KeySchema):
    """A new API key with its secret."""

    key = fields.String(
        required=True, metadata={"description": "The secret, shown only once.", "example": f"key_{'0' * 49}"}
    )


REPLAY: dict[int | str, dict[str, str | dict[str, dict[str, Any]]]] = {
    200: {
        "description": "A replay of the creating request: the key as it is now, without its secret.",
        "content": {"application/json": {"schema": KeySchema}},
    }
}


class KeysResponseSchema(ResponseSchema):
    """The account's keys that are not revoked, newest first."""

    keys = fields.List(fields.Nested(KeySchema), required=True)


@blueprint.post("/api/keys")
@Operation(errors=(ApiAccessRequired,), takes_idempotency_key=True)
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.input(NewKeySchema, arg_name="body")
@blueprint.output(
    NewKeyResponseSchema, status_code=201, description="The key with its secret, which is shown only once."
)
@blueprint.doc(responses=REPLAY)
def create(body: dict[str, Any]) -> Response:
    """Create an API key; this requires a session of an account with API access.

    A replay with the same `Idempotency-Key` returns the key as it is now, without its secret. If the
    response with the secret was lost, revoke the key and create another.
    """
    key, secret = key_changes.create(body)
    if secret is None:
        return json_response(_to_json(key), 200, REPLAYED)
    return json_response({**_to_json(key), "key": secret}, 201)


@blueprint.get("/api/keys")
@Operation(errors=(ApiAccessRequired,))
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(KeysResponseSchema)
def index() -> Response:
    """List the API keys of the signed-in account."""
    account_id = key_changes.owner().account_id
    with services().database.reading() as session:
        keys = key_limits.of_account(session, account_id, now=database_clock.now())
    return json_response({"keys": [_to_json(key) for key in keys]})


@blueprint.delete("/api/keys/<key_id>")
@Operation(errors=(ApiAccessRequired, NotFound), path_parameters={"key_id": id_parameter("key")})
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def revoke(key_id: str) -> Response:
    """Revoke an API key; it stops working at once."""
    key_changes.revoke(key_id)
    return Response(status=204)


def _to_json(limited_key: LimitedKey) -> dict[str, Any]:
    key = limited_key.key
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": key.scopes,
        "permissions": sorted(Permission) if key.permissions is None else key.permissions,
        "created_at": clock.rfc3339(key.created_at),
        "expires_at": clock.rfc3339(key.expires_at),
        "last_used_at": clock.rfc3339(key.last_used_at),
        "spending_cap": usage_json(limited_key.usage.get(Period.TOTAL)),
        "monthly_limit": usage_json(limited_key.usage.get(Period.MONTH)),
    }
