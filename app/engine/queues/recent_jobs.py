"""Jobs that finished in the last minute, for metrics, and those whose worker was lost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import case, func, select

from app.domain.kinds import OPEN, Status
from app.engine.jobs.jobs import LIVE, RETAINED, Job
from app.infra.database.session import Session

WINDOW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class RecentJobs:
    """The jobs that finished in the last minute, by status; `crashed` also counts unfinished ones."""

    finished: dict[Status, int]
    crashed: int


def read(session: Session, *, now: datetime) -> RecentJobs:
    """Return the recent jobs; `crashed` are the recent and the open jobs that lost a worker."""
    is_crashed = func.count(case((Job.crashes > 0, 1)))
    recent = (
        select(Job.status, func.count(), is_crashed)
        .where(RETAINED, Job.finished_at > now - WINDOW)
        .group_by(Job.status)
    )
    finished = {Status(status): (count, crashed) for status, count, crashed in session.execute(recent)}
    still_open = session.execute(select(is_crashed).where(LIVE)).scalar_one()
    return RecentJobs(
        {status: finished.get(status, (0, 0))[0] for status in Status if status not in OPEN},
        still_open + sum(crashed for _count, crashed in finished.values()),
    )
