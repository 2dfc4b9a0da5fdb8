"""The sessions of the account that is signed in, and how it ends them."""

from __future__ import annotations

from app.engine.accounts import sessions
from app.infra.database import database_clock
from app.infra.telemetry.log import log
from app.web import admission
from app.web.sign_in.auth import session_caller


def sign_out() -> None:
    """End the session of this request."""
    current = session_caller()
    with admission.transaction() as session:
        sessions.end(session, current.account_id, current.token_id, now=database_clock.now())


def end(session_id: str) -> None:
    """End one session of the account; it may be the session of this request."""
    account_id = session_caller().account_id
    with admission.transaction() as session:
        sessions.end(session, account_id, session_id, now=database_clock.now())
    log.info("session ended", account=account_id, session=session_id)


def end_others() -> int:
    """End every other session of the account, and return their number."""
    current = session_caller()
    with admission.transaction() as session:
        ended = sessions.end_all(
            session, current.account_id, spared=current.token_id, now=database_clock.now()
        )
    log.info("other sessions ended", account=current.account_id, sessions=ended)
    return ended
