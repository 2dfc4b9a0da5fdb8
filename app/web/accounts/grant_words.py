"""The next credits of a workspace in words."""

from __future__ import annotations

from app.domain.errors import credits_of
from app.domain.messages import Day
from app.domain.permissions import Permission
from app.engine.ledger import next_grants
from app.infra.database.session import Session
from app.web.languages.texts import gettext
from app.web.sign_in.auth import caller


def next_grant(session: Session) -> str | None:
    """Return what the caller's workspace is granted next, and when: `500 credits on 1 December`.

    None if it is granted nothing, or the caller may not see costs.
    """
    current = caller()
    if Permission.SEE_COSTS not in current.permissions:
        return None
    grant = next_grants.of_workspace(session, current.workspace_id)
    if grant is None:
        return None
    return gettext("{credits} on {day}", credits=credits_of(grant.credits), day=Day(grant.at))
