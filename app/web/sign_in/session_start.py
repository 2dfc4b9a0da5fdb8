"""The start of a session, after a sign-in with a password or a company account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from app.domain.audit_actions import Action
from app.domain.callers import Caller
from app.engine.accounts import sessions
from app.engine.accounts.accounts import Account
from app.engine.accounts.sessions import Method
from app.engine.audit_log import entries as audit_log
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web.languages import negotiation
from app.web.request_actor import account_actor, network_digest
from app.web.services import services


@dataclass(frozen=True, slots=True)
class StartedSession:
    """The token of a new session, and the caller whom it identifies."""

    token: str = field(repr=False)
    caller: Caller


def start(
    session: Session,
    account: Account,
    *,
    network: bytes,
    client: Mapping[str, str],
    method: Method,
    now: datetime,
) -> StartedSession:
    """Start a session of the account, and end those above the limit.

    A language that was chosen in the browser before is the account's, unless it has one.
    """
    account.language = account.language or negotiation.chosen()
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
    caller = Caller(
        account.id,
        account.workspace_id,
        "session",
        login_session.id,
        login_session.granted,
        login_session.ends_at(lifetime),
    )
    return StartedSession(token, caller)
