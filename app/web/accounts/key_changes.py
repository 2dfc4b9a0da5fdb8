"""Creates and revokes the API keys of the account that is signed in."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from flask import request

from app.domain.callers import Caller
from app.domain.errors import ApiAccessRequired, FieldError, ValidationFailed
from app.engine.accounts import accounts, api_keys, authentication
from app.engine.ledger import key_limits
from app.engine.ledger.key_limits import LimitedKey
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission
from app.web.bodies.idempotency_header import begin, finish
from app.web.services import services
from app.web.sign_in.auth import caller

MAX_LIFETIME = timedelta(days=36525)


def owner() -> Caller:
    """Return the caller of this request; refuse an API key, which cannot manage keys."""
    current = caller()
    if current.kind != "session":
        raise ApiAccessRequired
    return current


def create(new: Mapping[str, Any]) -> tuple[LimitedKey, str | None]:
    """Create a key (see `NewKeySchema`); return it with its secret, or without one if this is a replay.

    Raises:
        IdempotencyKeyReused: the replay has another body, or is another account's.
        ValidationFailed: the account has too many keys, or the key would expire in the past or in more than
            100 years.

    """
    account_id = owner().account_id
    with admission.transaction() as session:
        now = database_clock.value(session)
        _require_future(new["expires_at"], now)
        _require_api_access(session)
        # A key is its account's, so another account's request is not a replay.
        reference = begin(
            session, now=now, body={"account": account_id, "new": request.get_json(silent=True)}
        )
        if reference:
            return key_limits.get(session, account_id, reference, now=now), None
        key, secret = key_limits.create(session, caller().workspace_id, account_id, **new, now=now)
        finish(session, key.key.id)
    log.info("API key created", account=account_id, key=key.key.id)
    return key, secret


def revoke(key_id: str) -> None:
    """Revoke a key of the account; it stops working at once."""
    account_id = owner().account_id
    with admission.transaction() as session:
        api_keys.revoke(session, account_id, key_id, now=database_clock.now())
    log.info("API key revoked", account=account_id, key=key_id)


def _require_api_access(session: Session) -> None:
    """Raise unless the caller may create API keys; lock the account until the transaction ends.

    The session is checked again under the lock, because a change of the password may have ended it, and all
    keys, while this request waited: it must not leave a new key behind.
    """
    accounts.require_api_access(session, caller().account_id)
    lifetime = services().session_lifetime
    authentication.recheck(session, caller(), lifetime=lifetime, now=database_clock.now())


def _require_future(expires_at: datetime | None, now: datetime) -> None:
    """Raise ValidationFailed for an expiry in the past or more than 100 years ahead."""
    if expires_at is not None and expires_at <= now:
        raise ValidationFailed(errors=(FieldError("/expires_at", "This must be in the future."),))
    if expires_at is not None and expires_at > now + MAX_LIFETIME:
        error = "This is more than 100 years ahead. Omit it for a key that does not expire."
        raise ValidationFailed(errors=(FieldError("/expires_at", error),))
