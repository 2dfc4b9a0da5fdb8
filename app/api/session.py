"""GET /api/ext/session and POST /api/ext/logout: describe the caller's session, and end it."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response, current_app
from marshmallow import fields, validate

from app.domain import permissions
from app.domain.callers import Caller, Scope
from app.domain.ids import EXAMPLES
from app.domain.permissions import Permission
from app.domain.version import API_VERSION
from app.engine.accounts.accounts import Role
from app.engine.ledger import profiles
from app.engine.ledger.profiles import Profile
from app.engine.providers import provider_throttles
from app.infra import clock
from app.infra.crypto import oprf
from app.infra.database.session import Session
from app.settings import Settings
from app.web.bodies.body import json_response
from app.web.feature import web_parts
from app.web.rate_limits import Policy, limited
from app.web.schemas.fields import ResponseSchema
from app.web.schemas.hash_schemas import OPRF_KEY_EXAMPLE
from app.web.schemas.job_schemas import BalanceSchema
from app.web.services import services
from app.web.sign_in import own_sessions
from app.web.sign_in.auth import bearer, caller

blueprint = APIBlueprint("session", __name__, tag="Session")


class AccountSchema(ResponseSchema):
    """The account of the caller."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["acc"]})
    email = fields.String(required=True, metadata={"example": "ada@acme.example"})
    name = fields.String(required=True, metadata={"example": "Ada Lovelace"})
    role = fields.String(required=True, validate=validate.OneOf(list(Role)))
    api_access = fields.Boolean(
        required=True, metadata={"description": "Whether the account may create API keys."}
    )
    language = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": "de",
            "description": "The language of messages to the user; null until one is chosen on a page.",
        },
    )


class WorkspaceSchema(ResponseSchema):
    """The workspace of the caller, which pays."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["wks"]})
    name = fields.String(required=True, metadata={"example": "Acme"})
    dial_link = fields.String(
        required=True,
        metadata={
            "example": "tel:{number}",
            "description": "The link by which the workspace dials: {number} is a number with its +, {digits} "
            "without it.",
        },
    )


class AuthSchema(ResponseSchema):
    """The kind, scopes and expiry of the token."""

    kind = fields.String(required=True, validate=validate.OneOf(["session", "api_key"]))
    scopes = fields.List(fields.String(validate=validate.OneOf(list(Scope))), required=True)
    permissions = fields.List(
        fields.String(validate=validate.OneOf(list(Permission))),
        required=True,
        metadata={"description": "What the token may do beyond its scopes, set by admins of the workspace."},
    )
    expires_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={
            "example": "2026-12-04T09:30:00.000Z",
            "description": "When the token expires if it is not used again; null if it does not expire.",
        },
    )


class HashLookupSchema(ResponseSchema):
    """How to hash a website for a lookup."""

    algorithm = fields.String(required=True, metadata={"example": "sha256"})
    prefix_length = fields.Integer(
        required=True, metadata={"example": 2, "description": "Number of hexadecimal digits in a prefix."}
    )
    filter_key = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
            "description": (
                "The Ed25519 public key that signs the company filter, in base64; null if none is built. "
                "Pin it at sign-in."
            ),
        },
    )
    filter_oprf_key = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": OPRF_KEY_EXAMPLE,
            "description": (
                "The public key of a keyed company filter, in hex; prefixes are then those of outputs."
            ),
        },
    )


class PurposesSchema(ResponseSchema):
    """Whether the operator requires a purpose for values of people, and those that can be stated."""

    required = fields.Boolean(
        required=True,
        metadata={"description": "True if it is required of people in some countries, or of everybody."},
    )
    allowed = fields.List(
        fields.String(), required=True, metadata={"example": ["sales_outreach", "recruiting"]}
    )


class ProviderSchema(ResponseSchema):
    """An external data provider."""

    name = fields.String(required=True, metadata={"example": "sandbox"})
    healthy = fields.Boolean(
        required=True, metadata={"description": "False while its calls fail or it lacks a key or credits."}
    )


class ServerSchema(ResponseSchema):
    """The version of the server."""

    version = fields.String(required=True, metadata={"example": "1.0.0"})
    api_version = fields.String(required=True, metadata={"example": API_VERSION})


class SessionGrantSchema(ResponseSchema):
    """The credits that are granted to the workspace next."""

    at = fields.DateTime(required=True, metadata={"example": "2026-12-01T00:00:00.000Z"})
    credits = fields.Integer(required=True, metadata={"example": 500})


class SessionCreditsSchema(BalanceSchema):
    """The credits of the workspace; null without the permission `see_costs`."""

    next_grant = fields.Nested(
        SessionGrantSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Null if the workspace has no monthly grant."},
    )


class SessionResponseSchema(ResponseSchema):
    """The account, workspace, token, credits, prices and purposes of the caller."""

    account = fields.Nested(AccountSchema, required=True)
    workspace = fields.Nested(WorkspaceSchema, required=True)
    auth = fields.Nested(AuthSchema, required=True)
    credits = fields.Nested(SessionCreditsSchema, required=True)
    prices = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata={
            "example": {"reveal.email": 1, "reveal.phone": 1},
            "description": "Credits for one revealed field.",
        },
    )
    purposes = fields.Nested(PurposesSchema, required=True)
    hash_lookup = fields.Nested(HashLookupSchema, required=True)
    page_rules_key = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
            "description": "The Ed25519 public key that signs the page rules, in base64. Pin it at sign-in.",
        },
    )
    people_search = fields.Boolean(
        required=True,
        metadata={"example": True, "description": "Whether a provider can search for people of a company."},
    )
    providers = fields.List(fields.Nested(ProviderSchema), required=True)
    server = fields.Nested(ServerSchema, required=True)


@blueprint.get("/api/ext/session")
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(SessionResponseSchema)
def session() -> Response:
    """Describe the caller's account, workspace, scopes, credits and prices."""
    with services().database.reading() as transaction:
        return json_response(describe(transaction, caller()))


