"""Reads and changes the spending limits that a caller may see and set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.errors import InsufficientScope, NotFound
from app.domain.ids import Prefix, is_id
from app.domain.spending import Period
from app.engine.accounts import workspaces
from app.engine.ledger import limit_settings
from app.engine.ledger.limit_settings import NO_SUBJECT, SubjectLimit
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.infra.telemetry.log import log
from app.web import admission
from app.web.sign_in.admins import acts_as_admin
from app.web.sign_in.auth import caller


def visible(session: Session, *, before: str | None = None, limit: int | None = None) -> list[SubjectLimit]:
    """Return the limits that the caller may see, newest first.

    An admin sees the limits of the workspace, a member the limits of the account and its keys, an API key its
    own limits and its account's.
    """
    current = caller()
    sees_all = acts_as_admin(session, current)
    restriction: dict[str, Any] = {} if sees_all else {"account_id": current.account_id}
    if current.key_id is not None:
        restriction = {"subject_ids": [current.key_id, current.account_id]}
    now = database_clock.value(session)
    return limit_settings.in_force(
        session, current.workspace_id, now=now, before=before, limit=limit, **restriction
    )


def change(subject_id: str, prefix: Prefix, limits: Mapping[Period, int | None]) -> list[SubjectLimit]:
    """Set or remove limits of an account or key, and return those that it has now."""
    if not is_id(subject_id, prefix):
        raise NotFound(NO_SUBJECT)
    workspace_id = caller().workspace_id
    with admission.transaction() as session:
        workspaces.lock(session, [workspace_id])
        now = database_clock.value(session)
        subject = limit_settings.subject(session, workspace_id, subject_id)
        if subject.account_id != caller().account_id and not acts_as_admin(session, caller()):
            raise NotFound  # as for a key that does not exist
        if caller().kind != "session":
            before = limit_settings.in_force(session, workspace_id, now=now, subject_ids=[subject_id])
            _require_lower(before, limits)
        for period, credits_ in limits.items():
            limit_settings.put(session, workspace_id, subject, period, credits_, now=now)
        after = limit_settings.in_force(session, workspace_id, now=now, subject_ids=[subject_id])
    log.info("spending limits changed", account=caller().account_id, subject=subject_id)
    return after


def _require_lower(before: list[SubjectLimit], limits: Mapping[Period, int | None]) -> None:
    """Raise InsufficientScope unless each limit is new or lower than before."""
    current = {limit.usage.period: limit.usage.credits for limit in before}
    for period, credits_ in limits.items():
        if credits_ is None or credits_ > current.get(period, credits_):
            raise InsufficientScope(
                "An API key can only lower its own limits. Sign in to raise or remove them."
            )
