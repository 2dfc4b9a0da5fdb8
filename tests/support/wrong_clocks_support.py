"""Requests, claims and stored times of tests in which this process's clock is wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from jobs_support import FRESH, LEASE, MAX_CRASHES, a_question
from sqlalchemy import update

from app.domain.kinds import Outcome
from app.engine.jobs import claims, leases, submission
from app.engine.jobs.claims import Claim
from app.engine.jobs.leases import JobResult
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.session import Session

MINUTE = timedelta(minutes=1)
DEADLINE = timedelta(minutes=10)


@pytest.fixture(autouse=True, params=[-3600, 3600])
def wrong_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the clock of the process an hour back or forward."""
    monkeypatch.setattr(clock, "now", lambda: datetime.now(UTC) + timedelta(seconds=request.param))


def now() -> database_clock.Moment:
    return database_clock.now()


def submit(session: Session, workspace_id: str, **changes: object) -> submission.SubmitResult:
    question = a_question(workspace_id, **changes)
    return submission.submit(session, question, freshness=FRESH, deadline=DEADLINE, now=now())


def claim(session: Session, job_id: str) -> Claim | None:
    return claims.claim(session, job_id, lease=LEASE, max_crashes=MAX_CRASHES, now=now())


def settled(session: Session, job_id: str) -> None:
    claimed = claim(session, job_id)
    assert claimed is not None
    leases.settle(session, claimed, JobResult(outcome=Outcome.FOUND, result={}), now=now())


def age(session: Session, table: type, column: str, by: timedelta) -> None:
    """Subtract a duration from a time column of every row."""
    session.execute(update(table).values({column: now() - by}).execution_options(synchronize_session=False))
    session.expire_all()
