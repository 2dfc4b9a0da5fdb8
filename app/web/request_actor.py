"""Who makes this request, as the audit log names them."""

from __future__ import annotations

from flask import g

from app.domain.audit_actions import Actor, ActorKind
from app.domain.callers import Caller
from app.engine.accounts import login_throttle
from app.web.failure_limits import network
from app.web.services import services

_DIGITS = 16


def request_actor() -> Actor:
    """Return the account or API key of this request; an unknown actor if it was not authenticated."""
    caller: Caller | None = g.get("flask_httpauth_user")
    request_id = g.get("request_id")
    if caller is None:
        return Actor(ActorKind.UNKNOWN, request_id=request_id)
    if caller.key_id is not None:
        return Actor(ActorKind.API_KEY, caller.key_id, request_id)
    return Actor(ActorKind.ACCOUNT, caller.account_id, request_id)


def account_actor(account_id: str) -> Actor:
    """Return the account that signs in with this request."""
    return Actor(ActorKind.ACCOUNT, account_id, g.get("request_id"))


def network_digest() -> str:
    """Return a keyed digest of the client's network: it connects sign-ins, and is not an address."""
    return login_throttle.digest(services().digest_keys, "audit log", network()).hex()[:_DIGITS]
