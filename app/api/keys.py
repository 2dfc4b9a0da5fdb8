"""/api/keys: create, list and revoke the API keys of the signed-in account."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from apiflask import APIBlueprint
from flask import Response
from marshmallow import fields, validate

from app.domain.callers import Caller, Scope
from app.domain.errors import ApiAccessRequired, FieldError, NotFound, ValidationFailed
from app.domain.ids import EXAMPLES
from app.domain.spending import Period
from app.engine.accounts import accounts, api_keys, authentication
from app.engine.ledger import key_limits
from app.engine.ledger.key_limits import LimitedKey
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.body import json_response
from app.web.bodies.idempotency_header import REPLAYED, begin, finish
from app.web.operations import documented, id_parameter
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema, SingleLineString, StrictSchema, UtcTime
from app.web.schemas.limit_schemas import (
    MONTHLY_LIMIT,
    SPENDING_CAP,
    LimitUsageSchema,
    limit_field,
    usage_json,
)
from app.web.services import services
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("keys", __name__, tag="API keys")
MAX_LIFETIME = timedelta(days=36525)


class NewKeySchema(StrictSchema):
    """The API key to create."""

    name = SingleLineString(100, required=True, metadata={"example": "CRM sync"})
    scopes = fields.List(
        fields.Enum(Scope, by_value=True),
        validate=validate.Length(min=1, max=len(Scope)),
        load_default=lambda: list(Scope),
        metadata={
            "example": ["lookup", "reveal"],
            "description": "What the key may do; all scopes by default.",
        },
    )
    expires_at = UtcTime(
        allow_none=True,
        load_default=None,
        metadata={
            "example": "2030-01-01T00:00:00Z",
            "description": "When the key expires; never by default.",
        },
    )
    spending_cap = limit_field(f"{SPENDING_CAP} No cap by default.")
    monthly_limit = limit_field(f"{MONTHLY_LIMIT} No limit by default.")


class KeySchema(ResponseSchema):
    """An API key without its secret."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["key"]})
    name = fields.String(required=True, metadata={"example": "CRM sync"})
    prefix = fields.String(required=True, metadata={"example": "key_1a2B3c4D"})
    scopes = fields.List(fields.String(validate=validate.OneOf(list(Scope))), required=True)
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
@documented(ApiAccessRequired, takes_idempotency_key=True)
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
    account_id = _session_caller().account_id
    with admission.transaction() as session:
        now = database_clock.value(session)
        require_future(body["expires_at"], now)
        require_api_access(session)
        reference = begin(session, now=now)
        if reference:
            known = key_limits.get(session, account_id, reference, now=now)
            return json_response(_to_json(known), 200, REPLAYED)
        new, secret = key_limits.create(session, caller().workspace_id, account_id, **body, now=now)
        finish(session, new.key.id)
    log.info("API key created", account=account_id, key=new.key.id)
    return json_response({**_to_json(new), "key": secret}, 201)


@blueprint.get("/api/keys")
@documented(ApiAccessRequired)
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(KeysResponseSchema)
def index() -> Response:
    """List the API keys of the signed-in account."""
    account_id = _session_caller().account_id
    with services().database.reading() as session:
        keys = key_limits.of_account(session, account_id, now=database_clock.now())
    return json_response({"keys": [_to_json(key) for key in keys]})


@blueprint.delete("/api/keys/<key_id>")
@documented(ApiAccessRequired, NotFound, path_parameters={"key_id": id_parameter("key")})
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def revoke(key_id: str) -> Response:
    """Revoke an API key; it stops working at once."""
    account_id = _session_caller().account_id
    with admission.transaction() as session:
        api_keys.revoke(session, account_id, key_id, now=database_clock.now())
    log.info("API key revoked", account=account_id, key=key_id)
    return Response(status=204)


def _session_caller() -> Caller:
    current = caller()
    if current.kind != "session":
        raise ApiAccessRequired
    return current


def _to_json(limited_key: LimitedKey) -> dict[str, Any]:
    key = limited_key.key
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": key.scopes,
        "created_at": clock.rfc3339(key.created_at),
        "expires_at": clock.rfc3339(key.expires_at),
        "last_used_at": clock.rfc3339(key.last_used_at),
        "spending_cap": usage_json(limited_key.usage.get(Period.TOTAL)),
        "monthly_limit": usage_json(limited_key.usage.get(Period.MONTH)),
    }


def require_api_access(session: Session) -> None:
    """Raise unless the caller may create API keys; lock the account until the transaction ends.

    The session is checked again under the lock, because a change of the password may have ended it, and all
    keys, while this request waited: it must not leave a new key behind.
    """
    accounts.require_api_access(session, caller().account_id)
    lifetime = services().session_lifetime
    authentication.recheck(session, caller(), lifetime=lifetime, now=database_clock.now())


def require_future(expires_at: datetime | None, now: datetime) -> None:
    """Raise ValidationFailed for an expiry in the past or more than 100 years ahead."""
    if expires_at is not None and expires_at <= now:
        raise ValidationFailed(errors=(FieldError("/expires_at", "This must be in the future."),))
    if expires_at is not None and expires_at > now + MAX_LIFETIME:
        error = "This is more than 100 years ahead. Omit it for a key that does not expire."
        raise ValidationFailed(errors=(FieldError("/expires_at", error),))
