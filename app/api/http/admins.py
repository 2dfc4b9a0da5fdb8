"""Requests that only the admins of a workspace may make."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.api.http.auth import session_caller
from app.core.accounts import accounts
from app.domain.callers import Caller


def admin_caller(session: Session) -> Caller:
    """Return the caller of this request if it was sent with the session of an admin.

    Raises:
        InsufficientScope: it was sent with an API key.
        AdminRequired: the account is not an admin.

    """
    current = session_caller()
    accounts.require_admin(session, current.account_id)
    return current
