"""How long the credits of a workspace last: what was spent, how much a day, and what is granted next."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select

from app.domain import credit_schedules
from app.domain.credit_schedules import RATE_DAYS, Schedule
from app.domain.spending import Period
from app.engine.accounts import workspaces
from app.engine.ledger.credit_schedules import of_workspace
from app.engine.ledger.credits import LedgerEntry
from app.infra.clock import rfc3339
from app.infra.database import database_clock
from app.infra.database.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What was spent this month (UTC), and what follows from it.

    `per_day` is None if there is too little data; then nothing is said of the future. `ends_at` is None if
    the credits last for the next two years of grants.
    """

    now: datetime
    balance: int
    reserved: int
    spent_this_month: int
    days_observed: int
    per_day: float | None
    ends_at: datetime | None
    schedule: Schedule | None

    @property
    def ends_before_grant(self) -> bool:
        """Return whether the credits end before the next grant."""
        return bool(self.ends_at and self.schedule and self.ends_at < self.schedule.next_at)

    def to_public(self) -> dict[str, Any]:
        """Return the representation of the API."""
        schedule = self.schedule
        return {
            "balance": self.balance,
            "reserved": self.reserved,
            "spent_this_month": self.spent_this_month,
            "days_observed": self.days_observed,
            "per_day": None if self.per_day is None else round(self.per_day, 2),
            "ends_at": rfc3339(self.ends_at),
            "next_grant": schedule
            and {"at": rfc3339(schedule.next_at), "credits": schedule.credits, "expires": schedule.left},
        }


def of(session: Session, workspace_id: str) -> Forecast:
    """Return the forecast of a workspace, from its use of the last four weeks."""
    now = database_clock.value(session)
    balance, schedule = workspaces.balance(session, workspace_id), of_workspace(session, workspace_id)
    month, _end = Period.MONTH.bounds(now)
    own = LedgerEntry.workspace_id == workspace_id
    first = session.scalar(select(func.min(LedgerEntry.created_at)).where(own, LedgerEntry.spent > 0))
    since = max(first or now, now - timedelta(days=RATE_DAYS))
    days = (now - since) / timedelta(days=1)
    per_day = credit_schedules.rate(_spent(session, workspace_id, since), days)
    credits_ = balance.available + balance.held
    return Forecast(
        now=now,
        balance=balance.available,
        reserved=balance.held,
        spent_this_month=_spent(session, workspace_id, month),
        days_observed=min(int(days), RATE_DAYS),
        per_day=per_day,
        ends_at=None if per_day is None else credit_schedules.lasts_until(now, credits_, per_day, schedule),
        schedule=schedule,
    )


def _spent(session: Session, workspace_id: str, since: datetime) -> int:
    """Return the credits spent since a time, less those refunded."""
    query = select(func.sum(LedgerEntry.spent)).where(
        LedgerEntry.workspace_id == workspace_id, LedgerEntry.created_at >= since
    )
    return int(session.scalar(query) or 0)
