"""Saves profiles for the caller's workspace."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.domain.errors import FieldError, ValidationFailed
from app.engine.contacts.saved import saved_profiles
from app.engine.lookups import profile_snapshots
from app.engine.lookups.profile_snapshots import ProfileSnapshot, SaveResult
from app.infra.database import database_clock
from app.infra.database.session import Session
from app.web.bodies.idempotency_header import begin, finish
from app.web.sign_in.auth import caller

CLOCK_SKEW = timedelta(minutes=5)


def save(session: Session, snapshot: ProfileSnapshot) -> tuple[SaveResult, bool]:
    """Save a profile; return what changed, and whether the request is a replay."""
    now = database_clock.value(session)
    _require_past(snapshot.captured_at, now)
    reference = begin(session, now=now)
    existing = saved_profiles.get(session, caller().workspace_id, reference) if reference else None
    if existing is not None:
        return SaveResult(existing), True
    saved = profile_snapshots.save(
        session,
        workspace_id=caller().workspace_id,
        account_id=caller().account_id,
        snapshot=snapshot,
        now=now,
    )
    finish(session, saved.profile.id)
    return saved, False


def _require_past(captured_at: datetime | None, now: datetime) -> None:
    if captured_at is not None and captured_at > now + CLOCK_SKEW:
        error = FieldError("/captured_at", "This is more than 5 minutes in the future.")
        raise ValidationFailed(errors=(error,))
