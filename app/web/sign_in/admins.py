"""Requests that only the admins of a workspace may make, or that tell admins more than members."""

from __future__ import annotations

from app.domain.callers import Caller
from app.domain.errors import AdminRequired, TotpRequiredForAdmins
from app.infra.database.session import Session
from app.web.services import services
from app.web.sign_in import second_factor
from app.web.sign_in.auth import caller, session_caller


def admin_caller(session: Session) -> Caller:
    """Return the caller of this request if it was sent with the session of an admin."""
    current = session_caller()
    if not current.is_admin:
        raise AdminRequired
    if not second_factor.suffices(session, current):
        raise TotpRequiredForAdmins
    return current


def acts_as_admin(session: Session, current: Caller) -> bool:
    """Return whether `admin_caller` would accept this caller."""
    return current.kind == "session" and current.is_admin and second_factor.suffices(session, current)


def reads_as_admin() -> bool:
    """Return whether this request may read what is kept from members; it opens a session if it has to."""
    current = caller()
    if current.kind != "session" or not current.is_admin:
        return False
    if not second_factor.is_required():
        return True
    with services().database.reading() as session:
        return second_factor.suffices(session, current)
