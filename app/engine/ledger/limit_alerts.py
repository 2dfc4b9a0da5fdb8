"""Events about spending limits: one when 80 % of a limit is spent in a period, and one when all of it is."""

from __future__ import annotations

from app.domain.event_types import EventType
from app.engine.events import events
from app.engine.ledger.spending_limits import SpendingCounter, SpendingLimit, limits_of, usage_of
from app.infra.database.database_clock import Moment
from app.infra.database.session import Session

LEVELS = {80: EventType.LIMIT_WARNING, 100: EventType.LIMIT_REACHED}
"""The percentages of a limit that are reported; if a charge passes several, only the highest."""


def record_for(session: Session, job_id: str, *, now: Moment) -> None:
    """Record an event for each limit of the job that has passed a level."""
    for row in limits_of(session, job_id):
        if row.SpendingCounter is not None:
            record(session, row.SpendingLimit, row.SpendingCounter, now=now)


def record(session: Session, limit: SpendingLimit, counter: SpendingCounter, *, now: Moment) -> None:
    """Record an event if what is spent has passed a level that was not reported for this amount."""
    passed = [level for level in LEVELS if 0 < level * limit.credits <= 100 * counter.spent]
    level = max(passed, default=0)
    if level <= counter.alerted:
        return
    counter.alerted = level
    usage = usage_of(limit, counter, at=counter.starts_at)
    events.record(
        session,
        limit.workspace_id,
        LEVELS[level],
        {"percent": level, "limit": usage.as_dict()},
        dedup_key=f"{limit.id}:{counter.starts_at.date()}:{limit.credits}:{level}",
        now=now,
    )
