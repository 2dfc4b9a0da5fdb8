"""The start of a session, after a sign-in with a password or a company account."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from app.api.session import describe
from app.domain.audit_actions import Action
from app.domain.callers import Caller
from app.engine.accounts import sessions
from app.engine.accounts.accounts import Account
from app.engine.accounts.sessions import LoginSession, Method
from app.engine.audit_log import entries as audit_log
from app.infra import clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web.request_actor import account_actor, network_digest
from app.web.services import services


def start(
    session: Session,
    account: Account,
    *,
    network: bytes,
    client: dict[str, str],
    method: Method,
    now: datetime,
) -> dict[str, Any]:
    """Start a session of the account, and return the response body of a sign-in, with the token."""
    lifetime = services().session_lifetime
    login_session, token = sessions.start(
        session,
        account.id,
        network=network,
        client_name=client.get("name"),
        client_version=client.get("version"),
        method=method,
        lifetime=lifetime,
        now=now,
    )
    limit = services().settings.session_max_per_account
    sessions.end_excess(session, login_session, limit=limit, lifetime=lifetime, now=now)
    expires_at = login_session.ends_at(lifetime)
    audit_log.record(
        session,
        Action.SIGN_IN,
        object_id=login_session.id,
        workspace_id=account.workspace_id,
        reason=method.value,
        network=network_digest(),
        actor=account_actor(account.id),
    )
    log.info("signed in", account=account.id, session=login_session.id, method=method.value)
    return {
        "access_token": token,
        "token_type": "Bearer",
        "expires_at": clock.rfc3339(expires_at),
        **describe(session, _caller(account, login_session, expires_at)),
    }


def _caller(account: Account, login_session: LoginSession, expires_at: datetime) -> Caller:
    return Caller(
        account.id,
        account.workspace_id,
        "session",
        login_session.id,
        login_session.granted,
        expires_at,
    )
