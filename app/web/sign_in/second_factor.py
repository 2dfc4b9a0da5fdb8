"""The setting TOTP_REQUIRED_FOR: what admins may do only after two-factor sign-in is on."""

from __future__ import annotations

from app.domain.callers import Caller
from app.engine.accounts.accounts import Account
from app.engine.accounts.sessions import LoginSession, Method
from app.infra.database.session import Session
from app.web.services import services


def is_required() -> bool:
    """Return whether the setting is on."""
    return services().settings.totp_required_for == "admins"


def suffices(session: Session, current: Caller) -> bool:
    """Return whether the setting is off, or the account has two-factor sign-in or used a company account."""
    if not is_required():
        return True
    if session.get_one(Account, current.account_id).totp_enabled_at is not None:
        return True
    return session.get_one(LoginSession, current.token_id).method == Method.COMPANY
