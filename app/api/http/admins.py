"""Requests that only the admins of a workspace may make."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.api.http import second_factor
from app.api.http.auth import session_caller
from app.core.accounts import accounts
from app.domain.callers import Caller


def admin_caller(session: Session) -> Caller:
    """Return the caller of this request if it was sent with the session of an admin.

    Raises:
        InsufficientScope: it was sent with an API key.
        AdminRequired: the account is not an admin.
        TotpRequiredForAdmins: the operator requires two-factor sign-in, which it lacks.

    """
    current = session_caller()
    accounts.require_admin(session, current.account_id)
    second_factor.require_for_admins(session, current)
    return current