@blueprint.post("/api/ext/logout")
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def logout() -> Response:
    """End the caller's session; its token stops working at once."""
    own_sessions.sign_out()
    return Response(status=204)


def describe(transaction: Session, current: Caller) -> dict[str, Any]:
    """Return the body of `session`, which is also part of the login response."""
    settings = services().settings
    account = profiles.of_account(transaction, current.account_id)
    permitted = current.permissions & permissions.granted(  # a session that starts has those of its account
        is_admin=account.role == Role.ADMIN,
        denied_to_members=account.denied_to_members,
        own=account.permissions,
    )
    health = provider_throttles.health(transaction)
    described: dict[str, Any] = {
        "account": {
            "id": account.id,
            "email": account.email,
            "name": account.name,
            "role": account.role,
            "api_access": account.api_access,
            "language": account.language,
        },
        "workspace": {
            "id": account.workspace_id,
            "name": account.workspace_name,
            "dial_link": "tel:{number}",
        },
        "auth": {
            "kind": current.kind,
            "scopes": list(current.scopes),
            "permissions": sorted(permitted),
            "expires_at": clock.rfc3339(current.expires_at),
        },
        "credits": _credits(account, sees_costs=Permission.SEE_COSTS in permitted),
        "prices": settings.prices,
        "purposes": {"required": settings.purpose_rule.is_set, "allowed": list(settings.purposes)},
        "hash_lookup": _hash_lookup(settings),
        "page_rules_key": None,
        "people_search": False,
        "providers": [{"name": name, "healthy": health.get(name, True)} for name in _providers(settings)],
        "server": {"version": current_app.version, "api_version": API_VERSION},  # type: ignore[attr-defined]
    }
    for part in web_parts():
        described |= part.session(settings)
        described["workspace"] |= part.workspace(transaction, account.workspace_id)
    return described


def _credits(account: Profile, *, sees_costs: bool) -> dict[str, Any]:
    if not sees_costs:
        return {"balance": None, "reserved": None, "next_grant": None}
    grant = account.next_grant
    return {
        "balance": account.available,
        "reserved": account.held,
        "next_grant": grant and grant.to_public(),
    }


def _hash_lookup(settings: Settings) -> dict[str, Any]:
    oprf_key = oprf.from_settings(settings)
    described = {
        "algorithm": "sha256",
        "prefix_length": settings.hash_prefix_length,
        "filter_key": None,
        "filter_oprf_key": None if oprf_key is None else oprf_key.public.hex(),
    }
    for part in web_parts():
        described |= part.hash_lookup(settings)
    return described


def _providers(settings: Settings) -> list[str]:
    """Return the names of all configured providers, without duplicates, in the order of the settings."""
    names = (
        *settings.providers_email,
        *settings.providers_phone,
        *settings.providers_person,
        *settings.providers_company,
        *settings.providers_people,
    )
    return list(dict.fromkeys(names))
