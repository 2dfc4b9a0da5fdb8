"""`session`: everything a client needs to know about itself, in one answer; and signing out."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint, Schema
from flask import Response, current_app
from marshmallow import fields, validate
from sqlalchemy.orm import Session

from app.api.http.auth import bearer, caller, session_caller
from app.api.http.rate_limits import Policy, limited
from app.api.http.responses import json_response
from app.api.http.services import services
from app.core.accounts import sessions, workspaces
from app.core.accounts.accounts import Account, Role
from app.core.accounts.workspaces import Workspace
from app.core.providers import provider_throttles
from app.domain.callers import Caller, Scope
from app.domain.ids import EXAMPLES
from app.domain.version import API_VERSION
from app.infra import clock, database_clock
from app.settings import Settings

blueprint = APIBlueprint("session", __name__, tag="Session")


class AccountOut(Schema):
    """Who is signed in."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["acc"]})
    email = fields.String(required=True, metadata={"example": "ada@acme.example"})
    name = fields.String(required=True, metadata={"example": "Ada Lovelace"})
    role = fields.String(required=True, validate=validate.OneOf(list(Role)))
    api_access = fields.Boolean(required=True, metadata={"description": "May make API keys."})


class WorkspaceOut(Schema):
    """Who pays."""

    id = fields.String(required=True, metadata={"example": EXAMPLES["wks"]})
    name = fields.String(required=True, metadata={"example": "Acme"})


class AuthOut(Schema):
    """What the token is and may do."""

    kind = fields.String(required=True, validate=validate.OneOf(["session", "api_key"]))
    scopes = fields.List(fields.String(validate=validate.OneOf(list(Scope))), required=True)
    expires_at = fields.DateTime(
        required=True,
        allow_none=True,
        metadata={
            "example": "2026-12-04T09:30:00.000Z",
            "description": "When it ends if it is not used again; null if it never does by itself.",
        },
    )


class CreditsOut(Schema):
    """What the workspace has left."""

    balance = fields.Integer(required=True, metadata={"example": 250})
    reserved = fields.Integer(
        required=True, metadata={"example": 0, "description": "Held for open jobs, not in the balance."}
    )


class HashLookupOut(Schema):
    """How to ask for a website by its hash."""

    algorithm = fields.String(required=True, metadata={"example": "sha256"})
    prefix_length = fields.Integer(
        required=True, metadata={"example": 4, "description": "Hexadecimal digits of a prefix."}
    )


class ProviderOut(Schema):
    """Somebody outside who is asked."""

    name = fields.String(required=True, metadata={"example": "sandbox"})
    healthy = fields.Boolean(
        required=True, metadata={"description": "Whether asking it may help, as far as is known."}
    )


class ServerOut(Schema):
    """What answers."""

    version = fields.String(required=True, metadata={"example": "1.0.0"})
    api_version = fields.String(required=True, metadata={"example": API_VERSION})


class SessionOut(Schema):
    """Everything about the caller."""

    account = fields.Nested(AccountOut, required=True)
    workspace = fields.Nested(WorkspaceOut, required=True)
    auth = fields.Nested(AuthOut, required=True)
    credits = fields.Nested(CreditsOut, required=True)
    prices = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata={
            "example": {"reveal.email": 1, "reveal.phone": 1},
            "description": "Credits for one found field.",
        },
    )
    hash_lookup = fields.Nested(HashLookupOut, required=True)
    providers = fields.List(fields.Nested(ProviderOut), required=True)
    server = fields.Nested(ServerOut, required=True)


@blueprint.get("/api/ext/session")
@blueprint.auth_required(bearer)
@limited(Policy.READ)
@blueprint.output(SessionOut)
def session() -> Response:
    """Tell who is signed in, what they may do and what is left."""
    with services().database.reading() as transaction:
        return json_response(describe(transaction, caller()))


@blueprint.post("/api/ext/logout")
@blueprint.auth_required(bearer)
@limited(Policy.WRITE)
@blueprint.output({}, status_code=204)
def logout() -> Response:
    """End the session whose token came with the request; it stops working at once."""
    who = session_caller()
    with services().database.transaction() as transaction:
        sessions.end(transaction, who.account_id, who.token_id, now=database_clock.now())
    return Response(status=204)


def describe(transaction: Session, who: Caller) -> dict[str, Any]:
    """Write what `session` answers, which is in login's answer too."""
    settings = services().settings
    account = transaction.get_one(Account, who.account_id)
    workspace = transaction.get_one(Workspace, who.workspace_id)
    left = workspaces.balance(transaction, who.workspace_id)
    health = provider_throttles.health(transaction)
    return {
        "account": {
            "id": account.id,
            "email": account.email,
            "name": account.name,
            "role": account.role,
            "api_access": account.api_access,
        },
        "workspace": {"id": workspace.id, "name": workspace.name},
        "auth": {"kind": who.kind, "scopes": list(who.scopes), "expires_at": clock.rfc3339(who.expires_at)},
        "credits": {"balance": left.available, "reserved": left.held},
        "prices": settings.prices,
        "hash_lookup": {"algorithm": "sha256", "prefix_length": settings.prefix_length},
        "providers": [{"name": name, "healthy": health.get(name, True)} for name in _providers(settings)],
        "server": {"version": current_app.version, "api_version": API_VERSION},  # type: ignore[attr-defined]
    }


def _providers(settings: Settings) -> list[str]:
    """List who may be asked for anything, each once, in the order of the settings."""
    asked = (
        *settings.providers_email,
        *settings.providers_phone,
        *settings.providers_person,
        *settings.providers_company,
    )
    return list(dict.fromkeys(asked))
