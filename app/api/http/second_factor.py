"""The setting TOTP_REQUIRED_FOR: what admins may do only after two-factor sign-in is on."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.api.http.services import services
from app.core.accounts.accounts import Account
from app.core.accounts.sessions import LoginSession, Method
from app.domain.callers import Caller
from app.domain.errors import TotpRequiredForAdmins


def require_for_admins(session: Session, current: Caller) -> None:
    """Raise unless the setting is off, or the account has two-factor sign-in or used a company account.

    Raises:
        TotpRequiredForAdmins: the caller signed in with a password, which is all that the account has.

    """
    if services().settings.totp_required_for != "admins":
        return
    if session.get_one(Account, current.account_id).totp_enabled_at is not None:
        return
    if session.get_one(LoginSession, current.token_id).method != Method.COMPANY:
        raise TotpRequiredForAdmins
